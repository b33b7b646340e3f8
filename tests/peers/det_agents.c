/* det_agents.c - cases of Determined about agents and pools: which pool a task gets, agents that come back, and what an agent
 * offers while it is drained.
 * SPDX-License-Identifier: Apache-2.0 */
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
        (void)reads_text(reads_get(expect, name), &wanted);
        const char *got = routed(&cluster, task);
        outcome = strcmp(got, wanted) == 0
                      ? CASE_PASSED
                      : trial_failed(trial, "%s goes to '%s', not to '%s'", name, got, wanted);
    }
    cluster_done(&cluster);
    return outcome;
}

/* ---- agents that come back ---- */

/* The agent as its node. Devices are counted: Weir knows their number, and their model as a label. */
static void agent_spec(const struct doc *agent, struct arena *arena, struct node_spec *ret)
{
    const struct doc *devices = reads_get(agent, "devices");
    struct label *label = arena_new(arena, struct label, 1);
    *ret = (struct node_spec){
        .name = "agent", .slots_milli = SLOT_MILLI, .boot_id = "", .address = "", .version = ""};
    (void)reads_text(reads_get(agent, "pool"), &ret->pool);
    for (const struct doc *device = devices == NULL ? NULL : devices->first; device != NULL;
         device = device->next) {
        reads_ignore(device, "id");    /* the place in the list */
        reads_ignore(device, "uuid");  /* no decision depends on it */
        reads_ignore(device, "brand"); /* likewise */
        label->key = "gpu.model";
        (void)reads_text(reads_get(device, "type"), &label->value);
        ret->device_count++;
    }
    ret->labels = label;
    ret->label_count = devices != NULL;
}

enum outcome det_reconnect(struct trial *trial)
{
    struct cluster cluster;
    struct node_spec known;
    struct node_spec reported;
    const struct doc *error = reads_get(reads_get(trial->test, "expect"), "error_contains");
    cluster_init(&cluster, trial->arena);
    agent_spec(reads_get(trial->test, "known"), trial->arena, &known);
    agent_spec(reads_get(trial->test, "reported"), trial->arena, &reported);
    bool made = reported.pool == NULL || pool_make(&cluster, reported.pool);
    (void)cluster_node(&cluster, known);
    const struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &reported}};
    const bool accepted = made && cluster_do(&cluster, in) == VERDICT_OK;
    cluster_done(&cluster);
    reads_note(error); /* the words are Determined's own */
    const bool wanted = error == NULL || error->kind == DOC_NULL;
    return accepted == wanted ? CASE_PASSED
                              : trial_failed(trial, "the agent is %s",
                                             accepted ? "taken as it is now" : "refused");
}

/* ---- what an agent offers ---- */

static bool slots_are(const struct cluster *cluster, const struct doc *expect)
{
    const struct pool *pool = query_pool_named(cluster->core, POOL_DEFAULT_NAME);
    struct pool_figures figures;
    query_pool_figures(cluster->core, pool->id, &figures);
    return (int64_t)det_number(expect, "free_slots", 0) * SLOT_MILLI == pool->slots_free &&
           det_number(expect, "free_zero_slot", 0) == figures.aux_free;
}

static void drain(struct cluster *cluster, node_id node, bool on)
{
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = on};
    (void)cluster_do(
        cluster, (struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}});
}

/* `*last` is the task that started last: `finish` ends it. */
static void agent_step(struct cluster *cluster, node_id node, const struct doc *step, int op,
                       task_id *last)
{
    if (op == 0) {
        struct task_spec spec = cluster_task("t");
        spec.slots_milli = (int64_t)det_number(step, "slots", 0) * SLOT_MILLI;
        *last = cluster_stage(cluster, spec);
        cluster_queue(cluster, *last);
        cluster_pass(cluster);
    } else if (op == 3) {
        cluster_ended(cluster, *last);
    } else {
        drain(cluster, node, op == 1);
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
        const int op = reads_word(trial, step, "op", "start|drain|enable|finish");
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
