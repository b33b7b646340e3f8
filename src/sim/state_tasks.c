/* state_tasks.c - the tasks of an exported state, as far as they have not ended.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/task.h"
#include "sim/state_internal.h"
#include "spec/object_again.h"
#include "base/time_text.h"
#include "core/model/names.h"

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

/* Returns the task with this number; NULL: the task has ended, or is gone. */
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

/* Sets the dependencies by name. Dependencies on ended tasks are dropped, because those are
 * fulfilled. */
static void after_set(struct sim_state *state, const struct doc *tasks, struct job_kind *kind)
{
    struct task_spec *spec = &kind->spec;
    const char **names = arena_new(state->arena, const char *, spec->depends_count + 1);
    uint64_t any = 0;
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        const struct doc *other = task_numbered(tasks, spec->depends_on[i]);
        if (other != NULL) {
            any |= (spec->depends_any >> i & 1) << kind->after_count;
            names[kind->after_count++] =
                task_name(state, spec->depends_on[i], state_file_text(other, "name"));
        }
    }
    kind->after = names;
    spec->depends_on = NULL; /* the engine fills in the task ids of this run */
    spec->depends_count = 0;
    spec->depends_any = any;
    state->scenario->names_needed |= kind->after_count > 0;
}

/* Leaves out instances that have ended. */
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
    spec->user = state_file_text(item, "user");
}

/* Returns a time relative to the export: 0 or before; NOT_YET: the map has no such time. */
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

/* Sets the places of running instances. Instances of a gang keep their index. Instances of other
 * tasks are alike, so the running ones get the first indices. */
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

/* Drops avoided nodes that no longer exist. */
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

static must_use enum err task_read(struct sim_state *state, const struct doc *item,
                                   const struct doc *tasks, struct error *e)
{
    if (state->scenario->jobs.count >= state->scenario->jobs_max) {
        return fail(e, ERR_LIMIT, "more than %u tasks", state->scenario->jobs_max);
    }
    state->wrong = NULL;
    struct job_kind *kind = scenario_kind(state->scenario);
    enum err r = object_again_task(item, state->arena, &kind->spec, e);
    if (r != ERR_OK) {
        return r;
    }
    const char *word = state_file_text(item, "state");
    struct job job = {.kind = kind};
    job.name = task_name(state, (uint64_t)state_file_ms(state, item, "id", 0),
                         state_file_text(item, "name"));
    rest_set(state, item, &kind->spec);
    avoid_set(state, &kind->spec);
    after_set(state, tasks, kind);
    kind->spec.stage = strcmp(word, "staged") == 0;
    kind->spec.network = ""; /* as in the pools */
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
