/* pools.c - many pools that grow and shrink: what one life of a node costs with 1,000 pools, beside 10 pools with as many
 * nodes; and what a dry run costs on a large server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"
#include "world.h"

#include "core/preview.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    POOLS_FEW = 10,
    POOLS_MANY = 1000,
    NODES = 9000,  /* all have work; with the nodes that come and go fewer than 10,000 */
    LIVES = 10000, /* so many that the first search in each pool hardly counts */
    BLOCKS = 20,
    IDLE_MS = 60000,
    GROWTH_PERCENT_MAX = 150,
};

struct yard {
    struct world world;
    uint32_t pools;
    uint64_t random;
    uint64_t launches; /* asked for so far */
    uint64_t tasks;    /* submitted so far */
    int64_t block_ns[BLOCKS];
    int64_t health_ns[BLOCKS];
};

static void pool_name(uint32_t number, char *out, size_t size)
{
    (void)snprintf(out, size, "p%u", number);
}

static void pool_make(struct world *world, uint32_t number)
{
    char name[16];
    struct pool_spec spec;
    struct arena arena;
    arena_init(&arena);
    query_pool_spec(world->core, world->pool, &arena, &spec);
    pool_name(number, name, sizeof name);
    spec.name = name;
    spec.provider = POOL_LOCAL;
    spec.nodes_max = POOL_NODES_MAX;
    spec.node_slots = 1;
    spec.node_idle_ms = IDLE_MS;
    spec.max_starting_ms = 20 * 60 * 1000;
    world_do(world, (struct input){.type = INPUT_POOL_CREATE, .pool = {.spec = &spec}});
    arena_done(&arena);
}

/* The agent of a launch says hello. */
static void node_join(struct yard *yard, uint32_t pool, uint64_t launch)
{
    char name[40];
    char pool_of[16];
    pool_name(pool, pool_of, sizeof pool_of);
    (void)snprintf(name, sizeof name, "%s-%llu", pool_of, (unsigned long long)launch);
    const struct node_spec spec = {.name = name,
                                   .pool = pool_of,
                                   .slots_milli = 1000,
                                   .boot_id = "boot",
                                   .address = "127.0.0.1",
                                   .version = "1"};
    world_do(&yard->world, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}});
}

/* One task waits in the pool, a node comes for it, and the task starts there. */
static task_id node_comes(struct yard *yard, uint32_t pool)
{
    char name[16];
    const char *pools[] = {name};
    struct task_spec spec = world_task("", 1000);
    pool_name(pool, name, sizeof name);
    spec.needs_gpu = false;
    spec.pools = pools;
    spec.pool_count = 1;
    world_submit(&yard->world, &spec, 1);
    yard->tasks++;
    world_settle(&yard->world);
    node_join(yard, pool, ++yard->launches);
    world_settle(&yard->world);
    vec_clear(
        &yard->world.orders); /* the order to the provider, and the start, which is reported here */
    const task_id task = {yard->tasks};
    const struct instance *instance = query_instance(yard->world.core, task, 0);
    const struct report report = {.type = REPORT_STARTED,
                                  .key = {task, 0, instance->attempt},
                                  .incarnation = instance->incarnation,
                                  .at_ms = yard->world.now_ms};
    world_do(&yard->world,
             (struct input){.type = INPUT_REPORT, .report = {instance->node, &report, 1}});
    return task;
}

/* The task ends, and the node goes when it has had no work for long enough. */
static void node_goes(struct yard *yard, task_id task)
{
    struct world *world = &yard->world;
    const struct provider_answer gone = {
        .launch = {yard->launches}, .says = PROVIDER_GONE, .name = "", .node = "", .words = ""};
    world_end(world, task);
    world_settle(world);
    world->now_ms += IDLE_MS;
    world_do(world, (struct input){.type = INPUT_TICK});
    world_do(world, (struct input){.type = INPUT_PROVIDER, .provider = {&gone, 1}});
    world_settle(world);
    if (query_launch(world->core, gone.launch) != NULL) {
        (void)fprintf(stderr, "sched_bench: pools: a node did not go\n");
        exit(1);
    }
    vec_clear(&world->orders);
}

static void yard_init(struct yard *yard, uint32_t pools)
{
    *yard = (struct yard){.pools = pools, .random = 88172645463325252u};
    world_init(&yard->world, 0);
    for (uint32_t i = 0; i < pools; i++) {
        pool_make(&yard->world, i);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        (void)node_comes(yard, i % pools);
    }
}

static void block_play(struct yard *yard, uint32_t block)
{
    struct world *world = &yard->world;
    world->spend = (struct spend){0};
    for (uint32_t i = 0; i < LIVES / BLOCKS; i++) {
        const uint32_t pool = (uint32_t)(measure_random(&yard->random) % yard->pools);
        node_goes(yard, node_comes(yard, pool));
    }
    yard->block_ns[block] = world->spend.ns;
    world->spend = (struct spend){0};
    for (uint32_t i = 0; i < LIVES / BLOCKS; i++) {
        const uint32_t launch = (uint32_t)(measure_random(&yard->random) % NODES);
        const struct launch *row = query_launch(world->core, (launch_id){launch + 1});
        world_do(world, (struct input){.type = INPUT_NODE_SILENT, .node = {.node = row->node}});
        world_settle(world);
        node_join(yard, launch % yard->pools, launch + 1);
        world_settle(world);
    }
    yard->health_ns[block] = world->spend.ns;
}

static void growth_lines(struct bench *bench, const char *name, const int64_t *few,
                         const int64_t *many, bool barred)
{
    int64_t growth[BLOCKS];
    int64_t costs[BLOCKS];
    char text[80];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        growth[i] = 100 * many[i] / few[i];
        costs[i] = many[i] / (LIVES / BLOCKS);
    }
    (void)snprintf(text, sizeof text, "%s, 1,000 pools", name);
    table_time(bench, text, measure_percentile(costs, BLOCKS, 50), 1, NO_BAR, NULL);
    table_value(bench, "  beside 10 pools", (double)measure_percentile(growth, BLOCKS, 50) / 100,
                "x", barred ? (double)GROWTH_PERCENT_MAX / 100 : NO_BAR, NULL);
}

void pools_many(struct bench *bench)
{
    static struct yard few;
    static struct yard many;
    if (bench->nodes_max < NODES) {
        table_none("1,000 pools", "--nodes-max leaves it out");
        return;
    }
    yard_init(&few, POOLS_FEW);
    yard_init(&many, POOLS_MANY);
    for (uint32_t i = 0; i < BLOCKS; i++) { /* by turns, so that other work slows both alike */
        block_play(&few, i);
        block_play(&many, i);
    }
    growth_lines(bench, "a node comes, works and goes", few.block_ns, many.block_ns, true);
    growth_lines(bench, "a node is silent and back", few.health_ns, many.health_ns, false);
    world_done(&few.world);
    world_done(&many.world);
}

/* ---- dry runs ---- */

enum { PREVIEW_NODES = 10000, PREVIEW_TASKS = 100000, PREVIEW_MS_MAX = 500 };

static void preview_line(struct bench *bench, const struct world *world, const char *name,
                         struct input in)
{
    struct spend runs[RUNS_MAX] = {{0}};
    in.now_ms = world->now_ms;
    in.actor = "bench";
    in.cause = "";
    const struct preview_ask ask = {.inputs = &in, .count = 1};
    for (unsigned i = 0; i < bench->runs; i++) {
        struct arena arena;
        struct facts facts;
        struct preview *preview = NULL;
        arena_init(&arena);
        fact_list_init(&facts, &arena);
        const int64_t begin = measure_now_ns();
        if (preview_run(world->core, &ask, &facts, &preview) != VERDICT_OK) {
            (void)fprintf(stderr, "sched_bench: preview: refused\n");
            exit(1);
        }
        preview_free(preview);
        runs[i].ns = measure_now_ns() - begin;
        arena_done(&arena);
    }
    table_time(bench, name, measure_median(runs, bench->runs).ns, 0,
               (int64_t)PREVIEW_MS_MAX * 1000000, NULL);
}

void pools_preview(struct bench *bench)
{
    struct world world;
    struct arena arena;
    struct pool_spec spec;
    if (bench->nodes_max < PREVIEW_NODES) {
        table_none("10,000 nodes", "--nodes-max leaves it out");
        return;
    }
    world_init(&world, PREVIEW_NODES);
    world_submit_equal(&world, world_task("", 1000), PREVIEW_TASKS);
    world_settle(&world);
    world_agents(&world);
    world_settle(&world);
    arena_init(&arena);
    query_pool_spec(world.core, world.pool, &arena, &spec);
    spec.policy = POLICY_PRIORITY;
    const struct node_edit drain = {.fields = NODE_EDIT_DRAIN, .drain = true};
    const struct task_edit urgent = {.fields = TASK_EDIT_priority,
                                     .spec = &(struct task_spec){.priority = PRIORITY_DEFAULT + 1}};
    const struct task_spec task = world_task("", NODE_GPUS * 1000);
    preview_line(bench, &world, "a node is drained",
                 (struct input){.type = INPUT_NODE_EDIT, .node = {.node = {1}, .edit = &drain}});
    preview_line(
        bench, &world, "a pool gets another policy",
        (struct input){.type = INPUT_POOL_EDIT, .pool = {.pool = world.pool, .spec = &spec}});
    preview_line(bench, &world, "a waiting task becomes more urgent",
                 (struct input){.type = INPUT_TASK_EDIT,
                                .task = {.task = {PREVIEW_TASKS}, .edit = &urgent}});
    preview_line(bench, &world, "a task of a whole node is submitted",
                 (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = &task, .count = 1}});
    arena_done(&arena);
    world_done(&world);
}
