/* state_file.c - see state_file.h. What the state writes as the readers of spec/ take it goes
 * through them; the rest (milliseconds, amounts of nodes) is read here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/state_file.h"

#include "base/amount.h"
#include "base/doc.h"
#include "sim/docmap.h"
#include "spec/account_spec.h"
#include "spec/pool_spec.h"
#include "spec/task_file.h"
#include "wire/state_json.h"
#include "wire/time_text.h"

enum { RUN_LEFT_MIN_MS = 1000 };

struct state {
    struct scenario *scenario;
    struct arena *arena;
    int64_t time_ms;
    int64_t runs_ms;
};

typedef enum err (*item_fn)(struct state *state, const struct doc *item, struct error *e);

static must_use enum err list_each(struct state *state, const struct doc *doc, const char *name,
                                   item_fn read, struct error *e)
{
    const struct doc *list = doc_get(doc, name);
    uint32_t index = 0;
    if (list == NULL || list->kind != DOC_LIST) {
        return fail(e, ERR_INVALID, "there is no list '%s': is it the state of a server?", name);
    }
    for (const struct doc *item = list->first; item != NULL; item = item->next) {
        if (item->kind != DOC_MAP) {
            return fail(e, ERR_INVALID, "%u:%u: %s[%u] is no object", item->line, item->column,
                        name, index);
        }
        enum err r = read(state, item, e);
        if (r != ERR_OK) {
            return fail_in(e, "%u:%u: %s[%u]", item->line, item->column, name, index);
        }
        index++;
    }
    return ERR_OK;
}

static int64_t ms_of(const struct doc *map, const char *name, int64_t otherwise)
{
    const struct doc *value = doc_get(map, name);
    int64_t ms = otherwise;
    if (value != NULL) {
        (void)doc_i64(value, &ms);
    }
    return ms;
}

static const char *text_of(const struct doc *map, const char *name)
{
    const struct doc *value = doc_get(map, name);
    const char *text = "";
    if (value != NULL) {
        (void)doc_text(value, &text);
    }
    return text;
}

static bool yes_of(const struct doc *map, const char *name)
{
    const struct doc *value = doc_get(map, name);
    bool yes = false;
    if (value != NULL) {
        (void)doc_bool(value, &yes);
    }
    return yes;
}

/* ---- pools and accounts ---- */

/* In thousandths. What was used before the export is not in it: the simulation looks back on itself only. */
static uint32_t history_factor(const struct doc *history)
{
    const struct doc *factor = doc_get(history, "factor");
    int64_t milli = HISTORY_FACTOR_DEFAULT;
    if (factor != NULL &&
        (factor->kind != DOC_NUMBER || amount_milli(factor->text, &milli, NULL) != ERR_OK)) {
        milli = HISTORY_FACTOR_DEFAULT;
    }
    return (uint32_t)milli;
}

static enum err pool_read(struct state *state, const struct doc *item, struct error *e)
{
    static const char *const same[] = {"name",    "title",     "description", "paused",
                                       "accepts", "aux_tasks", NULL};
    static const char *const same_scheduler[] = {"policy",     "placement",     "victims", "order",
                                                 "preemption", "consolidation", "uneven",  NULL};
    const struct doc *scheduler = doc_get(item, "scheduler");
    struct doc *map = docmap_pick(state->arena, item, same);
    if (scheduler != NULL && scheduler->kind == DOC_MAP) {
        docmap_add(map, "scheduler", docmap_pick(state->arena, scheduler, same_scheduler));
    }
    struct pool_spec spec;
    enum err r = pool_spec_read(map, state->arena, &spec, e);
    if (r != ERR_OK) {
        return r;
    }
    spec.patience_ms = ms_of(item, "patience_ms", spec.patience_ms);
    if (scheduler != NULL && scheduler->kind == DOC_MAP) {
        const struct doc *history = doc_get(scheduler, "history");
        if (history != NULL && history->kind == DOC_MAP) {
            spec.history_half_life_ms = ms_of(history, "half_life_ms", 0);
            spec.history_window_ms = ms_of(history, "window_ms", 0);
            spec.history_factor = history_factor(history);
        }
        spec.stale_grace_ms = ms_of(scheduler, "stale_grace_ms", spec.stale_grace_ms);
        spec.preempt_min_runtime_ms = ms_of(scheduler, "preempt_min_runtime_ms", 0);
        spec.reclaim_min_runtime_ms = ms_of(scheduler, "reclaim_min_runtime_ms", 0);
        spec.preempt_delay_ms = ms_of(scheduler, "preempt_delay_ms", 0);
    }
    vec_push(&state->scenario->pools, spec);
    return ERR_OK;
}

static must_use enum err account_read(struct state *state, const struct doc *item,
                                      enum account_kind kind, struct error *e)
{
    static const char *const same[] = {"name",  "parent",      "department",
                                       "title", "description", NULL};
    struct account_spec spec;
    struct doc *map = docmap_pick(state->arena, item, same);
    enum err r = account_spec_read(map, kind, state->arena, &spec, e);
    if (r == ERR_OK) {
        vec_push(&state->scenario->accounts, spec);
    }
    return r;
}

static enum err department_read(struct state *state, const struct doc *item, struct error *e)
{
    return account_read(state, item, ACCOUNT_DEPARTMENT, e);
}

static enum err project_read(struct state *state, const struct doc *item, struct error *e)
{
    return account_read(state, item, ACCOUNT_PROJECT, e);
}

static enum err quota_read(struct state *state, const struct doc *item, struct error *e)
{
    static const char *const same[] = {"pool", "resources", "rank", NULL};
    static const char *const whose[] = {"account", NULL};
    struct doc *map = docmap_pick(state->arena, item, same);
    struct doc *account = docmap_pick(state->arena, item, whose)->first;
    if (account != NULL) {
        docmap_add(map, text_of(item, "kind"), account);
    }
    struct quota_body *body = arena_new(state->arena, struct quota_body, 1);
    quota_body_init(body);
    enum err r = quota_body_read(map, state->arena, body, e);
    if (r == ERR_OK) {
        body->spec.preempt_min_runtime_ms = ms_of(item, "preempt_min_runtime_ms", QUOTA_INHERIT);
        body->spec.reclaim_min_runtime_ms = ms_of(item, "reclaim_min_runtime_ms", QUOTA_INHERIT);
        vec_push(&state->scenario->quotas, body);
    }
    return r;
}

/* ---- nodes ---- */

static must_use enum err amount_read(const struct doc *value, const char *name,
                                     struct node_spec *spec, struct named_amount *named,
                                     struct error *e)
{
    const struct doc *total = value->kind == DOC_MAP ? doc_get(value, "total") : NULL;
    if (total == NULL || total->kind != DOC_NUMBER) {
        return fail(e, ERR_INVALID, "resources.%s.total is missing", name);
    }
    if (strcmp(name, "memory") == 0) {
        return amount_bytes(total->text, &spec->memory_bytes, e);
    }
    if (strcmp(name, "slots") == 0) {
        return amount_milli(total->text, &spec->slots_milli, e);
    }
    if (strcmp(name, "cpu") == 0) {
        return amount_milli(total->text, &spec->cpu_milli, e);
    }
    if (spec->resource_count == NODE_RESOURCES_MAX) {
        return fail(e, ERR_LIMIT, "more than %d resources", NODE_RESOURCES_MAX);
    }
    named[spec->resource_count].name = name;
    return amount_milli(total->text, &named[spec->resource_count++].milli, e);
}

static void labels_read(struct state *state, const struct doc *labels, struct node_spec *spec)
{
    struct label *list = arena_new(state->arena, struct label, NODE_LABELS_MAX);
    for (const struct doc *item = labels->first; item != NULL; item = item->next) {
        if (spec->label_count < NODE_LABELS_MAX && item->kind == DOC_STRING) {
            list[spec->label_count++] = (struct label){item->key.p, item->text.p};
        }
    }
    spec->labels = list;
}

static enum err node_read(struct state *state, const struct doc *item, struct error *e)
{
    struct named_amount *named = arena_new(state->arena, struct named_amount, NODE_RESOURCES_MAX);
    struct node_spec spec = {
        .name = text_of(item, "name"),
        .pool = text_of(item, "pool"),
        .resources = named,
        .boot_id = "",
        .address = "",
        .version = "",
    };
    const struct doc *resources = doc_get(item, "resources");
    const struct doc *devices = doc_get(item, "devices");
    const struct doc *labels = doc_get(item, "labels");
    if (resources == NULL || resources->kind != DOC_MAP) {
        return fail(e, ERR_INVALID, "resources are missing");
    }
    for (const struct doc *at = resources->first; at != NULL; at = at->next) {
        enum err r = amount_read(at, at->key.p, &spec, named, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    spec.device_count = devices != NULL && devices->kind == DOC_LIST ? devices->count : 0;
    if (labels != NULL) {
        labels_read(state, labels, &spec);
    }
    const bool away = strcmp(text_of(item, "state"), "up") != 0;
    vec_push(&state->scenario->nodes, ((struct cluster_node){.spec = spec, .later = away}));
    if (!away && yes_of(item, "draining")) {
        const struct action drain = {.type = ACTION_DRAIN, .target = spec.name};
        vec_push(&state->scenario->actions, drain);
    }
    return ERR_OK;
}

/* ---- tasks ---- */

static const char *task_name(struct state *state, uint64_t id, const char *name)
{
    return arena_fmt(state->arena, name[0] != '\0' ? "#%llu %s" : "#%llu%s", (unsigned long long)id,
                     name);
}

/* Tasks that are still there; those that have completed hold nobody up. */
static void after_set(struct state *state, const struct doc *item, const struct doc *tasks,
                      struct job_kind *kind)
{
    const struct doc *depends = doc_get(item, "depends_on");
    if (depends == NULL || depends->kind != DOC_LIST) {
        return;
    }
    const char **names = arena_new(state->arena, const char *, depends->count + 1);
    for (const struct doc *on = depends->first; on != NULL; on = on->next) {
        uint64_t wanted = 0;
        (void)doc_u64(on, &wanted);
        for (const struct doc *other = tasks->first; other != NULL; other = other->next) {
            uint64_t id = 0;
            const struct doc *value = doc_get(other, "id");
            if (value != NULL && doc_u64(value, &id) && id == wanted) {
                names[kind->after_count++] = task_name(state, id, text_of(other, "name"));
            }
        }
    }
    kind->after = names;
    state->scenario->names_needed |= kind->after_count > 0;
}

/* What is left of it: instances that have ended do not come again. */
static void rest_set(const struct doc *item, struct task_spec *spec)
{
    const struct doc *counts = doc_get(item, "counts");
    if (counts != NULL && counts->kind == DOC_MAP && !spec->gang) {
        const int64_t left = ms_of(counts, "waiting", 0) + ms_of(counts, "active", 0);
        if (left > 0 && left <= spec->instances) {
            spec->instances = (uint32_t)left;
        }
    }
    spec->time_limit_ms = ms_of(item, "time_limit_ms", 0);
    spec->grace_ms = ms_of(item, "grace_ms", GRACE_MS_DEFAULT);
    const int64_t unset = -2; /* a grace may be -1: never */
    spec->stale_grace_ms = ms_of(item, "stale_grace_ms", unset);
    spec->own_stale_grace = spec->stale_grace_ms != unset;
    spec->stale_grace_ms = spec->own_stale_grace ? spec->stale_grace_ms : 0;
    spec->preempt_delay_ms = ms_of(item, "preemption_delay_ms", unset);
    spec->own_preempt_delay = spec->preempt_delay_ms != unset;
    spec->preempt_delay_ms = spec->own_preempt_delay ? spec->preempt_delay_ms : 0;
    spec->user = text_of(item, "user");
}

static int64_t left_ms(const struct state *state, const struct doc *item,
                       const struct task_spec *spec)
{
    int64_t started_ms = state->time_ms;
    const int64_t length_ms = spec->time_limit_ms > 0 ? spec->time_limit_ms : state->runs_ms;
    const char *started = text_of(item, "started_at");
    (void)time_parse(str_of(started), &started_ms);
    const int64_t left = length_ms - (state->time_ms - started_ms);
    return left > RUN_LEFT_MIN_MS ? left : RUN_LEFT_MIN_MS;
}

static bool node_there(const struct state *state, const char *name)
{
    for (size_t i = 0; i < state->scenario->nodes.count; i++) {
        if (strcmp(state->scenario->nodes.at[i].spec.name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Of the nodes that it avoids those that are there: some may be gone. */
static void avoid_set(const struct state *state, struct task_spec *spec)
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

static must_use enum err task_read(struct state *state, const struct doc *item,
                                   const struct doc *tasks, struct error *e)
{
    static const char *const same[] = {"kind",        "project", "pools",       "resources",
                                       "instances",   "gang",    "priority",    "preemptible",
                                       "repeatable",  "command", "max_retries", "avoid",
                                       "node_labels", NULL};
    static const char *const chosen[] = {"devices", NULL};
    struct doc *map = docmap_pick(state->arena, item, same);
    struct doc *devices = docmap_pick(state->arena, item, chosen)->first;
    if (devices != NULL && devices->count > 0) {
        docmap_add(map, "devices", devices);
    }
    struct job_kind *kind = scenario_kind(state->scenario);
    enum err r = task_spec_read(map, state->arena, &kind->spec, e);
    if (r != ERR_OK) {
        return r;
    }
    const char *word = text_of(item, "state");
    struct job job = {.kind = kind};
    job.name = task_name(state, (uint64_t)ms_of(item, "id", 0), text_of(item, "name"));
    rest_set(item, &kind->spec);
    avoid_set(state, &kind->spec);
    after_set(state, item, tasks, kind);
    kind->spec.stage = strcmp(word, "staged") == 0;
    job.runs_ms = left_ms(state, item, &kind->spec);
    vec_push(&state->scenario->jobs, job);
    if (strcmp(word, "paused") == 0) {
        const struct action pause = {.type = ACTION_PAUSE, .target = job.name};
        vec_push(&state->scenario->actions, pause);
        state->scenario->names_needed = true;
    }
    return ERR_OK;
}

static bool is_running(const struct doc *item)
{
    const char *word = text_of(item, "state");
    return strcmp(word, "running") == 0 || strcmp(word, "starting") == 0 ||
           strcmp(word, "stopping") == 0;
}

static bool is_ended(const struct doc *item)
{
    enum task_state state;
    return task_state_parse(text_of(item, "state"), &state) && task_state_ended(state);
}

/* Those that run first, so that they have their places before the others. */
static must_use enum err tasks_read(struct state *state, const struct doc *doc, struct error *e)
{
    const struct doc *tasks = doc_get(doc, "tasks");
    if (tasks == NULL || tasks->kind != DOC_LIST) {
        return fail(e, ERR_INVALID, "there is no list 'tasks': is it the state of a server?");
    }
    for (int round = 0; round < 2; round++) {
        uint32_t index = 0;
        for (const struct doc *item = tasks->first; item != NULL; item = item->next, index++) {
            if (item->kind != DOC_MAP || is_ended(item) || is_running(item) != (round == 0)) {
                continue;
            }
            if (task_read(state, item, tasks, e) != ERR_OK) {
                return fail_in(e, "%u:%u: tasks[%u]", item->line, item->column, index);
            }
        }
    }
    return ERR_OK;
}

enum err state_file_read(struct str text, const char *file, int64_t runs_ms,
                         struct scenario *scenario, struct error *e)
{
    struct state state = {.scenario = scenario, .arena = &scenario->arena, .runs_ms = runs_ms};
    struct doc *doc;
    enum err r = doc_parse_json(&scenario->arena, text, &doc, e);
    if (r == ERR_OK && (doc->kind != DOC_MAP || ms_of(doc, "version", 0) != STATE_JSON_VERSION)) {
        r = fail(e, ERR_INVALID, "version %d of a server's state is wanted", STATE_JSON_VERSION);
    }
    if (r == ERR_OK) {
        (void)time_parse(str_of(text_of(doc, "time")), &state.time_ms);
        r = list_each(&state, doc, "pools", pool_read, e);
    }
    r = r == ERR_OK ? list_each(&state, doc, "departments", department_read, e) : r;
    r = r == ERR_OK ? list_each(&state, doc, "projects", project_read, e) : r;
    r = r == ERR_OK ? list_each(&state, doc, "quotas", quota_read, e) : r;
    r = r == ERR_OK ? list_each(&state, doc, "nodes", node_read, e) : r;
    r = r == ERR_OK ? tasks_read(&state, doc, e) : r;
    return r == ERR_OK ? r : fail_in(e, "%s", file);
}
