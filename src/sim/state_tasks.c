/* state_tasks.c - the tasks of an exported state: what is left of each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/task.h"
#include "core/model/names.h"
#include "sim/docmap.h"
#include "sim/state_internal.h"
#include "spec/task_file.h"
#include "wire/time_text.h"

static const char *task_name(struct sim_state *state, uint64_t id, const char *name)
{
    return arena_fmt(state->arena, name[0] != '\0' ? "#%llu %s" : "#%llu%s", (unsigned long long)id,
                     name);
}

static bool is_ended(const struct doc *item)
{
    enum task_state state;
    return names_task_state_parse(state_file_text(item, "state"), &state) &&
           task_state_ended(state);
}

/* The task with this number; NULL: it has ended, or is not there any more. */
static const struct doc *task_numbered(const struct doc *tasks, uint64_t wanted)
{
    for (const struct doc *other = tasks->first; other != NULL; other = other->next) {
        uint64_t id = 0;
        const struct doc *value = other->kind == DOC_MAP ? doc_get(other, "id") : NULL;
        if (value != NULL && doc_u64(value, &id) && id == wanted && !is_ended(other)) {
            return other;
        }
    }
    return NULL;
}

/* Tasks that are still there; those that have completed hold nobody up. */
static must_use enum err after_set(struct sim_state *state, const struct doc *item,
                                   const struct doc *tasks, struct job_kind *kind, struct error *e)
{
    const struct doc *depends = doc_get(item, "depends_on");
    if (depends == NULL || depends->kind != DOC_LIST) {
        return ERR_OK;
    }
    if (depends->count > TASK_DEPENDS_MAX) {
        return fail(e, ERR_LIMIT, "depends_on: more than %d tasks", TASK_DEPENDS_MAX);
    }
    const char **names = arena_new(state->arena, const char *, depends->count + 1);
    for (const struct doc *on = depends->first; on != NULL; on = on->next) {
        uint64_t wanted = 0;
        const struct doc *other = doc_u64(on, &wanted) ? task_numbered(tasks, wanted) : NULL;
        if (other != NULL) {
            names[kind->after_count++] = task_name(state, wanted, state_file_text(other, "name"));
        }
    }
    kind->after = names;
    state->scenario->names_needed |= kind->after_count > 0;
    return ERR_OK;
}

/* What is left of it: instances that have ended do not come again. */
static void rest_set(struct sim_state *state, const struct doc *item, struct task_spec *spec)
{
    const struct doc *counts = doc_get(item, "counts");
    if (counts != NULL && counts->kind == DOC_MAP && !spec->gang) {
        const int64_t left =
            state_file_ms(state, counts, "waiting", 0) + state_file_ms(state, counts, "active", 0);
        if (left > 0 && left <= spec->instances) {
            spec->instances = (uint32_t)left;
        }
    }
    spec->time_limit_ms = state_file_ms(state, item, "time_limit_ms", 0);
    spec->grace_ms = state_file_ms(state, item, "grace_ms", GRACE_MS_DEFAULT);
    const int64_t unset = -2; /* a grace may be -1: never */
    spec->stale_grace_ms = state_file_ms(state, item, "stale_grace_ms", unset);
    spec->own_stale_grace = spec->stale_grace_ms != unset;
    spec->stale_grace_ms = spec->own_stale_grace ? spec->stale_grace_ms : 0;
    spec->preempt_delay_ms = state_file_ms(state, item, "preemption_delay_ms", unset);
    spec->own_preempt_delay = spec->preempt_delay_ms != unset;
    spec->preempt_delay_ms = spec->own_preempt_delay ? spec->preempt_delay_ms : 0;
    spec->user = state_file_text(item, "user");
}

/* When it was, seen from the moment of the export: 0 or before; NOT_YET: it has not been. */
static int64_t before_ms(const struct sim_state *state, const struct doc *map, const char *name)
{
    int64_t at_ms = 0;
    if (!time_text_parse(str_of(state_file_text(map, name)), &at_ms)) {
        return NOT_YET;
    }
    return at_ms < state->time_ms ? at_ms - state->time_ms : 0;
}

static uint64_t devices_read(const struct doc *attempt)
{
    const struct doc *list = doc_get(attempt, "devices");
    uint64_t devices = 0;
    for (const struct doc *at = list != NULL && list->kind == DOC_LIST ? list->first : NULL;
         at != NULL; at = at->next) {
        uint64_t device = 0;
        if (doc_u64(at, &device) && device < NODE_DEVICES_MAX) {
            devices |= UINT64_C(1) << device;
        }
    }
    return devices;
}

static bool is_active(const char *word)
{
    return strcmp(word, "running") == 0 || strcmp(word, "starting") == 0 ||
           strcmp(word, "stopping") == 0;
}

/* Where its instances are. Those of a gang are told apart; of the others those that run come first. */
static void places_set(struct sim_state *state, const struct doc *item, struct job_kind *kind)
{
    const struct doc *attempts = doc_get(item, "attempts");
    if (attempts == NULL || attempts->kind != DOC_LIST || attempts->count == 0) {
        return;
    }
    struct job_place *places = arena_new(state->arena, struct job_place, attempts->count);
    for (const struct doc *at = attempts->first; at != NULL; at = at->next) {
        if (at->kind != DOC_MAP || !is_active(state_file_text(at, "state")) ||
            kind->place_count == kind->spec.instances) {
            continue;
        }
        uint64_t index = kind->place_count;
        const struct doc *own = doc_get(at, "index");
        if (kind->spec.gang && (own == NULL || !doc_u64(own, &index) || index > UINT32_MAX)) {
            state->wrong = "index";
            return;
        }
        places[kind->place_count++] = (struct job_place){
            .index = (uint32_t)index,
            .node = state_file_text(at, "node"),
            .devices = devices_read(at),
            .started_ms = before_ms(state, at, "started_at"),
            .checkpoint_ms = before_ms(state, at, "checkpoint_at"),
        };
    }
    kind->places = places;
}

static bool node_there(const struct sim_state *state, const char *name)
{
    for (size_t i = 0; i < state->scenario->nodes.count; i++) {
        if (strcmp(state->scenario->nodes.at[i].spec.name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Of the nodes that it avoids those that are there: some may be gone. */
static void avoid_set(const struct sim_state *state, struct task_spec *spec)
{
    const char **left = arena_new(state->arena, const char *, spec->avoid_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->avoid_count; i++) {
        if (node_there(state, spec->avoid[i])) {
            left[count++] = spec->avoid[i];
        }
    }
    spec->avoid = left;
    spec->avoid_count = count;
}

/* What of a task is as a task file has it. Groups say themselves how many instances there are, and
 * only a gang has a least number of them. */
static struct doc *task_picked(struct sim_state *state, const struct doc *item)
{
    static const char *const same[] = {"kind",     "project",     "pools",       "resources",
                                       "gang",     "priority",    "preemptible", "repeatable",
                                       "command",  "max_retries", "avoid",       "node_labels",
                                       "topology", NULL};
    static const char *const chosen[] = {"devices", NULL};
    static const char *const grouped[] = {"groups", "min_groups", NULL};
    static const char *const ganged[] = {"instances", "min_instances", NULL};
    static const char *const counted[] = {"instances", NULL};
    struct doc *map = docmap_pick(state->arena, item, same);
    struct doc *devices = docmap_pick(state->arena, item, chosen)->first;
    struct doc *count = docmap_pick(state->arena, item, grouped)->first;
    if (devices != NULL && devices->count > 0) {
        docmap_add(map, "devices", devices);
    }
    if (count == NULL) {
        count =
            docmap_pick(state->arena, item, state_file_yes(item, "gang") ? ganged : counted)->first;
    }
    while (count != NULL) {
        struct doc *next = count->next;
        docmap_add(map, count->key.p, count);
        count = next;
    }
    return map;
}

static must_use enum err task_read(struct sim_state *state, const struct doc *item,
                                   const struct doc *tasks, struct error *e)
{
    if (state->scenario->jobs.count >= state->scenario->jobs_max) {
        return fail(e, ERR_LIMIT, "more than %u tasks", state->scenario->jobs_max);
    }
    struct doc *map = task_picked(state, item);
    state->wrong = NULL;
    struct job_kind *kind = scenario_kind(state->scenario);
    enum err r = task_file_spec_read(map, state->arena, &kind->spec, e);
    if (r != ERR_OK) {
        return r;
    }
    const char *word = state_file_text(item, "state");
    struct job job = {.kind = kind};
    job.name = task_name(state, (uint64_t)state_file_ms(state, item, "id", 0),
                         state_file_text(item, "name"));
    rest_set(state, item, &kind->spec);
    avoid_set(state, &kind->spec);
    r = after_set(state, item, tasks, kind, e);
    if (r != ERR_OK) {
        return r;
    }
    kind->spec.stage = strcmp(word, "staged") == 0;
    const int64_t submitted_ms = before_ms(state, item, "submitted_at");
    job.at_ms = submitted_ms == NOT_YET ? 0 : submitted_ms;
    job.runs_ms = kind->spec.time_limit_ms > 0 ? kind->spec.time_limit_ms : state->runs_ms;
    places_set(state, item, kind);
    r = state_file_check(state, e);
    if (r != ERR_OK) {
        return r;
    }
    vec_push(&state->scenario->jobs, job);
    if (strcmp(word, "paused") == 0) {
        const struct scenario_action pause = {.type = ACTION_PAUSE, .target = job.name};
        vec_push(&state->scenario->actions, pause);
        state->scenario->names_needed = true;
    }
    return ERR_OK;
}

enum err state_tasks_read(struct sim_state *state, const struct doc *doc, struct error *e)
{
    const struct doc *tasks = doc_get(doc, "tasks");
    if (tasks == NULL || tasks->kind != DOC_LIST) {
        return fail(e, ERR_INVALID, "there is no list 'tasks': is it the state of a server?");
    }
    uint32_t index = 0;
    for (const struct doc *item = tasks->first; item != NULL; item = item->next, index++) {
        if (item->kind != DOC_MAP || is_ended(item)) {
            continue;
        }
        if (task_read(state, item, tasks, e) != ERR_OK) {
            return fail_in(e, "%u:%u: tasks[%u]", item->line, item->column, index);
        }
    }
    return ERR_OK;
}
