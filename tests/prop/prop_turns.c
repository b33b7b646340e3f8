/* prop_turns.c - P7 between projects, and for tasks that wait for quota. A large task starts,
 * however many small tasks its own project and others have ready, under any policy.
 *
 * Several projects keep a pool busy with small tasks of bounded length. Then one of them submits
 * a large task to which it has a right. When no task of its own project is ahead, the large task
 * must start within a turn of each project. Time is virtual. WEIR_SEED repeats a run,
 * WEIR_HISTORIES sets the number of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tape.h"
#include "yard.h"

#include <stdlib.h>

enum {
    RUNS_DEFAULT = 1000,
    WARM_UP_MS = 3000,
    PROJECTS = 3,
    YARD_NODES_MAX = 4,
};

static const char *const names[PROJECTS] = {"a", "b", "c"};

struct run {
    struct yard yard;
    bool limited; /* the large task waits for its project's limit, not for room */
    uint32_t owner;
    int64_t slots; /* slots of the pool */
    int64_t large_slots;
};

static task_id submit(struct run *run, uint32_t project, int64_t slots, uint32_t instances)
{
    struct task_spec spec = yard_spec(names[project], slots, instances);
    spec.preemptible = true;
    return yard_submit(&run->yard, &spec);
}

/* ---- making a cluster ---- */

static void pool_make(struct run *run)
{
    static const enum pool_policy policies[] = {POLICY_FAIR_SHARE, POLICY_FAIR_SHARE,
                                                POLICY_ROUND_ROBIN, POLICY_PRIORITY, POLICY_FIFO};
    struct dice *dice = &run->yard.world.dice;
    yard_patience(&run->yard);
    const enum pool_policy policy = policies[dice_roll(dice, 5)];
    yard_pool(&run->yard,
              (struct pool_spec){.policy = policy, .preemption_off = dice_once_in(dice, 2)});
}

static int64_t nodes_make(struct run *run)
{
    struct dice *dice = &run->yard.world.dice;
    const uint32_t nodes = 1 + dice_roll(dice, YARD_NODES_MAX);
    const int64_t each = 2 + (int64_t)dice_roll(dice, 7);
    for (uint32_t i = 0; i < nodes; i++) {
        yard_node(&run->yard, i, each);
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
    law(world_step(&run->yard.world, in) == VERDICT_OK, "an account is made");
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
    in.quota.account = query_account_named(run->yard.world.core, kind, name)->id;
    in.quota.pool = query_pool_named(run->yard.world.core, "default")->id;
    in.quota.spec = &quota;
    law(world_step(&run->yard.world, in) == VERDICT_OK, "a quota is set");
}

/* Makes the pool and the projects. The large task is as large as a node, or a gang of whole
 * nodes. Its project has a right to that much, and the others share the rest. The first two
 * projects are in one department, which is guaranteed as much as both. */
static uint32_t yard_make(struct run *run)
{
    struct dice *dice = &run->yard.world.dice;
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

/* About as many small tasks as there is room for, now from this project, now from that. */
static void small_tasks_arrive(struct yard *yard)
{
    struct run *run = (struct run *)yard; /* its first member */
    struct dice *dice = &run->yard.world.dice;
    const uint32_t most = 1 + (uint32_t)(run->slots * 2 * YARD_TICK_MS / YARD_LENGTH_MS_MAX) * 2;
    for (uint32_t i = dice_roll(dice, most + 1); i > 0; i--) {
        (void)submit(run, dice_roll(dice, PROJECTS), 1, 1);
    }
}

/* Tasks of its own project that wait and were there before it. */
static uint32_t older_waiting(const struct run *run)
{
    const struct core *core = run->yard.world.core;
    const struct task *large = query_task(core, run->yard.large);
    uint32_t count = 0;
    for (const struct task *task = query_task_next(core, (task_id){0});
         task != NULL && task->id.v < run->yard.large.v; task = query_task_next(core, task->id)) {
        count += task->waiting_count > 0 && task->account.v == large->account.v;
    }
    return count;
}

static bool large_runs(const struct run *run)
{
    return query_task(run->yard.world.core, run->yard.large)->active_count > 0;
}

static int64_t run_once(uint64_t seed)
{
    struct run *run = calloc(1, sizeof *run);
    must(run != NULL);
    yard_begin(&run->yard, seed, WORLD_ALONE);
    const uint32_t instances = yard_make(run);
    while (run->yard.world.now_ms < WARM_UP_MS) {
        yard_tick(&run->yard, small_tasks_arrive);
    }
    run->yard.large = submit(run, run->owner, run->large_slots, instances);
    while (!large_runs(run) && older_waiting(run) > 0) {
        yard_tick(&run->yard, small_tasks_arrive); /* those ahead of it go first */
    }
    const int64_t begin_ms = run->yard.world.now_ms;
    const int64_t turn_ms = run->yard.patience_ms + YARD_LENGTH_MS_MAX + 2 * YARD_TICK_MS;
    /* A turn of each project, and one more should what its own hold now let others pass it by. */
    const int64_t limit_ms = turn_ms * (PROJECTS + 1);
    tape_does(&run->yard.world, "starts-by", run->yard.large.v, (uint64_t)(begin_ms + limit_ms));
    tape_done(&run->yard.world);
    while (!large_runs(run)) {
        yard_tick(&run->yard, small_tasks_arrive);
        law(run->yard.world.now_ms - begin_ms <= limit_ms, "P7: nobody starves between projects");
    }
    const int64_t waited_ms = run->yard.world.now_ms - begin_ms;
    world_done(&run->yard.world);
    free(run);
    return waited_ms;
}

int main(int argc, char **argv)
{
    return yard_main(argc, argv, RUNS_DEFAULT, run_once);
}
