/* yard.c - see yard.h. SPDX-License-Identifier: Apache-2.0 */
#include "yard.h"

#include "prop_run.h"

#include <inttypes.h>
#include <stdio.h>

void yard_begin(struct yard *yard, uint64_t seed, enum world_kind kind)
{
    prop_history(seed);
    world_init(&yard->world, seed, kind);
    (void)world_step(&yard->world, (struct input){.type = INPUT_SERVER_START});
}

void yard_patience(struct yard *yard)
{
    static const int64_t patience_ms[] = {0, 2000, 5000};
    yard->patience_ms = patience_ms[dice_roll(&yard->world.dice, 3)];
}

void yard_pool(struct yard *yard, struct pool_spec spec)
{
    spec.name = "default";
    spec.title = "";
    spec.description = "";
    spec.patience_ms = yard->patience_ms;
    spec.aux_tasks = 100;
    spec.idle_for_waiting = PERCENT_WHOLE;
    spec.loss_for_sharing = PERCENT_WHOLE;
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.pool = query_pool_named(yard->world.core, "default")->id;
    in.pool.spec = &spec;
    law(world_step(&yard->world, in) == VERDICT_OK, "a pool is edited");
}

void yard_node(struct yard *yard, uint32_t number, int64_t slots)
{
    struct node_spec node = {
        .name = arena_fmt(&yard->world.arena, "n%u", number),
        .pool = "default",
        .slots_milli = SLOT_MILLI * slots,
        .cpu_milli = 8000,
        .memory_bytes = 1000,
        .boot_id = "",
        .address = "",
        .version = "",
    };
    node.supervisor[0] = (uint8_t)(number + 1);
    struct input in = {.type = INPUT_NODE_JOIN};
    in.node.spec = &node;
    law(world_step(&yard->world, in) == VERDICT_OK, "a node joins");
}

struct task_spec yard_spec(const char *project, int64_t slots, uint32_t instances)
{
    static const char *const argv[] = {"true"};
    static const char *const pools[] = {"default"};
    return (struct task_spec){
        .kind = TASK_COMMAND,
        .name = "",
        .user = "root",
        .project = project,
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

task_id yard_submit(struct yard *yard, const struct task_spec *spec)
{
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit = (struct submission){.specs = spec, .count = 1};
    law(world_step(&yard->world, in) == VERDICT_OK, "the task can run");
    return query_task_last(yard->world.core);
}

static void report(struct yard *yard, const struct instance *instance, enum report_type type)
{
    const struct report report = {
        .type = type,
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = yard->world.now_ms,
    };
    struct input in = {.type = INPUT_REPORT};
    in.report.node = instance->node;
    in.report.reports = &report;
    in.report.count = 1;
    (void)world_step(&yard->world, in);
}

static void nodes_work(struct yard *yard)
{
    struct world *world = &yard->world;
    task_id next = {0};
    for (const struct task *task = query_task_next(world->core, next); task != NULL;
         task = query_task_next(world->core, next)) {
        next = task->id;
        law(next.v < YARD_TASKS_MAX, "the run is not too long");
        const struct instance *instance = query_instance(world->core, next, 0);
        if (next.v == yard->large.v || task->active_count == 0) {
            continue;
        }
        if (instance->state == INSTANCE_STARTING) {
            report(yard, instance, REPORT_STARTED);
            yard->ends_ms[next.v] =
                world->now_ms + 1 + (int64_t)dice_roll(&world->dice, YARD_LENGTH_MS_MAX);
        } else if (instance->state == INSTANCE_STOPPING || yard->ends_ms[next.v] <= world->now_ms) {
            report(yard, instance, REPORT_ENDED);
        }
    }
}

void yard_tick(struct yard *yard, void (*arrive)(struct yard *yard))
{
    struct input in = {.type = INPUT_PASS};
    in.pass.pool = query_pool_named(yard->world.core, "default")->id;
    in.pass.work_max = UINT64_MAX;
    arena_clear(&yard->world.arena);
    yard->world.now_ms += YARD_TICK_MS;
    nodes_work(yard);
    arrive(yard);
    bool complete;
    do {
        (void)world_step(&yard->world, in);
        const struct facts *facts = &yard->world.facts;
        complete = facts->count == 0 || facts->at[facts->count - 1].pass.complete;
    } while (!complete);
}

int yard_main(int argc, char **argv, uint64_t runs, int64_t (*run_once)(uint64_t seed))
{
    const struct prop_run run = prop_begin(argc, argv, runs);
    int64_t longest_ms = 0;
    for (uint64_t i = 0; i < run.histories; i++) {
        const int64_t waited_ms = run_once(run.seed + i);
        longest_ms = waited_ms > longest_ms ? waited_ms : longest_ms;
    }
    printf("%" PRIu64 " runs, the longest wait was %" PRId64 " ms\n", run.histories, longest_ms);
    return 0;
}
