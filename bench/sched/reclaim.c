/* reclaim.c - shapes in which running tasks must leave: one huge gang, a gang that lacks one GPU,
 * and thousands of single tasks.
 *
 * The time counts from the first pass until no further pass decides anything: the evictions, the
 * reports of the agents whose tasks have left, and the starts on the freed places. Agents answer at
 * once. SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"
#include "world.h"

#include <stdio.h>

enum { ROUNDS_MAX = 64 }; /* of passes and answers, until nothing is left to do */

#define MS INT64_C(1000000)

/* A gang of `gang` instances with eight GPUs each, or as many single tasks as there are GPUs. */
struct contest {
    uint32_t nodes;
    uint32_t lender_gpus; /* guaranteed to the account whose tasks run */
    uint32_t lender_weight;
    uint32_t taker_gpus; /* guaranteed to the account whose tasks wait */
    uint32_t gang;       /* 0: single tasks */
};

/* One-GPU tasks of one account hold all GPUs. Then the tasks of the other account come. */
static void contest_make(struct world *world, const struct contest *contest)
{
    const uint32_t gpus = contest->nodes * NODE_GPUS;
    world_init(world, contest->nodes);
    (void)world_department(world, "org");
    world_quota(world, world_project(world, "lender", "org"), contest->lender_gpus,
                contest->lender_weight);
    world_quota(world, world_project(world, "taker", "org"), contest->taker_gpus,
                QUOTA_WEIGHT_DEFAULT);
    world_submit_equal(world, world_task("lender", 1000), gpus);
    world_settle(world);
    world_agents(world);
    world_settle(world);
    struct task_spec spec = world_task("taker", contest->gang == 0 ? 1000 : NODE_GPUS * 1000);
    spec.gang = contest->gang > 0;
    spec.instances = contest->gang == 0 ? 1 : contest->gang;
    world_submit_equal(world, spec, contest->gang == 0 ? gpus : 1);
    world->now_ms += 1000;
    world->spend = (struct spend){0};
}

/* `ret_decided` is the spend up to the first answer of an agent. */
static struct spend contest_run(const struct contest *contest, struct spend *ret_decided)
{
    struct world world;
    contest_make(&world, contest);
    world_settle(&world);
    *ret_decided = world.spend;
    for (unsigned round = 0; round < ROUNDS_MAX && world.orders.count > 0; round++) {
        world_agents(&world);
        world_settle(&world);
    }
    const struct spend spend = world.spend;
    world_done(&world);
    return spend;
}

static struct spend contest_median(const struct bench *bench, const struct contest *contest,
                                   struct spend *ret_decided)
{
    struct spend runs[RUNS_MAX];
    struct spend decided[RUNS_MAX];
    for (unsigned run = 0; run < bench->runs; run++) {
        runs[run] = contest_run(contest, &decided[run]);
    }
    *ret_decided = measure_median(decided, bench->runs);
    return measure_median(runs, bench->runs);
}

/* Does the scheduler reclaim at all? */
static bool reclaims(void)
{
    const struct contest contest = {.nodes = 1, .taker_gpus = NODE_GPUS, .gang = 1};
    struct spend decided;
    (void)contest_run(&contest, &decided);
    return decided.evictions > 0;
}

static void contest_lines(struct bench *bench, const char *name, const struct contest *contest,
                          int64_t bar_ns, const char *note)
{
    char text[96];
    if (!reclaims()) {
        (void)snprintf(text, sizeof text, "%s, %u nodes", name, contest->nodes);
        table_none(text, "not yet");
        return;
    }
    struct spend decided;
    const struct spend spend = contest_median(bench, contest, &decided);
    (void)snprintf(text, sizeof text, "%s, %u nodes: %llu leave, %llu start", name, contest->nodes,
                   (unsigned long long)spend.evictions, (unsigned long long)spend.starts);
    table_time(bench, text, spend.ns, spend.starts, bar_ns, note);
    if (spend.starts > 0) {
        table_time(bench, "  of that until all is decided", decided.ns, decided.evictions, NO_BAR,
                   NULL);
    }
}

void reclaim_huge_gang(struct bench *bench)
{
    static const uint32_t sizes[] = {10, 100, 500, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t nodes = sizes[i];
        const struct contest contest = {
            .nodes = nodes, .taker_gpus = nodes * NODE_GPUS, .gang = nodes / 2};
        if (nodes <= bench->nodes_max) {
            contest_lines(bench, "huge gang", &contest, NO_BAR, nodes == 500 ? "KAI: 102 s" : NULL);
        }
    }
}

void reclaim_unschedulable_gang(struct bench *bench)
{
    static const struct {
        uint32_t nodes;
        int64_t bar_ns;
        const char *note;
    } sizes[] = {{100, 50 * MS, "KAI: 50 s"}, {1000, 1000 * MS, NULL}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t nodes = sizes[i].nodes;
        const struct contest contest = {.nodes = nodes,
                                        .lender_gpus = nodes * NODE_GPUS - 79,
                                        .lender_weight = QUOTA_WEIGHT_DEFAULT,
                                        .taker_gpus = 80,
                                        .gang = 10};
        if (nodes <= bench->nodes_max) {
            contest_lines(bench, "unschedulable gang", &contest, sizes[i].bar_ns, sizes[i].note);
        }
    }
}

void reclaim_one_by_one(struct bench *bench)
{
    const struct contest contest = {
        .nodes = 500, .lender_weight = QUOTA_WEIGHT_DEFAULT, .taker_gpus = 500 * NODE_GPUS};
    if (contest.nodes <= bench->nodes_max) {
        contest_lines(bench, "4,000 x 1", &contest, 1000 * MS, "KAI: 165 s");
    }
}
