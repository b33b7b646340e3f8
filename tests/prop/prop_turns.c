/* prop_turns.c - P7 between projects, and for tasks that wait for quota. A large task starts,
 * however many small tasks its own project and others have ready, under any policy.
 *
 * Several projects keep a pool busy with small tasks of bounded length. Then one of them submits
 * a large task to which it has a right. When no task of its own project is ahead, the large task
 * must start within a turn of each project. Time is virtual. WEIR_SEED repeats a run,
 * WEIR_HISTORIES sets the number of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "prop_run.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RUNS_DEFAULT = 1000,
    LENGTH_MS_MAX = 4000,
    TICK_MS = 250,
    WARM_UP_MS = 3000,
    TASKS_MAX = 20000,
    PROJECTS = 3,
    YARD_NODES_MAX = 4,
};

static const char *const names[PROJECTS] = {"a", "b", "c"};

struct run {
    struct world world;
    int64_t patience_ms;
    bool limited; /* the large task waits for its project's limit, not for room */
    uint32_t owner;
    int64_t slots; /* slots of the pool */
    int64_t large_slots;
    int64_t ends_ms[TASKS_MAX]; /* by task: end without a stop; 0: the task does not run */
    task_id large;
};

static task_id submit(struct run *run, uint32_t project, int64_t slots, uint32_t instances)
{
    static const char *const argv[] = {"true"};
    static const char *const pools[] = {"default"};
    const struct task_spec spec = {
        .kind = TASK_COMMAND,
        .name = "",
        .user = "root",
        .project = names[project],
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
        .preemptible = true,
        .repeatable = true,
        .priority = PRIORITY_DEFAULT,
        .grace_ms = 1000,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit = (struct submission){.specs = &spec, .count = 1};
    law(world_step(&run->world, in) == VERDICT_OK, "the task can run");
    return query_task_last(run->world.core);
}

/* ---- making a cluster ---- */

static void pool_make(struct run *run)
{
    static const int64_t patience_ms[] = {0, 2000, 5000};
    static const enum pool_policy policies[] = {POLICY_FAIR_SHARE, POLICY_FAIR_SHARE,
                                                POLICY_ROUND_ROBIN, POLICY_PRIORITY, POLICY_FIFO};
    struct dice *dice = &run->world.dice;
    run->patience_ms = patience_ms[dice_roll(dice, 3)];
    const struct pool_spec pool = {.name = "default",
                                   .title = "",
                                   .description = "",
                                   .policy = policies[dice_roll(dice, 5)],
                                   .preemption_off = dice_once_in(dice, 2),
                                   .patience_ms = run->patience_ms,
                                   .aux_tasks = 100};
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.pool = query_pool_named(run->world.core, "default")->id;
    in.pool.spec = &pool;
    law(world_step(&run->world, in) == VERDICT_OK, "a pool is edited");
}

static int64_t nodes_make(struct run *run)
{
    struct dice *dice = &run->world.dice;
    const uint32_t nodes = 1 + dice_roll(dice, YARD_NODES_MAX);
    const int64_t each = 2 + (int64_t)dice_roll(dice, 7);
    for (uint32_t i = 0; i < nodes; i++) {
        struct node_spec node = {
            .name = arena_fmt(&run->world.arena, "n%u", i),
            .pool = "default",
            .slots_milli = SLOT_MILLI * each,
            .cpu_milli = 8000,
            .memory_bytes = 1000,
            .boot_id = "",
            .address = "",
            .version = "",
        };
        node.supervisor[0] = (uint8_t)(i + 1);
        struct input in = {.type = INPUT_NODE_JOIN};
        in.node.spec = &node;
        law(world_step(&run->world, in) == VERDICT_OK, "a node joins");
    }
    run->slots = each * nodes;
    return each;
}

static void account_make(struct run *run, enum account_kind kind, const char *name,
                         const char *parent, int64_t guaranteed, int64_t limit)
{
    const struct account_spec spec = {
        .kind = kind, .name = name, .parent = parent, .title = "", .description = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    law(world_step(&run->world, in) == VERDICT_OK, "an account is made");
    const struct quota_amount amount = {.resource = "slots",
                                        .guaranteed = guaranteed * SLOT_MILLI,
                                        .limit = limit,
                                        .weight = QUOTA_WEIGHT_DEFAULT};
    const struct quota_spec quota = {.amounts = &amount,
                                     .amount_count = 1,
                                     .rules.rank = QUOTA_RANK_DEFAULT,
                                     .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                                     .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    in = (struct input){.type = INPUT_QUOTA_SET};
    in.quota.account = query_account_named(run->world.core, kind, name)->id;
    in.quota.pool = query_pool_named(run->world.core, "default")->id;
    in.quota.spec = &quota;
    law(world_step(&run->world, in) == VERDICT_OK, "a quota is set");
}

/* Makes the pool and the projects. The large task is as large as a node, or a gang of whole
 * nodes. Its project has a right to that much, and the others share the rest. The first two
 * projects are in one department, which is guaranteed as much as both. */
static uint32_t yard_make(struct run *run)
{
    struct dice *dice = &run->world.dice;
    pool_make(run);
    const int64_t each = nodes_make(run);
    const uint32_t instances = 1 + dice_roll(dice, (uint32_t)(run->slots / each));
    const int64_t large = each * instances;
    int64_t guaranteed[PROJECTS];
    run->large_slots = each;
    run->limited = dice_once_in(dice, 3);
    run->owner = dice_roll(dice, PROJECTS);
    for (uint32_t i = 0; i < PROJECTS; i++) {
        const uint32_t rest = (uint32_t)(run->slots - large);
        guaranteed[i] = i == run->owner ? large : (int64_t)dice_roll(dice, rest / 2 + 1);
    }
    account_make(run, ACCOUNT_DEPARTMENT, "d", "", guaranteed[0] + guaranteed[1], QUOTA_UNLIMITED);
    for (uint32_t i = 0; i < PROJECTS; i++) {
        const bool limited = i == run->owner && run->limited;
        account_make(run, ACCOUNT_PROJECT, names[i], i < 2 ? "d" : "default", guaranteed[i],
                     limited ? large * SLOT_MILLI : QUOTA_UNLIMITED);
    }
    return instances;
}

/* ---- the work ---- */

/* Submits about as many small tasks as there is room for, from changing projects. */
static void small_tasks_arrive(struct run *run)
{
    struct dice *dice = &run->world.dice;
    const uint32_t most = 1 + (uint32_t)(run->slots * 2 * TICK_MS / LENGTH_MS_MAX) * 2;
    for (uint32_t i = dice_roll(dice, most + 1); i > 0; i--) {
        (void)submit(run, dice_roll(dice, PROJECTS), 1, 1);
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

/* Starts allocated instances, and ends instances that were told to stop or whose time is over. */
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
        } else if (instance->state == INSTANCE_STOPPING || run->ends_ms[next.v] <= world->now_ms) {
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

/* Counts waiting tasks of the large task's project that were submitted before it. */
static uint32_t older_waiting(const struct run *run)
{
    const struct core *core = run->world.core;
    const struct task *large = query_task(core, run->large);
    uint32_t count = 0;
    for (const struct task *task = query_task_next(core, (task_id){0});
         task != NULL && task->id.v < run->large.v; task = query_task_next(core, task->id)) {
        count += task->waiting_count > 0 && task->account.v == large->account.v;
    }
    return count;
}

static bool large_runs(const struct run *run)
{
    return query_task(run->world.core, run->large)->active_count > 0;
}

static int64_t run_once(uint64_t seed)
{
    struct run *run = calloc(1, sizeof *run);
    must(run != NULL);
    prop_history(seed);
    world_init(&run->world, seed, WORLD_ALONE);
    (void)world_step(&run->world, (struct input){.type = INPUT_SERVER_START});
    const uint32_t instances = yard_make(run);
    while (run->world.now_ms < WARM_UP_MS) {
        tick(run);
    }
    run->large = submit(run, run->owner, run->large_slots, instances);
    while (!large_runs(run) && older_waiting(run) > 0) {
        tick(run); /* lets the tasks ahead of the large task start */
    }
    const int64_t begin_ms = run->world.now_ms;
    const int64_t turn_ms = run->patience_ms + LENGTH_MS_MAX + 2 * TICK_MS;
    /* One turn of each project, and one more in case the amounts that its own project holds let
     * others overtake it. */
    const int64_t limit_ms = turn_ms * (PROJECTS + 1);
    while (!large_runs(run)) {
        tick(run);
        law(run->world.now_ms - begin_ms <= limit_ms, "P7: nobody starves between projects");
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
