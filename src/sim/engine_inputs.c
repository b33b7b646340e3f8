/* engine_inputs.c - the inputs of a scenario: pools and accounts at the beginning, arriving
 * jobs, and the actions of people and nodes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine_internal.h"
#include "sim/scenario_check.h"

#include <inttypes.h>

/* ---- pools and accounts ---- */

/* A department may be declared before its parent. All departments are tried again, as often as
 * the tree has levels. */
static must_use enum err accounts_declared(struct engine *engine, struct error *e)
{
    const struct scenario *scenario = engine->scenario;
    enum err r = ERR_OK;
    for (uint32_t round = 1; round <= ACCOUNT_DEPTH_MAX; round++) {
        r = ERR_OK;
        for (size_t i = 0; i < scenario->accounts.count; i++) {
            const struct account_spec *spec = &scenario->accounts.at[i];
            if (query_account_named(engine->core, spec->kind, spec->name) == NULL &&
                engine_edits_account(engine, spec, e) != ERR_OK) {
                const bool project = spec->kind == ACCOUNT_PROJECT;
                const char *list = project ? "projects" : "departments";
                r = scenario_check_fail_in(
                    scenario, scenario_check_item_named(scenario, list, spec->name), e);
            }
        }
    }
    return r;
}

/* Creates the projects that jobs name and the scenario does not declare. */
static must_use enum err projects_of_jobs(struct engine *engine, struct error *e)
{
    const struct scenario *scenario = engine->scenario;
    const struct job_kind *last = NULL;
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        const struct job_kind *kind = scenario->jobs.at[i].kind;
        if (kind == last ||
            query_account_named(engine->core, ACCOUNT_PROJECT, kind->spec.project) != NULL) {
            continue;
        }
        last = kind;
        const struct account_spec spec = {
            .kind = ACCOUNT_PROJECT,
            .name = kind->spec.project,
            .parent = "",
            .title = "",
            .description = "",
        };
        enum err r = engine_edits_account(engine, &spec, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

/* Where tasks go that name no pool. */
static must_use enum err defaults_declared(struct engine *engine, struct error *e)
{
    struct input in = {.type = INPUT_DEFAULTS_SET, .actor = "user:sim"};
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        const char *name = engine->scenario->default_pools[i];
        in.defaults.pools[i] = name != NULL ? name : POOL_DEFAULT_NAME;
    }
    struct facts facts;
    if (engine_input(engine, &in, &facts) != VERDICT_OK) {
        (void)engine_edits_refused(engine, &facts.refusal, e);
        (void)fail_in(e, "defaults");
        return scenario_check_fail_in(engine->scenario,
                                      scenario_check_value(engine->scenario->doc, "defaults"), e);
    }
    return ERR_OK;
}

enum err engine_inputs_begin(struct engine *engine, struct error *e)
{
    struct input start = {.type = INPUT_SERVER_START, .actor = "server"};
    struct facts facts;
    must(engine_input(engine, &start, &facts) == VERDICT_OK);
    for (size_t i = 0; i < engine->scenario->flavors.count; i++) {
        const struct flavor_spec *spec = &engine->scenario->flavors.at[i];
        if (engine_edits_flavor(engine, spec, e) != ERR_OK) {
            return scenario_check_fail_in(
                engine->scenario,
                scenario_check_item_named(engine->scenario, "flavors", spec->name), e);
        }
    }
    for (size_t i = 0; i < engine->scenario->pools.count; i++) {
        const struct pool_spec *spec = &engine->scenario->pools.at[i];
        if (engine_edits_pool(engine, spec, e) != ERR_OK) {
            return scenario_check_fail_in(
                engine->scenario, scenario_check_item_named(engine->scenario, "pools", spec->name),
                e);
        }
    }
    enum err r = defaults_declared(engine, e);
    r = r == ERR_OK ? accounts_declared(engine, e) : r;
    return r == ERR_OK ? projects_of_jobs(engine, e) : r;
}

/* Returns the place in the file of the resource that no node has, or of the quota. */
static const struct doc *quota_place(const struct engine *engine, size_t index)
{
    const struct doc *item = scenario_check_item(engine->scenario, "quotas", index);
    const struct doc *resources = scenario_check_value(item, "resources");
    for (const struct doc *at = resources != item ? resources->first : NULL; at != NULL;
         at = at->next) {
        resource_id known;
        const bool slots = str_is(at->key, "gpu");
        if (!slots && !query_resource_named(engine->core, at->key.p, &known)) {
            return at;
        }
    }
    return item;
}

enum err engine_inputs_quotas(struct engine *engine, struct error *e)
{
    for (size_t i = 0; i < engine->scenario->quotas.count; i++) {
        const struct quota_body *body = engine->scenario->quotas.at[i];
        if (engine_edits_quota(engine, body, e) != ERR_OK) {
            (void)fail_in(e, "quotas[%zu]", i);
            return scenario_check_fail_in(engine->scenario, quota_place(engine, i), e);
        }
    }
    return ERR_OK;
}

/* ---- arrivals ---- */

static task_id task_named(const struct engine *engine, const char *name)
{
    return (task_id){(uintptr_t)map_get(engine->tasks_named, name, strlen(name))};
}

/* Fills in the task ids of the jobs that a job depends on. A scenario submits those jobs before
 * (scenario_check.h), so a job without a task was refused. Returns the name of the first refused
 * job; NULL: none was refused. */
static const char *depends_resolve(struct engine *engine, const struct job_kind *kind,
                                   struct task_spec *spec)
{
    uint64_t *ids = arena_new(&engine->arena, uint64_t, kind->after_count);
    for (uint32_t i = 0; i < kind->after_count; i++) {
        ids[i] = task_named(engine, kind->after[i]).v;
        if (ids[i] == 0) {
            return kind->after[i];
        }
    }
    spec->depends_on = ids;
    spec->depends_count = kind->after_count;
    return NULL;
}

static void refused(struct engine *engine, const struct job *job, const struct reason *reason)
{
    const struct refusal refusal = {job, engine_now_ms(engine), *reason};
    for (uint32_t i = 0; i < engine->options.watcher_count; i++) {
        const struct watcher *watcher = &engine->options.watchers[i];
        if (watcher->refused != NULL) {
            watcher->refused(watcher->ctx, engine, &refusal);
        }
    }
}

static void refused_dependent(struct engine *engine, const struct job *job, const char *name)
{
    struct reason reason = {.code = REASON_UNKNOWN_TASK, .smallest = -1};
    (void)snprintf(reason.text, sizeof reason.text, "%s", name);
    refused(engine, job, &reason);
}

/* Submits the batch as one submission. A refused job is taken out and the rest is tried again. */
static void submit(struct engine *engine, struct task_spec *specs)
{
    while (engine->batch.count > 0) {
        struct input in = {.type = INPUT_TASK_SUBMIT,
                           .actor = "user:sim",
                           .submit = {.specs = specs, .count = (uint32_t)engine->batch.count}};
        struct facts facts;
        engine->batch_next = 0;
        if (engine_input(engine, &in, &facts) == VERDICT_OK) {
            return;
        }
        const size_t at = facts.refused_index;
        must(at < engine->batch.count);
        refused(engine, engine->batch.at[at], &facts.refusal);
        const size_t behind = engine->batch.count - at - 1;
        memmove(&specs[at], &specs[at + 1], behind * sizeof *specs);
        memmove(&engine->batch.at[at], &engine->batch.at[at + 1],
                behind * sizeof *engine->batch.at);
        engine->batch.count--;
    }
}

/* The most jobs of one moment in one submission, which bounds the array of specs. */
enum { BATCH_MAX = 4096 };

static void jobs_due(struct engine *engine)
{
    const struct scenario *scenario = engine->scenario;
    auto_free(freep) struct task_spec *specs = NULL;
    vec_clear(&engine->batch);
    while (engine->job_next < scenario->jobs.count && engine->batch.count < BATCH_MAX) {
        const struct job *job = &scenario->jobs.at[engine->job_next];
        /* A job that depends on a job of the same moment goes into the next submission. */
        const bool alone = job->kind->after_count > 0;
        if (job->at_ms > engine_now_ms(engine) || (alone && engine->batch.count > 0)) {
            break;
        }
        specs = xrealloc(specs, engine->batch.count + 1, sizeof *specs);
        struct task_spec *spec = &specs[engine->batch.count];
        *spec = job->kind->spec;
        spec->name = job->name;
        const char *missing = alone ? depends_resolve(engine, job->kind, spec) : NULL;
        engine->job_next++;
        if (missing != NULL) {
            refused_dependent(engine, job, missing);
            continue;
        }
        vec_push(&engine->batch, job);
        if (alone) {
            break;
        }
    }
    submit(engine, specs);
}

static bool job_is_due(const struct engine *engine)
{
    return engine->job_next < engine->scenario->jobs.count &&
           engine->scenario->jobs.at[engine->job_next].at_ms <= engine_now_ms(engine);
}

/* ---- actions ---- */

static must_use enum err action_fail(const struct scenario_action *action, const char *what,
                                     struct error *e)
{
    return fail(e, ERR_INVALID, "there is no %s '%s' at that time", what, action->target);
}

/* Runs the input of an action on a node or a task through the core. A refusal becomes an error that
 * names the action's target. */
static must_use enum err action_input(struct engine *engine, struct input *in, const char *what,
                                      const struct scenario_action *action, struct error *e)
{
    struct facts facts;
    if (engine_input(engine, in, &facts) != VERDICT_OK) {
        (void)engine_edits_refused(engine, &facts.refusal, e);
        return fail_in(e, "%s '%s'", what, action->target);
    }
    return ERR_OK;
}

static must_use enum err node_action(struct engine *engine, const struct scenario_action *action,
                                     struct error *e)
{
    const uintptr_t found =
        (uintptr_t)map_get(engine->nodes_named, action->target, strlen(action->target));
    if (found == 0) {
        return action_fail(action, "node", e);
    }
    const uint32_t index = (uint32_t)found - 1;
    if (action->type == ACTION_CRASH) {
        engine_agents_crash(engine, index, action->for_ms);
        return ERR_OK;
    }
    if (action->type == ACTION_CUT) {
        engine_agents_cut(engine, index, action->for_ms);
        return ERR_OK;
    }
    if (action->type == ACTION_UP || action->type == ACTION_JOIN) {
        return engine_agents_up(engine, index, e);
    }
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN,
                                   .drain = action->type == ACTION_DRAIN};
    struct input in = {.type = INPUT_NODE_EDIT, .actor = "user:sim"};
    in.node.node = engine->nodes.at[index]->id;
    in.node.edit = &edit;
    if (action->type == ACTION_REMOVE) {
        in.type = INPUT_NODE_REMOVE;
        engine->nodes.at[index]->alive = false;
        engine->nodes.at[index]->connected = false;
    }
    return action_input(engine, &in, "node", action, e);
}

static must_use enum err pool_action(struct engine *engine, const struct scenario_action *action,
                                     struct error *e)
{
    const struct pool *pool = query_pool_named(engine->core, action->target);
    if (pool == NULL) {
        return action_fail(action, "pool", e);
    }
    struct pool_spec spec;
    query_pool_spec(engine->core, pool->id, &engine->arena, &spec);
    spec.paused = action->type == ACTION_POOL_PAUSE;
    return engine_edits_pool(engine, &spec, e);
}

static enum input_type task_input_type(enum action_type type)
{
    switch (type) {
    case ACTION_PAUSE:
        return INPUT_TASK_PAUSE;
    case ACTION_ACTIVATE:
        return INPUT_TASK_ACTIVATE;
    case ACTION_START:
        return INPUT_TASK_START;
    case ACTION_PRIORITY:
        return INPUT_TASK_EDIT;
    case ACTION_CRASH:
    case ACTION_CUT:
    case ACTION_UP:
    case ACTION_DRAIN:
    case ACTION_RESUME:
    case ACTION_REMOVE:
    case ACTION_JOIN:
    case ACTION_KILL:
    case ACTION_POOL_PAUSE:
    case ACTION_POOL_RESUME:
    case ACTION_QUOTA:
    case ACTION_POOL:
    case ACTION_PROJECT:
    case ACTION_DEPARTMENT:
        break;
    }
    return INPUT_TASK_KILL;
}

static must_use enum err task_action(struct engine *engine, const struct scenario_action *action,
                                     struct error *e)
{
    const task_id task = task_named(engine, action->target);
    if (task.v == 0) {
        return action_fail(action, "task", e);
    }
    if (query_task(engine->core, task) == NULL) {
        return ERR_OK; /* the task has ended, and nothing is left to do */
    }
    const struct task_edit edit = {.fields = TASK_EDIT_priority,
                                   .spec = &(struct task_spec){.priority = action->priority}};
    struct input in = {.type = task_input_type(action->type), .actor = "user:sim"};
    in.task.task = task;
    in.task.edit = &edit;
    return action_input(engine, &in, "task", action, e);
}

static must_use enum err action_do(struct engine *engine, const struct scenario_action *action,
                                   struct error *e)
{
    switch (action->type) {
    case ACTION_CRASH:
    case ACTION_CUT:
    case ACTION_UP:
    case ACTION_DRAIN:
    case ACTION_RESUME:
    case ACTION_REMOVE:
    case ACTION_JOIN:
        return node_action(engine, action, e);
    case ACTION_POOL_PAUSE:
    case ACTION_POOL_RESUME:
        return pool_action(engine, action, e);
    case ACTION_QUOTA:
    case ACTION_POOL:
    case ACTION_PROJECT:
    case ACTION_DEPARTMENT:
        return engine_edits_action(engine, action, e);
    case ACTION_KILL:
    case ACTION_PAUSE:
    case ACTION_ACTIVATE:
    case ACTION_START:
    case ACTION_PRIORITY:
        break;
    }
    return task_action(engine, action, e);
}

void engine_inputs_jobs(struct engine *engine)
{
    while (job_is_due(engine)) {
        jobs_due(engine);
    }
}

enum err engine_inputs_due(struct engine *engine, struct error *e)
{
    const struct scenario *scenario = engine->scenario;
    enum err r = ERR_OK;
    engine_inputs_jobs(engine);
    while (r == ERR_OK && engine->action_next < scenario->actions.count &&
           scenario->actions.at[engine->action_next].at_ms <= engine_now_ms(engine)) {
        const struct scenario_action *action = &scenario->actions.at[engine->action_next++];
        r = action_do(engine, action, e);
        if (r != ERR_OK) {
            const struct doc *body = action->body;
            return fail_in(e, "%s:%u:%u: events", scenario->file,
                           body != NULL ? body->line : action->line,
                           body != NULL ? body->column : action->column);
        }
    }
    return r;
}

int64_t engine_inputs_next_ms(const struct engine *engine)
{
    const struct scenario *scenario = engine->scenario;
    int64_t next = INT64_MAX;
    if (engine->job_next < scenario->jobs.count) {
        next = scenario->jobs.at[engine->job_next].at_ms;
    }
    if (engine->action_next < scenario->actions.count &&
        scenario->actions.at[engine->action_next].at_ms < next) {
        next = scenario->actions.at[engine->action_next].at_ms;
    }
    return next == INT64_MAX ? next : next + engine->epoch_ms;
}
