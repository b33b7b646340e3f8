/* prop_patience.c - P7: a task that can run will run, however many small tasks overtake it.
 *
 * A pool is kept full with small tasks of bounded length. Then a large task arrives. When it has
 * become the first blocked task, it must start within the pool's patience and the length of one
 * small task. Time is virtual. WEIR_SEED repeats a run, WEIR_HISTORIES sets the number of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "prop_run.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RUNS_DEFAULT = 100,
    LENGTH_MS_MAX = 4000,
    TICK_MS = 250,
    WARM_UP_MS = 5000,
    TASKS_MAX = 20000,
    COMPARED_ONCE_IN = 4, /* one run in 4 also runs with caches off and with restarts (P12) */
};

struct run {
    struct world world;
    int64_t patience_ms;
    bool short_first;
    int64_t ends_ms[TASKS_MAX]; /* by task: end without a stop; 0: the task has not started */
    task_id large;
};

static struct task_spec spec_of(int64_t slots, uint32_t instances)
{
    static const char *const argv[] = {"true"};
    static const char *const pools[] = {"default"};
    return (struct task_spec){
        .kind = TASK_COMMAND,
        .name = "",
        .user = "root",
        .project = "default",
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .pools = pools,
        .pool_count = 1,
        .slots_milli = slots * SLOT_MILLI,
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .instances = instances,
        .gang = instances > 1,
        .repeatable = true,
        .priority = PRIORITY_DEFAULT,
        .grace_ms = 1000,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
}

static task_id submit(struct run *run, const struct task_spec *spec)
{
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit = (struct submission){.specs = spec, .count = 1};
    const enum verdict verdict = world_step(&run->world, in);
    law(verdict == VERDICT_OK, "the task can run");
    return query_task_last(run->world.core);
}

static void yard_make(struct run *run)
{
    static const int64_t patience_ms[] = {0, 2000, 5000};
    struct dice *dice = &run->world.dice;
    run->patience_ms = patience_ms[dice_roll(dice, 3)];
    run->short_first = dice_once_in(dice, 2);
    const struct pool_spec pool = {.name = "default",
                                   .title = "",
                                   .description = "",
                                   .patience_ms = run->patience_ms,
                                   .order = run->short_first ? QUEUE_SHORT_FIRST : QUEUE_SUBMISSION,
                                   .aux_tasks = 100};
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.pool = query_pool_named(run->world.core, "default")->id;
    in.pool.spec = &pool;
    law(world_step(&run->world, in) == VERDICT_OK, "a pool is edited");
    const uint32_t nodes = 1 + dice_roll(dice, 4);
    for (uint32_t i = 0; i < nodes; i++) {
        struct node_spec node = {
            .name = arena_fmt(&run->world.arena, "n%u", i),
            .pool = "default",
            .slots_milli = SLOT_MILLI * (int64_t)(2 + dice_roll(dice, 7)),
            .cpu_milli = 8000,
            .memory_bytes = 1000,
            .boot_id = "",
            .address = "",
            .version = "",
        };
        node.supervisor[0] = (uint8_t)(i + 1);
        in = (struct input){.type = INPUT_NODE_JOIN};
        in.node.spec = &node;
        law(world_step(&run->world, in) == VERDICT_OK, "a node joins");
    }
}

/* Submits more small tasks than there is room for, most of them without a time limit. */
static void small_tasks_arrive(struct run *run)
{
    struct dice *dice = &run->world.dice;
    for (uint32_t i = dice_roll(dice, 6); i > 0; i--) {
        struct task_spec spec = spec_of(1 + (int64_t)dice_once_in(dice, 5), 1);
        spec.time_limit_ms = dice_once_in(dice, 4) ? LENGTH_MS_MAX : 0;
        (void)submit(run, &spec);
    }
}

static void report(struct run *run, const struct instance *instance, enum report_type type)
{
    const struct report report = {
        .type = type,
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = run->world.now_ms,
    };
    struct input in = {.type = INPUT_REPORT};
    in.report.node = instance->node;
    in.report.reports = &report;
    in.report.count = 1;
    (void)world_step(&run->world, in);
}

/* Starts allocated instances, and ends instances whose time is over. */
static void nodes_work(struct run *run)
{
    struct world *world = &run->world;
    task_id next = {0};
    for (const struct task *task = query_task_next(world->core, next); task != NULL;
         task = query_task_next(world->core, next)) {
        next = task->id;
        law(next.v < TASKS_MAX, "the run is not too long");
        const struct instance *instance = query_instance(world->core, next, 0);
        if (next.v == run->large.v || task->active_count == 0) {
            continue;
        }
        if (instance->state == INSTANCE_STARTING) {
            report(run, instance, REPORT_STARTED);
            run->ends_ms[next.v] =
                world->now_ms + 1 + (int64_t)dice_roll(&world->dice, LENGTH_MS_MAX);
        } else if (run->ends_ms[next.v] <= world->now_ms) {
            report(run, instance, REPORT_ENDED);
        }
    }
}

static void tick(struct run *run)
{
    struct input in = {.type = INPUT_PASS};
    in.pass.pool = query_pool_named(run->world.core, "default")->id;
    in.pass.work_max = UINT64_MAX;
    arena_clear(&run->world.arena);
    run->world.now_ms += TICK_MS;
    nodes_work(run);
    small_tasks_arrive(run);
    bool complete;
    do {
        (void)world_step(&run->world, in);
        const struct facts *facts = &run->world.facts;
        complete = facts->count == 0 || facts->at[facts->count - 1].pass.complete;
    } while (!complete);
}

/* Makes a task as large as the largest node, or a gang as large as all nodes. */
static struct task_spec large_roll(struct run *run)
{
    int64_t largest = 0;
    int64_t total = 0;
    for (const struct node *node = query_node_next(run->world.core, (node_id){0}); node != NULL;
         node = query_node_next(run->world.core, node->id)) {
        largest = node->slots_milli > largest ? node->slots_milli : largest;
        total += node->slots_milli;
    }
    return dice_once_in(&run->world.dice, 2) ? spec_of(largest / SLOT_MILLI, 1)
                                             : spec_of(1, (uint32_t)(total / SLOT_MILLI));
}

static int64_t run_once(uint64_t seed)
{
    struct run *run = calloc(1, sizeof *run);
    must(run != NULL);
    prop_history(seed);
    world_init(&run->world, seed, seed % COMPARED_ONCE_IN == 0 ? WORLD_TRIPLE : WORLD_ALONE);
    (void)world_step(&run->world, (struct input){.type = INPUT_SERVER_START});
    yard_make(run);
    while (run->world.now_ms < WARM_UP_MS) {
        tick(run);
    }
    const struct task_spec spec = large_roll(run);
    run->large = submit(run, &spec);
    while (query_pool_named(run->world.core, "default")->blocked_task.v != run->large.v &&
           query_task(run->world.core, run->large)->active_count == 0) {
        tick(run); /* lets the tasks ahead of the large task start */
    }
    const int64_t begin_ms = run->world.now_ms;
    /* With order short-first: half of the expected length more, and the length of one task that
     * was expected to end. */
    const int64_t more_ms = run->short_first ? LENGTH_MS_MAX / 2 + LENGTH_MS_MAX : 0;
    const int64_t limit_ms = run->patience_ms + more_ms + LENGTH_MS_MAX + 2 * TICK_MS;
    while (query_task(run->world.core, run->large)->active_count == 0) {
        tick(run);
        law(run->world.now_ms - begin_ms <= limit_ms, "P7: nobody starves");
    }
    const int64_t waited_ms = run->world.now_ms - begin_ms;
    world_done(&run->world);
    free(run);
    return waited_ms;
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, RUNS_DEFAULT);
    int64_t longest_ms = 0;
    for (uint64_t i = 0; i < run.histories; i++) {
        const int64_t waited_ms = run_once(run.seed + i);
        longest_ms = waited_ms > longest_ms ? waited_ms : longest_ms;
    }
    printf("%" PRIu64 " runs, the longest wait was %" PRId64 " ms\n", run.histories, longest_ms);
    return 0;
}
