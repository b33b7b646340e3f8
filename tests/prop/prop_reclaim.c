/* prop_reclaim.c - P4 and P6 on the whole core: random organisations, nodes and tasks, with
 * agents that obey at once. In one history of four most tasks are larger than the guarantee of
 * their project. In one of sixteen the pool has 65 to 200 nodes.
 *
 * Without arrivals everything comes to rest, and then five further passes change nothing. An
 * instance is evicted only if the same pass promises the claimant its places. An account within
 * its guarantee loses nothing to others. No two tasks evict each other in turn. If a reason says that only time is missing, this is
 * true. Time is virtual.
 * SPDX-License-Identifier: Apache-2.0 */
#include "prop_run.h"
#include "rest.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    RUNS_DEFAULT = 300,
    THOROUGH_ONCE_IN = 16,
    OVERSIZED_ONCE_IN = 4,
    LARGE_ONCE_IN = 16,
    LARGE_TIMES = 30,
    WAVES = 4,
    TASKS_A_WAVE = 8,
    NAMES = 4
};

static const char *const projects[NAMES] = {"p0", "p1", "p2", "p3"};
static const pool_id pool = {1};

struct run {
    struct world world;
    bool oversized;
    bool large; /* many nodes: guarantees and gangs are as many times larger */
};

static enum verdict step(struct run *run, struct input in)
{
    return world_step(&run->world, in);
}

/* ---- making a cluster ---- */

static void pool_make(struct run *run)
{
    struct dice *dice = &run->world.dice;
    const struct pool_spec spec = {
        .name = "default",
        .title = "",
        .description = "",
        .patience_ms = dice_once_in(dice, 2) ? PATIENCE_AUTO : 60000,
        .turn_ms = dice_once_in(dice, 2) ? 0 : 5000,
        .idle_for_waiting = IDLE_FOR_WAITING,
        .loss_for_sharing = LOSS_FOR_SHARING,
        .aux_tasks = 100,
        .policy = dice_once_in(dice, 6) ? POLICY_PRIORITY : POLICY_FAIR_SHARE,
        .placement = dice_once_in(dice, 4)   ? PLACEMENT_SPREAD
                     : dice_once_in(dice, 2) ? PLACEMENT_TIGHT
                                             : PLACEMENT_PACK,
        .victims = dice_once_in(dice, 2) ? VICTIMS_LEAST_LOSS : VICTIMS_YOUNGEST,
        .consolidation_max = dice_roll(dice, 5),
        .stale_grace_ms = STALE_GRACE_MS_DEFAULT,
        .reclaim_min_runtime_ms = dice_once_in(dice, 5) ? 5000 : 0,
        .preemption_delay_ms = dice_once_in(dice, 5) ? 3000 : 0,
    };
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.pool = pool;
    in.pool.spec = &spec;
    law(step(run, in) == VERDICT_OK, "a pool is edited");
}

static void nodes_make(struct run *run)
{
    struct dice *dice = &run->world.dice;
    const uint32_t count = run->large ? 65 + dice_roll(dice, 136) : 1 + dice_roll(dice, 4);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slots = run->oversized ? 3 + dice_roll(dice, 6) : 1 + dice_roll(dice, 4);
        struct node_spec spec = {
            .name = arena_fmt(&run->world.arena, "n%u", i),
            .pool = "default",
            .slots_milli = SLOT_MILLI * (int64_t)slots,
            .device_count = dice_once_in(dice, 2) ? slots : 0,
            .cpu_milli = 8000,
            .memory_bytes = 1000,
            .boot_id = "",
            .address = "",
            .version = "",
        };
        spec.supervisor[0] = (uint8_t)(i + 1);
        struct input in = {.type = INPUT_NODE_JOIN};
        in.node.spec = &spec;
        law(step(run, in) == VERDICT_OK, "a node joins");
    }
}

static void account_make(struct run *run, enum account_kind kind, const char *name,
                         const char *parent)
{
    struct dice *dice = &run->world.dice;
    const struct account_spec spec = {
        .kind = kind, .name = name, .parent = parent, .title = "", .description = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    law(step(run, in) == VERDICT_OK, "an account is made");
    const int64_t guaranteed = SLOT_MILLI * (int64_t)dice_roll(dice, run->oversized ? 4 : 7) *
                               (run->large ? LARGE_TIMES : 1);
    const struct quota_amount amount = {
        .resource = "slots",
        .guaranteed = guaranteed,
        .limit =
            dice_once_in(dice, 5) ? guaranteed + SLOT_MILLI * dice_roll(dice, 3) : QUOTA_UNLIMITED,
        .weight = dice_roll(dice, 3) * 1000,
    };
    const struct quota_spec quota = {
        .amounts = &amount,
        .amount_count = 1,
        .rules.rank = QUOTA_RANK_DEFAULT + dice_roll(dice, 6) / 5,
        .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
        .rules.reclaim_min_runtime_ms = QUOTA_INHERIT,
    };
    in = (struct input){.type = INPUT_QUOTA_SET};
    in.quota.account = query_account_named(run->world.core, kind, name)->id;
    in.quota.pool = pool;
    in.quota.spec = &quota;
    law(step(run, in) == VERDICT_OK, "a quota is set");
}

static void organisation_make(struct run *run)
{
    static const char *const departments[2] = {"d0", "d1"};
    for (uint32_t i = 0; i < 2; i++) {
        account_make(run, ACCOUNT_DEPARTMENT, departments[i], "");
    }
    for (uint32_t i = 0; i < NAMES; i++) {
        account_make(run, ACCOUNT_PROJECT, projects[i],
                     departments[dice_roll(&run->world.dice, 2)]);
    }
}

/* Makes two or three groups of a gang, perhaps the last two within another group, some with a
 * minimum. */
static void groups_roll(struct run *run, struct task_spec *ret)
{
    enum { GROUPS = 4 };
    static const char *const names[GROUPS] = {"a", "b", "c", "d"};
    struct dice *dice = &run->world.dice;
    struct group_spec *groups = arena_new(&run->world.arena, struct group_spec, GROUPS);
    const bool nested = dice_once_in(dice, 3);
    ret->group_count = nested ? GROUPS : 2 + dice_roll(dice, 2);
    ret->groups = groups;
    ret->gang = true;
    ret->instances = 0;
    ret->min_instances = 0;
    ret->min_groups = dice_once_in(dice, 2) ? 1 + dice_roll(dice, 2) : 0;
    for (uint32_t i = 0; i < ret->group_count; i++) {
        struct task_spec *asks = arena_new(&run->world.arena, struct task_spec, 1);
        const bool above = nested && i == 1;
        *asks = *ret;
        asks->slots_milli = SLOT_MILLI * (int64_t)(1 + dice_roll(dice, 2));
        groups[i] = (struct group_spec){.name = names[i],
                                        .parent = nested && i >= 2 ? 2 : 0,
                                        .instances = above ? 0 : 1 + dice_roll(dice, 3),
                                        .asks = above || dice_once_in(dice, 2) ? NULL : asks};
        groups[i].min =
            dice_once_in(dice, 2) ? 1 + dice_roll(dice, above ? 2 : groups[i].instances) : 0;
        ret->instances += groups[i].instances;
    }
}

/* Submits a task. A task that can never run is refused. */
static void task_arrives(struct run *run)
{
    static const char *const argv[] = {"true"};
    static const char *const pools[] = {"default"};
    struct dice *dice = &run->world.dice;
    struct task_spec spec = {
        .kind = TASK_COMMAND,
        .name = "",
        .user = "root",
        .project = projects[dice_roll(dice, NAMES)],
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .pools = pools,
        .pool_count = 1,
        .slots_milli = SLOT_MILLI * (int64_t)(1 + dice_roll(dice, 3)),
        .cpu_milli = ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .instances = 1 + dice_roll(dice, 4),
        .repeatable = true,
        .preemptible = !dice_once_in(dice, 6),
        .priority = dice_once_in(dice, 3) ? 1 + dice_roll(dice, 100) : PRIORITY_DEFAULT,
        .grace_ms = 1000,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    spec.gang = dice_once_in(dice, 2);
    spec.min_instances =
        spec.gang && dice_once_in(dice, 2) ? 1 + dice_roll(dice, spec.instances) : 0;
    if (dice_once_in(dice, 6)) {
        spec.slots_milli = 100 * (int64_t)(1 + dice_roll(dice, 9));
    }
    if (run->oversized && !dice_once_in(dice, 3)) {
        spec.slots_milli = SLOT_MILLI * (int64_t)(2 + dice_roll(dice, 5));
        spec.instances = 1 + dice_roll(dice, 2);
        spec.min_instances = 0;
        spec.gang = true;
    }
    if (run->large) {
        spec.instances *= LARGE_TIMES;
        spec.min_instances *= LARGE_TIMES;
    }
    if (dice_once_in(dice, 5)) {
        groups_roll(run, &spec);
    }
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit = (struct submission){.specs = &spec, .count = 1};
    (void)step(run, in);
}

static uint64_t run_once(uint64_t seed)
{
    struct run run = {.oversized = seed % OVERSIZED_ONCE_IN == OVERSIZED_ONCE_IN - 1,
                      .large = seed % LARGE_ONCE_IN == LARGE_ONCE_IN - 2};
    prop_history(seed);
    world_init(&run.world, seed, seed % THOROUGH_ONCE_IN == 0 ? WORLD_THOROUGH : WORLD_TRIPLE);
    run.world.laws = LAWS_GANGS | LAWS_TURNS;
    (void)step(&run, (struct input){.type = INPUT_SERVER_START});
    pool_make(&run);
    nodes_make(&run);
    organisation_make(&run);
    for (uint32_t wave = 0; wave < WAVES; wave++) {
        for (uint32_t task = 0; task < TASKS_A_WAVE; task++) {
            task_arrives(&run);
        }
        run.world.now_ms += 1000;
        (void)rest_pass(&run.world, pool);
        (void)rest_answer(&run.world, false);
    }
    rest_reach(&run.world, pool);
    const uint64_t evicted = run.world.evicted_count;
    world_done(&run.world);
    return evicted;
}

int main(int argc, char **argv)
{
    const struct prop_run prop = prop_begin(argc, argv, RUNS_DEFAULT);
    uint64_t evicted = 0;
    for (uint64_t i = 0; i < prop.histories; i++) {
        evicted += run_once(prop.seed + i);
    }
    printf("%" PRIu64 " organisations, %" PRIu64 " evictions\n", prop.histories, evicted);
    return 0;
}
