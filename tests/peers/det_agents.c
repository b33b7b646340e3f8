/* det_agents.c - cases of Determined about agents and pools: which pool a task gets, agents that come back, and what an agent
 * offers while it is drained.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/standing.h"
#include "core/model/node.h"
#include "determined.h"
#include "read.h"

#include <string.h>

/* ---- routing ---- */

static bool pool_make(struct cluster *cluster, const char *name)
{
    struct pool_spec spec = cluster_pool(cluster);
    spec.name = name;
    const struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}};
    return query_pool_named(cluster->core, name) != NULL || cluster_do(cluster, in) == VERDICT_OK;
}

/* Makes the pools of the case and sets the two defaults. */
static bool routing_open(struct cluster *cluster, const struct doc *config)
{
    const struct doc *pools = reads_get(config, "pools");
    struct input in = {.type = INPUT_DEFAULTS_SET};
    for (const struct doc *pool = pools->first; pool != NULL; pool = pool->next) {
        const char *name = "";
        if (!reads_text(pool, &name) || !pool_make(cluster, name)) {
            return false;
        }
    }
    return reads_text(reads_get(config, "default_compute_resource_pool"),
                      &in.defaults.pools[POOL_DEFAULT_GPU]) &&
           reads_text(reads_get(config, "default_aux_resource_pool"),
                      &in.defaults.pools[POOL_DEFAULT_CPU]) &&
           cluster_do(cluster, in) == VERDICT_OK;
}

/* The pool of the task; "": refused. */
static const char *routed(struct cluster *cluster, const struct doc *task)
{
    const char *name = "";
    const char *pool = NULL;
    const char *kind = "";
    (void)reads_text(reads_get(task, "id"), &name);
    struct task_spec spec = cluster_task(name);
    spec.slots_milli = (int64_t)det_number(task, "slots", 0) * SLOT_MILLI;
    if (reads_text(reads_get(task, "kind"), &kind) && strcmp(kind, "tensorboard") == 0) {
        spec.kind = TASK_TENSORBOARD;
        spec.slots_milli = ASK_NOTHING;
    }
    reads_note(reads_get(task, "pool"));
    if (reads_text(reads_get(task, "pool"), &pool)) {
        spec.pools = &pool;
        spec.pool_count = 1;
    }
    const task_id id = cluster_stage(cluster, spec);
    return id.v == 0 ? "" : query_pool_name(cluster->core, query_task(cluster->core, id)->pool);
}

enum outcome det_routing(struct trial *trial)
{
    struct cluster cluster;
    cluster_init(&cluster, trial->arena);
    const struct doc *tasks = reads_get(trial->test, "tasks");
    const struct doc *expect = reads_get(trial->test, "expect");
    enum outcome outcome = routing_open(&cluster, reads_get(trial->test, "config"))
                               ? CASE_PASSED
                               : trial_failed(trial, "the pools cannot be made");
    for (const struct doc *task = tasks->first; task != NULL && outcome == CASE_PASSED;
         task = task->next) {
        const char *name = "";
        const char *wanted = "";
        (void)reads_text(reads_get(task, "id"), &name);
        if (!reads_text(reads_get(expect, name), &wanted)) {
            reads_ignore(expect, name); /* null: the task is refused */
        }
        const char *got = routed(&cluster, task);
        outcome = strcmp(got, wanted) == 0
                      ? CASE_PASSED
                      : trial_failed(trial, "%s goes to '%s', not to '%s'", name, got, wanted);
    }
    cluster_done(&cluster);
    return outcome;
}

/* ---- agents that come back ---- */

enum { DEVICE_NUMBERS = 64 };

/* The device with this number; NULL: none has it. A device without a number has its place in the list. */
static const struct doc *device_of(const struct doc *devices, uint64_t number)
{
    uint64_t place = 0;
    const struct doc *device = devices == NULL ? NULL : devices->first;
    while (device != NULL && det_number(device, "id", place++) != number) {
        device = device->next;
    }
    return device;
}

/* The agent as its node. An agent that names no pool names `default`. */
static void agent_spec(const struct doc *agent, struct arena *arena, struct node_spec *node,
                       struct standing *ret)
{
    const struct doc *devices = reads_get(agent, "devices");
    *node = (struct node_spec){.name = "agent",
                               .slots_milli = SLOT_MILLI,
                               .pool = POOL_DEFAULT_NAME,
                               .boot_id = "",
                               .address = "",
                               .version = ""};
    *ret = (struct standing){.model = "", .serials = ""};
    (void)reads_text(reads_get(agent, "pool"), &node->pool);
    node->pool = node->pool[0] == '\0' ? POOL_DEFAULT_NAME : node->pool;
    node->device_count = devices == NULL ? 0 : devices->count;
    for (uint64_t number = 0, named = 0; number < DEVICE_NUMBERS && named < node->device_count;
         number++) {
        const struct doc *device = device_of(devices, number);
        const char *uuid = "-";
        const char *brand = "";
        const char *type = "";
        if (device == NULL) {
            ret->serials = arena_fmt(arena, "%s none", ret->serials);
            continue;
        }
        (void)reads_text(reads_get(device, "uuid"), &uuid);
        (void)reads_text(reads_get(device, "brand"), &brand);
        (void)reads_text(reads_get(device, "type"), &type);
        if (named++ == 0) {
            ret->model = arena_fmt(arena, "%s %s", brand, type);
        }
        ret->serials = arena_fmt(arena, "%s %s/%s/%s", ret->serials, brand, type, uuid);
    }
    ret->pool = node->pool;
    ret->devices = node->device_count;
}

/* A task that runs on the node: coming back matters only to what runs there. */
static void task_run(struct cluster *cluster, const char *pool)
{
    struct task_spec spec = cluster_task("before");
    spec.slots_milli = ASK_NOTHING;
    spec.pools = &pool;
    spec.pool_count = 1;
    cluster_queue(cluster, cluster_stage(cluster, spec));
    cluster_pass(cluster);
}

/* The agent compares what it is with what it was, and the server hears its words. */
static enum outcome comes_back(struct trial *trial, struct cluster *cluster, const char *wanted)
{
    struct node_spec known;
    struct node_spec reported;
    struct standing then;
    struct standing now;
    char trouble[TEXT_LEN_MAX + 1];
    agent_spec(reads_get(trial->test, "known"), trial->arena, &known, &then);
    agent_spec(reads_get(trial->test, "reported"), trial->arena, &reported, &now);
    if (!pool_make(cluster, known.pool) || !pool_make(cluster, reported.pool)) {
        return trial_failed(trial, "the pools cannot be made");
    }
    const node_id id = cluster_node(cluster, known);
    task_run(cluster, known.pool);
    if (query_node(cluster->core, id)->instance_count != 1) {
        return trial_failed(trial, "no task runs on the agent");
    }
    standing_change(&then, &now, trouble, sizeof trouble);
    reported.trouble = trouble;
    if (cluster_do(cluster, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &reported}}) !=
        VERDICT_OK) {
        return trial_failed(trial, "the server lets the agent not in");
    }
    struct node_spec shown;
    query_node_spec(cluster->core, id, trial->arena, &shown);
    const char *said = shown.trouble == NULL ? "" : shown.trouble;
    const bool in_service = node_takes_work(query_node(cluster->core, id));
    if (wanted == NULL) {
        return in_service ? CASE_PASSED : trial_failed(trial, "the agent says '%s'", said);
    }
    return !in_service && strstr(said, wanted) != NULL
               ? CASE_PASSED
               : trial_failed(trial, "the agent is %s, and says '%s'",
                              in_service ? "taken as it is now" : "out of service", said);
}

/* In Determined an agent whose pool or devices have changed is sent away, and what it runs is failed. In Weir the tasks
 * go on, and the node takes no new work until they have ended. */
enum outcome det_reconnect(struct trial *trial)
{
    struct cluster cluster;
    const struct doc *error = reads_get(reads_get(trial->test, "expect"), "error_contains");
    const char *wanted = NULL;
    (void)reads_text(error, &wanted);
    cluster_init(&cluster, trial->arena);
    const enum outcome outcome = comes_back(trial, &cluster, wanted);
    cluster_done(&cluster);
    return outcome;
}

/* ---- what an agent offers ---- */

/* Compares what the case names. Slots that count are those in use, and those that are free on a node in service. */
static bool slots_are(const struct cluster *cluster, const struct doc *expect)
{
    const struct pool *pool = query_pool_named(cluster->core, POOL_DEFAULT_NAME);
    struct pool_figures figures;
    query_pool_figures(cluster->core, pool->id, &figures);
    const uint64_t free = (uint64_t)(pool->slots_free / SLOT_MILLI);
    const uint64_t used = (uint64_t)(figures.slots_used / SLOT_MILLI);
    return det_number(expect, "slots", free + used) == free + used &&
           det_number(expect, "slots_used", used) == used &&
           det_number(expect, "free_slots", free) == free &&
           det_number(expect, "zero_slot_used", figures.aux_used) == figures.aux_used &&
           det_number(expect, "free_zero_slot", figures.aux_free) == figures.aux_free;
}

/* Takes the node out of service, or back. `end`: what runs there ends at once; no agent is there to say so later. */
static void drain(struct cluster *cluster, node_id node, bool on, bool end)
{
    const struct node_edit edit = {.fields =
                                       end ? NODE_EDIT_DRAIN | NODE_EDIT_BUSY : NODE_EDIT_DRAIN,
                                   .drain = on,
                                   .busy = BUSY_KILL};
    (void)cluster_do(
        cluster, (struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}});
    const struct task *task = end ? query_task_next(cluster->core, (task_id){0}) : NULL;
    for (; task != NULL; task = query_task_next(cluster->core, task->id)) {
        cluster_ended(cluster, task->id);
    }
}

/* `*last` is the task that started last: `finish` ends it. */
static void agent_step(struct cluster *cluster, node_id node, const struct doc *step, int op,
                       task_id *last)
{
    enum { START, DRAIN, ENABLE, FINISH, DISABLE };
    if (op == START) {
        struct task_spec spec = cluster_task("t");
        spec.slots_milli = (int64_t)det_number(step, "slots", 0) * SLOT_MILLI;
        *last = cluster_stage(cluster, spec);
        cluster_queue(cluster, *last);
        cluster_pass(cluster);
    } else if (op == FINISH) {
        cluster_ended(cluster, *last);
    } else {
        drain(cluster, node, op != ENABLE, op == DISABLE);
    }
}

enum outcome det_agent_slots(struct trial *trial)
{
    struct cluster cluster;
    const struct doc *agent = reads_get(trial->test, "agent");
    const struct doc *steps = reads_get(trial->test, "steps");
    cluster_init(&cluster, trial->arena);
    struct pool_spec pool = cluster_pool(&cluster);
    pool.aux_tasks = (uint32_t)det_number(agent, "max_zero_slot", 0);
    cluster_pool_set(&cluster, &pool);
    const struct node_spec spec = {
        .name = "agent", .slots_milli = (int64_t)det_number(agent, "slots", 0) * SLOT_MILLI};
    reads_ignore(agent, "id");
    const node_id node = cluster_node(&cluster, spec);
    task_id last = {0};
    enum outcome outcome = CASE_PASSED;
    for (const struct doc *step = steps->first; step != NULL && outcome == CASE_PASSED;
         step = step->next) {
        const int op = reads_word(trial, step, "op", "start|drain|enable|finish|disable");
        if (op < 0) {
            outcome = CASE_FAILED;
            break;
        }
        agent_step(&cluster, node, step, op, &last);
        if (!slots_are(&cluster, reads_get(step, "expect"))) {
            outcome = trial_failed(trial, "the agent offers something else");
        }
    }
    cluster_done(&cluster);
    return outcome;
}
