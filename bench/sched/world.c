/* world.c - a cluster that exists only in a core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    PASS_WORK_MAX = 20000, /* as in the server */
    PASSES_MAX = 100000, /* with more passes in one settling, the scheduler does not come to rest */
    SUBMIT_BATCH = 10000,
};

static void give_up(const char *what, const char *why)
{
    (void)fprintf(stderr, "sched_bench: %s: %s\n", what, why);
    exit(1);
}

static void orders_add(struct world *world)
{
    for (size_t i = 0; i < world->effects.count; i++) {
        if (world->effects.at[i].type != EFFECT_ARCHIVE) {
            vec_push(&world->orders, world->effects.at[i]);
        }
    }
    world->effects.count = 0;
}

static void facts_count(struct spend *spend, const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        spend->starts += facts->at[i].type == FACT_ALLOCATED;
        spend->claims += facts->at[i].type == FACT_CLAIMED;
        spend->evictions += facts->at[i].type == FACT_EVICTED;
    }
}

void world_do(struct world *world, struct input in)
{
    in.now_ms = world->now_ms;
    in.actor = "bench";
    in.cause = "";
    const int64_t begin = measure_now_ns();
    arena_clear(&world->arena);
    fact_list_init(&world->facts, &world->arena);
    if (core_decide(world->core, &in, &world->facts) != VERDICT_OK) {
        give_up("refused", names_reason(world->facts.refusal.code));
    }
    for (size_t i = 0; i < world->facts.count; i++) {
        core_apply(world->core, &world->facts.at[i]);
        core_react(world->core, &world->facts.at[i], &world->effects);
    }
    if (in.type == INPUT_PASS && world->facts.count == 0) {
        core_pass_idle(world->core, in.pass.pool);
    }
    world->spend.ns += measure_now_ns() - begin;
    world->spend.inputs++;
    world->spend.passes += in.type == INPUT_PASS;
    world->spend.visited += world->facts.visited;
    facts_count(&world->spend, &world->facts);
    orders_add(world);
}

/* ---- making a cluster ---- */

static void node_join(struct world *world, uint32_t number)
{
    char name[16];
    (void)snprintf(name, sizeof name, "n%05u", number);
    struct node_spec spec = {.name = name,
                             .pool = POOL_DEFAULT_NAME,
                             .slots_milli = NODE_GPUS * 1000,
                             .cpu_milli = NODE_GPUS * 12000,
                             .memory_bytes = (int64_t)NODE_GPUS << 36,
                             .gpu_memory_bytes = (int64_t)80 << 30,
                             .device_count = NODE_GPUS,
                             .boot_id = "boot",
                             .address = "127.0.0.1",
                             .version = "1"};
    world_do(world, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}});
}

/* Sets the pool's fields, whatever the defaults of a first pool are, so that tasks may reclaim. */
void world_patience(struct world *world, int64_t patience_ms)
{
    const struct pool_spec spec = {.name = POOL_DEFAULT_NAME,
                                   .placement = PLACEMENT_TIGHT,
                                   .title = "",
                                   .description = "",
                                   .patience_ms = patience_ms,
                                   .idle_for_waiting = PERCENT_WHOLE,
                                   .loss_for_sharing = PERCENT_WHOLE,
                                   .aux_tasks = NODE_AUX_TASKS_DEFAULT,
                                   .consolidation_max = CONSOLIDATION_DEFAULT,
                                   .stale_grace_ms = STALE_GRACE_MS_DEFAULT};
    world->pool = query_pool_named(world->core, POOL_DEFAULT_NAME)->id;
    world_do(world,
             (struct input){.type = INPUT_POOL_EDIT, .pool = {.pool = world->pool, .spec = &spec}});
}

void world_init(struct world *world, uint32_t nodes)
{
    *world = (struct world){.core = core_new(), .now_ms = 1000};
    arena_init(&world->arena);
    world_do(world, (struct input){.type = INPUT_SERVER_START, .server = {.server_uuid = {1}}});
    world_patience(world, 60000);
    for (uint32_t i = 0; i < nodes; i++) {
        node_join(world, i);
    }
    world->spend = (struct spend){0};
}

void world_done(struct world *world)
{
    core_free(world->core);
    effect_done(&world->effects);
    arena_done(&world->arena);
    vec_done(&world->orders);
}

static account_id account_make(struct world *world, enum account_kind kind, const char *name,
                               const char *parent)
{
    const struct account_spec spec = {
        .kind = kind, .name = name, .parent = parent, .title = "", .description = ""};
    world_do(world, (struct input){.type = INPUT_ACCOUNT_SET, .account = {.spec = &spec}});
    return query_account_named(world->core, kind, name)->id;
}

account_id world_department(struct world *world, const char *name)
{
    return account_make(world, ACCOUNT_DEPARTMENT, name, "");
}

account_id world_project(struct world *world, const char *name, const char *department)
{
    return account_make(world, ACCOUNT_PROJECT, name, department);
}

void world_quota(struct world *world, account_id account, uint32_t gpus, uint32_t weight)
{
    const struct quota_amount amount = {.resource = "slots",
                                        .guaranteed = (int64_t)gpus * 1000,
                                        .limit = QUOTA_UNLIMITED,
                                        .weight = weight};
    const struct quota_spec spec = {.amounts = &amount,
                                    .amount_count = 1,
                                    .rules.rank = QUOTA_RANK_DEFAULT,
                                    .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                                    .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    world_do(world,
             (struct input){.type = INPUT_QUOTA_SET, .quota = {account, world->pool, &spec}});
}

struct task_spec world_task(const char *project, int64_t gpus_milli)
{
    static const char *const argv[] = {"./train.sh", "--epochs", "90"};
    return (struct task_spec){.kind = TASK_COMMAND,
                              .name = "train",
                              .user = "user",
                              .project = project,
                              .image = "",
                              .workdir = "/home/user",
                              .argv = argv,
                              .argv_count = 3,
                              .slots_milli = gpus_milli,
                              .cpu_milli = ASK_NOTHING,
                              .memory_bytes = ASK_NOTHING,
                              .needs_gpu = gpus_milli > 0,
                              .instances = 1,
                              .preemptible = true,
                              .repeatable = true,
                              .priority = PRIORITY_DEFAULT,
                              .grace_ms = GRACE_MS_DEFAULT,
                              .stale_grace_ms = STALE_GRACE_POOL,
                              .preemption_delay_ms = PREEMPTION_DELAY_POOL};
}

void world_submit(struct world *world, const struct task_spec *specs, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += SUBMIT_BATCH) {
        const uint32_t left = count - done;
        const struct submission submit = {.specs = specs + done,
                                          .count = left < SUBMIT_BATCH ? left : SUBMIT_BATCH};
        world_do(world, (struct input){.type = INPUT_TASK_SUBMIT, .submit = submit});
    }
}

void world_submit_equal(struct world *world, struct task_spec spec, uint32_t count)
{
    struct task_spec *specs = xcalloc(count, sizeof *specs);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = spec;
    }
    world_submit(world, specs, count);
    free(specs);
}

/* ---- running a cluster ---- */

void world_settle(struct world *world)
{
    pool_id pool;
    for (unsigned i = 0; query_pass_due(world->core, world->now_ms, &pool); i++) {
        if (i == PASSES_MAX) {
            give_up("passes", "they do not come to an end");
        }
        const struct input in = {.type = INPUT_PASS, .pass = {pool, PASS_WORK_MAX}};
        world_do(world, in);
    }
}

static int by_node(const void *a, const void *b)
{
    const struct effect *x = a;
    const struct effect *y = b;
    if (x->node.v != y->node.v) {
        return x->node.v < y->node.v ? -1 : 1;
    }
    if (x->key.task.v != y->key.task.v) {
        return x->key.task.v < y->key.task.v ? -1 : 1;
    }
    return (x->key.index > y->key.index) - (x->key.index < y->key.index);
}

static struct report report_of(const struct world *world, const struct effect *order)
{
    const bool start = order->type == EFFECT_START;
    return (struct report){.type = start ? REPORT_STARTED : REPORT_ENDED,
                           .key = order->key,
                           .incarnation = order->incarnation,
                           .at_ms = world->now_ms,
                           .exit_code = start ? 0 : 143};
}

void world_agents(struct world *world)
{
    VEC(struct effect) orders = {world->orders.at, world->orders.count, world->orders.room};
    VEC(struct report) reports = {0};
    world->orders.at = NULL;
    world->orders.count = 0;
    world->orders.room = 0;
    world->now_ms++;
    qsort(orders.at, orders.count, sizeof orders.at[0], by_node);
    for (size_t i = 0; i < orders.count; i++) {
        vec_push(&reports, report_of(world, &orders.at[i]));
        const node_id node = orders.at[i].node;
        if (i + 1 == orders.count || orders.at[i + 1].node.v != node.v) {
            world_do(world, (struct input){.type = INPUT_REPORT,
                                           .report = {node, reports.at, (uint32_t)reports.count}});
            vec_clear(&reports);
        }
    }
    vec_done(&reports);
    vec_done(&orders);
}

bool world_runs(const struct world *world, task_id task)
{
    const struct instance *instance = query_instance(world->core, task, 0);
    return instance != NULL && instance->state == INSTANCE_RUNNING;
}

void world_end(struct world *world, task_id task)
{
    const struct instance *instance = query_instance(world->core, task, 0);
    const struct report report = {.type = REPORT_ENDED,
                                  .key = {task, 0, instance->attempt},
                                  .incarnation = instance->incarnation,
                                  .at_ms = world->now_ms};
    world_do(world, (struct input){.type = INPUT_REPORT, .report = {instance->node, &report, 1}});
}
