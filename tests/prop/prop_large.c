/* prop_large.c - pools of 65 to 200 nodes, where the scheduler searches by indices, by a part of
 * the nodes and by what has changed (ADR 0012). Decisions must be the same with caches off and
 * after restarts, and no law may be broken.
 *
 * An organisation with guarantees requests more than there is, with small tasks, gangs and
 * arrays, some with a topology. Nodes come and go, quotas and priorities change. Time is
 * virtual. WEIR_SEED repeats a run, WEIR_HISTORIES sets the number of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"
#include "prop_run.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    HISTORIES_DEFAULT = 24,
    NODES_MIN = 65,
    NODES_MAX_HERE = 200,
    NODE_SLOTS = 4,
    ROUNDS = 10,
    DEPARTMENTS = 2,
    PROJECTS = 6,
    BATCH = 16,
    REPORTS_MAX = 16,
    WORK_MAX = 2000,
};

static const pool_id POOL = {1};
static const char *const departments[DEPARTMENTS] = {"d0", "d1"};
static const char *const projects[PROJECTS] = {"p0", "p1", "p2", "p3", "p4", "p5"};
static const char *const zones[] = {"a", "b", "c", "d"};
static const char *const racks[] = {"1", "2", "3", "4", "5"};

struct run {
    struct world world;
    uint32_t nodes;
    bool topology;
};

static enum verdict step(struct run *run, struct input in)
{
    arena_clear(&run->world.arena);
    return world_step(&run->world, in);
}

/* ---- making a cluster ---- */

static void pool_make(struct run *run)
{
    static const int64_t patience_ms[] = {PATIENCE_AUTO, 20000, 60000};
    static const char *const levels[] = {"zone", "rack"};
    static const enum pool_policy policies[] = {POLICY_FAIR_SHARE, POLICY_FAIR_SHARE,
                                                POLICY_FAIR_SHARE, POLICY_PRIORITY,
                                                POLICY_ROUND_ROBIN};
    struct dice *dice = &run->world.dice;
    const struct pool_spec spec = {
        .name = "default",
        .title = "",
        .description = "",
        .patience_ms = patience_ms[dice_roll(dice, 3)],
        .aux_tasks = 100,
        .turn_ms = dice_once_in(dice, 2) ? 0 : 60000,
        .idle_for_waiting = IDLE_FOR_WAITING,
        .loss_for_sharing = LOSS_FOR_SHARING,
        .policy = policies[dice_roll(dice, 5)],
        .placement = dice_once_in(dice, 4)   ? PLACEMENT_SPREAD
                     : dice_once_in(dice, 2) ? PLACEMENT_TIGHT
                                             : PLACEMENT_PACK,
        .victims = dice_once_in(dice, 2) ? VICTIMS_LEAST_LOSS : VICTIMS_YOUNGEST,
        .order = dice_once_in(dice, 3) ? QUEUE_SHORT_FIRST : QUEUE_SUBMISSION,
        .preemption_off = dice_once_in(dice, 6),
        .consolidation_max = dice_roll(dice, 9),
        .stale_grace_ms = STALE_GRACE_MS_DEFAULT,
        .reclaim_min_runtime_ms = dice_once_in(dice, 5) ? 5000 : 0,
        .topology = levels,
        .topology_count = run->topology ? 2 : 0,
    };
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.pool = POOL;
    in.pool.spec = &spec;
    law(step(run, in) == VERDICT_OK, "a pool is edited");
}

/* Joins a node, or joins it again with the same amounts. */
static void node_join(struct run *run, uint32_t number)
{
    struct dice *dice = &run->world.dice;
    char name[16];
    (void)snprintf(name, sizeof name, "n%" PRIu32, number);
    const struct label labels[] = {{"zone", zones[number % 4]}, {"rack", racks[number / 4 % 5]}};
    struct node_spec spec = {
        .name = name,
        .pool = "default",
        .labels = labels,
        .label_count = run->topology ? 2 : 0,
        .slots_milli = NODE_SLOTS * SLOT_MILLI,
        .device_count = number % 3 == 0 ? NODE_SLOTS : 0,
        .cpu_milli = number % 7 == 0 ? 16000 : 8000,
        .memory_bytes = 1 << 20,
        .boot_id = "boot",
        .address = "127.0.0.1",
        .version = "0",
    };
    spec.supervisor[0] = (uint8_t)number;
    spec.supervisor[1] = (uint8_t)(1 + dice_roll(dice, 2));
    struct input in = {.type = INPUT_NODE_JOIN};
    in.node.spec = &spec;
    law(step(run, in) == VERDICT_OK, "a node joins");
}

static void quota_give(struct run *run, enum account_kind kind, const char *name, int64_t slots)
{
    struct dice *dice = &run->world.dice;
    const struct quota_amount amount = {
        .resource = "slots",
        .guaranteed = slots * SLOT_MILLI,
        .limit = dice_once_in(dice, 5) ? (slots + (int64_t)dice_roll(dice, 40)) * SLOT_MILLI
                                       : QUOTA_UNLIMITED,
        .weight = 500 * dice_roll(dice, 4),
    };
    const struct quota_spec quota = {
        .amounts = &amount,
        .amount_count = 1,
        .rules.rank = QUOTA_RANK_DEFAULT,
        .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
        .rules.reclaim_min_runtime_ms = QUOTA_INHERIT,
    };
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = query_account_named(run->world.core, kind, name)->id;
    in.quota.pool = POOL;
    in.quota.spec = &quota;
    law(step(run, in) == VERDICT_OK, "a quota is set");
}

static void account_make(struct run *run, enum account_kind kind, const char *name,
                         const char *parent)
{
    const struct account_spec spec = {
        .kind = kind, .name = name, .parent = parent, .title = "", .description = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    law(step(run, in) == VERDICT_OK, "an account is made");
}

static void organisation_make(struct run *run)
{
    const int64_t slots = (int64_t)run->nodes * NODE_SLOTS;
    for (uint32_t i = 0; i < DEPARTMENTS; i++) {
        account_make(run, ACCOUNT_DEPARTMENT, departments[i], "");
        quota_give(run, ACCOUNT_DEPARTMENT, departments[i], slots / DEPARTMENTS);
    }
    for (uint32_t i = 0; i < PROJECTS; i++) {
        account_make(run, ACCOUNT_PROJECT, projects[i], departments[i % DEPARTMENTS]);
        quota_give(run, ACCOUNT_PROJECT, projects[i],
                   slots / PROJECTS / 2 + dice_roll(&run->world.dice, (uint32_t)slots / PROJECTS));
    }
}

/* ---- work ---- */

static struct task_spec spec_roll(struct run *run, uint32_t project)
{
    static const char *const argv[] = {"true"};
    static const char *const pools[] = {"default"};
    static const char *const levels[] = {"", "zone", "rack"};
    static const int64_t limits_ms[] = {0, 0, 30000, 300000};
    struct dice *dice = &run->world.dice;
    struct task_spec spec = {
        .kind = TASK_COMMAND,
        .name = "",
        .user = dice_once_in(dice, 2) ? "ann" : "bob",
        .project = projects[project],
        .image = "",
        .workdir = "",
        .argv = argv,
        .argv_count = 1,
        .pools = pools,
        .pool_count = 1,
        .slots_milli = SLOT_MILLI * (int64_t)(1 + dice_roll(dice, NODE_SLOTS)),
        .cpu_milli = dice_once_in(dice, 6) ? 500 * (int64_t)(1 + dice_roll(dice, 20)) : ASK_NOTHING,
        .memory_bytes = ASK_NOTHING,
        .instances = dice_once_in(dice, 6) ? 1 + dice_roll(dice, 12) : 1,
        .repeatable = true,
        .preemptible = !dice_once_in(dice, 8),
        .priority = dice_once_in(dice, 4) ? 40 + 10 * dice_roll(dice, 3) : PRIORITY_DEFAULT,
        .time_limit_ms = limits_ms[dice_roll(dice, 4)],
        .max_retries = 3,
        .grace_ms = 1000,
        .stale_grace_ms = STALE_GRACE_POOL,
        .preemption_delay_ms = PREEMPTION_DELAY_POOL,
    };
    spec.gang = spec.instances > 1 && !dice_once_in(dice, 3);
    spec.min_instances =
        spec.gang && dice_once_in(dice, 3) ? 1 + dice_roll(dice, spec.instances) : 0;
    if (dice_once_in(dice, 10)) {
        spec.slots_milli = 100 * (int64_t)(1 + dice_roll(dice, 9));
        spec.needs_gpu = true;
    }
    if (run->topology && spec.gang) {
        spec.topology.required = levels[dice_roll(dice, 3)];
        spec.topology.preferred = levels[dice_roll(dice, 3)];
    }
    return spec;
}

/* Submits tasks. Tasks that can never run are refused. A refused batch is submitted again one by
 * one. */
static void tasks_arrive(struct run *run, uint32_t count)
{
    struct task_spec specs[BATCH];
    struct input in = {.type = INPUT_TASK_SUBMIT};
    const uint32_t project = dice_roll(&run->world.dice, PROJECTS);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] =
            spec_roll(run, dice_once_in(&run->world.dice, 3) ? dice_roll(&run->world.dice, PROJECTS)
                                                             : project);
    }
    in.submit = (struct submission){.specs = specs, .count = count};
    if (step(run, in) == VERDICT_OK) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        in.submit = (struct submission){.specs = &specs[i], .count = 1};
        (void)step(run, in);
    }
}

/* Chooses what an instance reports now, if anything: a start, an end when told to stop, or now
 * and then an end by itself. */
static bool report_roll(struct run *run, const struct instance *instance, struct report *ret)
{
    struct dice *dice = &run->world.dice;
    const bool starts = instance->state == INSTANCE_STARTING;
    const bool ends = instance->state == INSTANCE_STOPPING ||
                      (instance->state == INSTANCE_RUNNING && dice_once_in(dice, 4));
    *ret = (struct report){
        .type = starts ? REPORT_STARTED : REPORT_ENDED,
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = run->world.now_ms,
        .exit_code = !starts && dice_once_in(dice, 10) ? 1 : 0,
    };
    return (starts || ends) && !dice_once_in(dice, 8); /* some instances take their time */
}

static void agents_answer(struct run *run)
{
    for (uint32_t number = 1; number <= run->nodes; number++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%" PRIu32, number);
        const struct node *node = query_node_named(run->world.core, name);
        struct report reports[REPORTS_MAX];
        struct attempt_key cursor = {0};
        struct input in = {.type = INPUT_REPORT};
        if (node == NULL || node->state != NODE_UP) {
            continue;
        }
        in.report.node = node->id;
        in.report.reports = reports;
        for (const struct instance *instance =
                 query_node_instance_next(run->world.core, node->id, &cursor);
             instance != NULL && in.report.count < REPORTS_MAX;
             instance = query_node_instance_next(run->world.core, node->id, &cursor)) {
            in.report.count += report_roll(run, instance, &reports[in.report.count]);
        }
        if (in.report.count > 0) {
            (void)step(run, in);
        }
    }
}

/* ---- other events ---- */

static void node_changes(struct run *run)
{
    static const enum input_type types[] = {INPUT_NODE_SILENT, INPUT_NODE_LOST, INPUT_NODE_EDIT,
                                            INPUT_NODE_EDIT};
    struct dice *dice = &run->world.dice;
    const uint32_t number = 1 + dice_roll(dice, run->nodes);
    char name[16];
    (void)snprintf(name, sizeof name, "n%" PRIu32, number);
    const struct node *node = query_node_named(run->world.core, name);
    if (node->state != NODE_UP) {
        node_join(run, number);
        return;
    }
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = !node->draining};
    struct input in = {.type = types[dice_roll(dice, 4)]};
    in.node.node = node->id;
    in.node.edit = &edit;
    (void)step(run, in);
}

static void task_changes(struct run *run)
{
    static const enum input_type types[] = {INPUT_TASK_KILL, INPUT_TASK_EDIT, INPUT_TASK_EDIT,
                                            INPUT_TASK_PAUSE, INPUT_TASK_ACTIVATE};
    struct dice *dice = &run->world.dice;
    const uint32_t last = (uint32_t)query_task_last(run->world.core).v;
    const struct task *task =
        last == 0 ? NULL : query_task_next(run->world.core, (task_id){dice_roll(dice, last)});
    if (task == NULL) {
        return;
    }
    const struct task_edit edit = {
        .fields = TASK_EDIT_priority,
        .spec = &(struct task_spec){.priority = 40 + 10 * dice_roll(dice, 3)}};
    struct input in = {.type = types[dice_roll(dice, 5)]};
    in.task.task = task->id;
    in.task.edit = &edit;
    (void)step(run, in);
}

static void quota_changes(struct run *run)
{
    struct dice *dice = &run->world.dice;
    quota_give(run, ACCOUNT_PROJECT, projects[dice_roll(dice, PROJECTS)],
               dice_roll(dice, run->nodes * NODE_SLOTS / 2));
}

static void round_play(struct run *run)
{
    struct dice *dice = &run->world.dice;
    for (uint32_t batches = dice_roll(dice, run->nodes / BATCH); batches > 0; batches--) {
        tasks_arrive(run, 1 + dice_roll(dice, BATCH));
    }
    for (uint32_t changes = dice_roll(dice, 6); changes > 0; changes--) {
        static void (*const things[])(struct run * run) = {node_changes, node_changes, task_changes,
                                                           task_changes, quota_changes};
        things[dice_roll(dice, 5)](run);
    }
    run->world.now_ms += dice_roll(dice, 40000);
    (void)step(run, (struct input){.type = INPUT_TICK});
    oracle_gangs_in_time(run->world.core, run->world.now_ms);
    arena_clear(&run->world.arena);
    world_settle(&run->world, POOL);
    agents_answer(run);
    world_settle(&run->world, POOL);
}

static void run_once(uint64_t seed, uint64_t *facts, uint64_t *evictions)
{
    struct run run = {0};
    prop_history(seed);
    world_init(&run.world, seed, WORLD_TRIPLE);
    run.world.work_max = WORK_MAX;
    run.world.laws = LAWS_TICKS;
    run.nodes = NODES_MIN + dice_roll(&run.world.dice, NODES_MAX_HERE - NODES_MIN + 1);
    run.topology = dice_once_in(&run.world.dice, 2);
    (void)step(&run, (struct input){.type = INPUT_SERVER_START});
    pool_make(&run);
    for (uint32_t i = 1; i <= run.nodes; i++) {
        node_join(&run, i);
    }
    organisation_make(&run);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        round_play(&run);
    }
    *facts += run.world.fact_count;
    *evictions += run.world.evicted_count;
    world_done(&run.world);
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    uint64_t facts = 0;
    uint64_t evictions = 0;
    for (uint64_t i = 0; i < run.histories; i++) {
        run_once(run.seed + i, &facts, &evictions);
    }
    printf("%" PRIu64 " large pools, %" PRIu64 " facts, %" PRIu64 " evictions: all laws held\n",
           run.histories, facts, evictions);
    return 0;
}
