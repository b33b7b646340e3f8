/* scenario_events.c - the events of a scenario: `{at: 10m, crash: n1, for: 1h}`.
 *
 * Quotas, pools, projects and departments change by a body as in the server file. The form of a
 * body is checked here, with its place. Names in a body are looked up when the event comes
 * (engine_edits.c), because pools and projects may be created during the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_internal.h"

#include "spec/account_spec.h"
#include "spec/pool_spec.h"

struct event_draft {
    struct scenario_action action;
    uint32_t type_count; /* number of actions in this event; one is allowed */
    bool at_given;
};

static const char *const act_names[ACTION_TYPE_COUNT] = {
    [ACTION_CRASH] = "crash",
    [ACTION_CUT] = "cut",
    [ACTION_UP] = "up",
    [ACTION_DRAIN] = "drain",
    [ACTION_RESUME] = "resume",
    [ACTION_REMOVE] = "remove",
    [ACTION_JOIN] = "join",
    [ACTION_KILL] = "kill",
    [ACTION_PAUSE] = "pause",
    [ACTION_ACTIVATE] = "activate",
    [ACTION_START] = "start",
    [ACTION_PRIORITY] = "edit",
    [ACTION_POOL_PAUSE] = "pause_pool",
    [ACTION_POOL_RESUME] = "resume_pool",
    [ACTION_QUOTA] = "quota",
    [ACTION_POOL] = "pool",
    [ACTION_PROJECT] = "project",
    [ACTION_DEPARTMENT] = "department",
};

static void act_read(const struct doc_value *v, void *object)
{
    struct event_draft *draft = object;
    draft->action.type = (enum action_type)v->field->min;
    must(strcmp(act_names[draft->action.type], v->field->name) == 0);
    draft->type_count++;
    (void)fields_value_text(v, TEXT_LEN_MAX, &draft->action.target);
}

/* Checks the body of an event with the reader of spec/ for this kind of object. */
static enum err body_check(const struct doc_value *v, enum action_type type, struct error *e)
{
    if (type == ACTION_QUOTA) {
        struct quota_body quota;
        quota_spec_body_init(&quota);
        return quota_spec_body_read(v->doc, v->in->arena, &quota, e);
    }
    if (type == ACTION_POOL) {
        struct pool_spec pool;
        return pool_spec_read(v->doc, v->in->arena, &pool, e);
    }
    struct account_spec account;
    const enum account_kind kind = type == ACTION_PROJECT ? ACCOUNT_PROJECT : ACCOUNT_DEPARTMENT;
    return account_spec_read(v->doc, kind, v->in->arena, &account, e);
}

static void body_read(const struct doc_value *v, void *object)
{
    struct event_draft *draft = object;
    struct error e = {0};
    draft->action.type = (enum action_type)v->field->min;
    must(strcmp(act_names[draft->action.type], v->field->name) == 0);
    draft->type_count++;
    draft->action.body = v->doc;
    if (v->doc->kind != DOC_MAP) {
        fields_problem(v, "a map as in the server file is wanted, not %s", fields_what(v->doc));
    } else if (body_check(v, draft->action.type, &e) != ERR_OK) {
        scenario_file_problem(v, &e);
    }
}

static void at_read(const struct doc_value *v, void *object)
{
    struct event_draft *draft = object;
    draft->at_given = true;
    fields_duration(v, object);
}

#define IN_EVENT(member) offsetof(struct event_draft, action.member)

static const struct field event_fields[] = {
    {.name = "at", .read = at_read, .offset = IN_EVENT(at_ms)},
    {.name = "for", .read = fields_duration, .offset = IN_EVENT(for_ms)},
    FIELDS_COUNT("priority", struct event_draft, action.priority, PRIORITY_MIN, PRIORITY_MAX),
    {.name = "crash", .read = act_read, .min = ACTION_CRASH},
    {.name = "cut", .read = act_read, .min = ACTION_CUT},
    {.name = "up", .read = act_read, .min = ACTION_UP},
    {.name = "drain", .read = act_read, .min = ACTION_DRAIN},
    {.name = "resume", .read = act_read, .min = ACTION_RESUME},
    {.name = "remove", .read = act_read, .min = ACTION_REMOVE},
    {.name = "join", .read = act_read, .min = ACTION_JOIN},
    {.name = "kill", .read = act_read, .min = ACTION_KILL},
    {.name = "pause", .read = act_read, .min = ACTION_PAUSE},
    {.name = "activate", .read = act_read, .min = ACTION_ACTIVATE},
    {.name = "start", .read = act_read, .min = ACTION_START},
    {.name = "edit", .read = act_read, .min = ACTION_PRIORITY},
    {.name = "pause_pool", .read = act_read, .min = ACTION_POOL_PAUSE},
    {.name = "resume_pool", .read = act_read, .min = ACTION_POOL_RESUME},
    {.name = "quota", .read = body_read, .min = ACTION_QUOTA},
    {.name = "pool", .read = body_read, .min = ACTION_POOL},
    {.name = "project", .read = body_read, .min = ACTION_PROJECT},
    {.name = "department", .read = body_read, .min = ACTION_DEPARTMENT},
    {0},
};

void scenario_events_read(const struct doc_value *v, void *object)
{
    struct scenario *scenario = ((struct scenario_draft *)object)->scenario;
    if (!scenario_file_list(v)) {
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct event_draft draft = {.action = {.line = item.doc->line, .column = item.doc->column}};
        if (fields_read(&item, event_fields, &draft) &&
            (draft.type_count != 1 || !draft.at_given)) {
            fields_problem(&item,
                           "an event has a time 'at' and one act, like {at: 10m, drain: n1}");
        }
        vec_push(&scenario->actions, draft.action);
        scenario->names_needed |= draft.action.target != NULL;
    }
}
