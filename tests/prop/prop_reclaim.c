/* prop_reclaim.c - P4 and P6 on the whole core: random organisations, nodes and tasks, with
 * agents that obey at once. In one history of four most tasks are larger than the guarantee of
 * their project.
 *
 * Without arrivals everything comes to rest, and then five further passes change nothing. An
 * instance is evicted only if the same pass promises the claimant its places. An account within
 * its guarantee loses nothing to others. No two tasks evict each other in turn. If a reason says that only time is missing, this is
 * true. Time is virtual.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_wait.h"
#include "oracle.h"
#include "prop_run.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    RUNS_DEFAULT = 300,
    THOROUGH_ONCE_IN = 16,
    OVERSIZED_ONCE_IN = 4,
    WAVES = 4,
    TASKS_A_WAVE = 8,
    ROUNDS_MAX = 300,
    QUIET = 5,
    NAMES = 4
};

static const char *const projects[NAMES] = {"p0", "p1", "p2", "p3"};
static const pool_id pool = {1};

enum { TASKS_MAX = WAVES * TASKS_A_WAVE, ACCOUNTS_MAX_HERE = 16 };

struct run {
    struct world world;
    bool oversized;
    bool took[TASKS_MAX + 1][TASKS_MAX + 1]; /* [claimant][victim], since the last arrival */
    /* [claimant][account]: the account paid for the claimant by its share, and lost nothing by
     * other rules since */
    bool paid[TASKS_MAX + 1][ACCOUNTS_MAX_HERE];
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
        .patience_ms = dice_once_in(dice, 2) ? 0 : 60000,
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
    const uint32_t count = 1 + dice_roll(dice, 4);
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
    const int64_t guaranteed = SLOT_MILLI * (int64_t)dice_roll(dice, run->oversized ? 4 : 7);
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
    if (dice_once_in(dice, 5)) {
        groups_roll(run, &spec);
    }
    struct input in = {.type = INPUT_TASK_SUBMIT};
    in.submit = (struct submission){.specs = &spec, .count = 1};
    (void)step(run, in);
}

/* ---- the laws ---- */

/* No node is lost in this test, so no gang breaks. */
static void gangs_check(const struct core *core)
{
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        law(!oracle_grouped(core, task) || !oracle_groups_broken(core, task),
            "P2: what goes or comes of a gang leaves all of its groups with their minimum");
    }
}

/* True when the task runs with all of its instances or not at all. */
static bool runs_whole(const struct run *run, uint64_t id)
{
    const struct task *task = query_task(run->world.core, (task_id){id});
    return task->gang && task->min_count == task->instance_count;
}

/* P6: without arrivals no two tasks evict each other in turn. Only tasks that run as a whole are
 * judged: of other tasks some instances may have been lent places in between. */
static void turns_check(struct run *run)
{
    for (size_t i = 0; i < run->world.facts.count; i++) {
        const struct fact *fact = &run->world.facts.at[i];
        if (fact->type != FACT_EVICTED || fact->evicted.why.rule == EVICT_STALE ||
            fact->evicted.why.rule == EVICT_CONSOLIDATE) {
            continue; /* a moved task keeps a place */
        }
        const uint64_t victim = fact->evicted.key.task.v;
        const uint64_t claimant = fact->evicted.why.claimant.v;
        law(victim <= TASKS_MAX, "every task has a number of this history");
        law(claimant <= TASKS_MAX, "every claimant has a number of this history");
        if (!runs_whole(run, victim) || !runs_whole(run, claimant)) {
            continue;
        }
        law(!run->took[victim][claimant], "P6: no two evict each other in turn");
        run->took[claimant][victim] = true;
    }
}

/* Notes an eviction. The account that pays, the account of the victim and the accounts between
 * may now have a right that they did not have before. */
static void paid_note(struct run *run, const struct fact *fact)
{
    const struct core *core = run->world.core;
    const struct eviction *why = &fact->evicted.why;
    account_id at = query_task(core, fact->evicted.key.task)->account;
    for (; at.v != 0; at = query_account(core, at)->parent) {
        law(at.v < ACCOUNTS_MAX_HERE, "every account has a number of this history");
        if (why->rule == EVICT_SHARE && at.v == why->victim.account.v) {
            run->paid[why->claimant.v][at.v] = true;
            return;
        }
        for (uint32_t task = 0; task <= TASKS_MAX; task++) {
            run->paid[task][at.v] = false;
        }
    }
}

/* P6: an account that paid for a claim on surplus does not take the place back by its guarantee. */
static void floors_check(struct run *run)
{
    for (size_t i = 0; i < run->world.facts.count; i++) {
        const struct fact *fact = &run->world.facts.at[i];
        if (fact->type != FACT_EVICTED || fact->evicted.why.rule == EVICT_STALE ||
            fact->evicted.why.rule == EVICT_CONSOLIDATE) {
            continue;
        }
        const struct eviction *why = &fact->evicted.why;
        law(why->rule != EVICT_GUARANTEE ||
                !run->paid[fact->evicted.key.task.v][why->taker.account.v],
            "P6: who paid by its share does not take back by its guarantee");
        paid_note(run, fact);
    }
}

static bool pass(struct run *run)
{
    struct input in = {.type = INPUT_PASS};
    in.pass.pool = pool;
    in.pass.work_max = UINT64_MAX;
    law(step(run, in) == VERDICT_OK, "a pass is never refused");
    gangs_check(run->world.core);
    turns_check(run);
    floors_check(run);
    return run->world.facts.count > 0;
}

static bool instance_answers(struct run *run, const struct instance *instance)
{
    if (instance->state != INSTANCE_STARTING && instance->state != INSTANCE_STOPPING) {
        return false;
    }
    const struct report report = {
        .type = instance->state == INSTANCE_STARTING ? REPORT_STARTED : REPORT_ENDED,
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = run->world.now_ms,
        .exit_code = instance->state == INSTANCE_STARTING ? 0 : 143,
    };
    struct input in = {.type = INPUT_REPORT};
    in.report.node = instance->node;
    in.report.reports = &report;
    in.report.count = 1;
    (void)step(run, in);
    return true;
}

/* Lets instances report: all at once, or only some of them. */
static bool agents_answer(struct run *run, bool all)
{
    bool any = false;
    task_id next = {0};
    for (const struct task *task = query_task_next(run->world.core, next); task != NULL;
         task = query_task_next(run->world.core, next)) {
        next = task->id;
        const uint32_t count = task->instance_count;
        for (uint32_t i = 0; i < count && query_task(run->world.core, next) != NULL; i++) {
            if (all || dice_once_in(&run->world.dice, 2)) {
                any |= instance_answers(run, query_instance(run->world.core, next, i));
            }
        }
    }
    return any;
}

static void comes_to_rest(struct run *run)
{
    uint32_t quiet = 0;
    for (uint32_t round = 0; quiet < QUIET; round++) {
        law(round < ROUNDS_MAX, "P6: taking back comes to an end");
        run->world.now_ms += 1000;
        const bool decided = pass(run);
        const bool answered = agents_answer(run, true);
        const int64_t wake_ms = query_pool(run->world.core, pool)->wake_ms;
        if (!decided && !answered && wake_ms != 0) {
            waits_check(&run->world, pool);
        }
        quiet = decided || answered || wake_ms != 0 ? 0 : quiet + 1;
    }
}

struct counts {
    uint64_t evicted;
    uint64_t vain; /* evictions of instances that started at the same moment */
};

static void run_once(uint64_t seed, struct counts *counts)
{
    struct run run = {.oversized = seed % OVERSIZED_ONCE_IN == OVERSIZED_ONCE_IN - 1};
    prop_history(seed);
    world_init(&run.world, seed, seed % THOROUGH_ONCE_IN == 0 ? WORLD_THOROUGH : WORLD_TRIPLE);
    (void)step(&run, (struct input){.type = INPUT_SERVER_START});
    pool_make(&run);
    nodes_make(&run);
    organisation_make(&run);
    for (uint32_t wave = 0; wave < WAVES; wave++) {
        for (uint32_t task = 0; task < TASKS_A_WAVE; task++) {
            task_arrives(&run);
        }
        memset(run.took, 0, sizeof run.took);
        memset(run.paid, 0, sizeof run.paid);
        run.world.now_ms += 1000;
        (void)pass(&run);
        (void)agents_answer(&run, false);
    }
    comes_to_rest(&run);
    counts->evicted += run.world.evicted_count;
    counts->vain += run.world.vain_count;
    world_done(&run.world);
}

int main(int argc, char **argv)
{
    const struct prop_run prop = prop_begin(argc, argv, RUNS_DEFAULT);
    struct counts counts = {0};
    for (uint64_t i = 0; i < prop.histories; i++) {
        run_once(prop.seed + i, &counts);
    }
    printf("%" PRIu64 " organisations, %" PRIu64 " evictions, %" PRIu64
           " of instances that started at the same moment\n",
           prop.histories, counts.evicted, counts.vain);
    return 0;
}
