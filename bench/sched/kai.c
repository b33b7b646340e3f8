/* kai.c - KAI's benchmark shapes: allocate, full cycle, many queues, gangs.
 *
 * KAI's own sizes are 10, 50 and 100 nodes of eight GPUs. These shapes keep KAI's number of tasks
 * per node and the form of its tree of accounts. SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"
#include "world.h"

#include <stdio.h>

enum {
    PROJECTS = 4, /* two below each of two departments */
    QUEUES = 1000,
    QUEUES_PER_DEPARTMENT = 4,
    GANG = 4,
    NAME_SIZE = 32,
};

static const uint32_t sizes[] = {100, 1000, 10000};
enum { SIZE_COUNT = sizeof sizes / sizeof sizes[0] };

static const char *const project_names[PROJECTS] = {"queue-0", "queue-1", "queue-2", "queue-3"};

/* Makes two departments with half of the GPUs each, and below each two projects with a quarter of
 * the GPUs each. */
static void org_make(struct world *world, uint32_t nodes)
{
    static const char *const departments[] = {"dept-a", "dept-b"};
    for (uint32_t i = 0; i < 2; i++) {
        world_quota(world, world_department(world, departments[i]), nodes * NODE_GPUS / 2,
                    QUOTA_WEIGHT_DEFAULT);
    }
    for (uint32_t i = 0; i < PROJECTS; i++) {
        const account_id project = world_project(world, project_names[i], departments[i / 2]);
        world_quota(world, project, nodes * NODE_GPUS / PROJECTS, QUOTA_WEIGHT_DEFAULT);
    }
}

/* Submits `count` tasks of `gang` instances with one GPU each. The projects take turns. */
static void tasks_submit(struct world *world, uint32_t count, uint32_t gang)
{
    struct task_spec *specs = xcalloc(count, sizeof *specs);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = world_task(project_names[i % PROJECTS], 1000);
        specs[i].instances = gang;
        specs[i].gang = gang > 1;
    }
    world_submit(world, specs, count);
    free(specs);
}

static struct spend settle_spend(struct world *world)
{
    world->spend = (struct spend){0};
    world_settle(world);
    return world->spend;
}

/* ---- one run of each shape ---- */

static struct spend allocate_once(uint32_t nodes)
{
    struct world world;
    world_init(&world, nodes);
    org_make(&world, nodes);
    tasks_submit(&world, nodes * 5, 1);
    const struct spend spend = settle_spend(&world);
    world_done(&world);
    return spend;
}

/* Half of the tasks run and half wait. */
static struct spend full_cycle_once(uint32_t nodes)
{
    struct world world;
    world_init(&world, nodes);
    org_make(&world, nodes);
    tasks_submit(&world, nodes * 5 / 2, 1);
    world_settle(&world);
    world_agents(&world);
    world_settle(&world);
    tasks_submit(&world, nodes * 5 / 2, 1);
    const struct spend spend = settle_spend(&world);
    world_done(&world);
    return spend;
}

static struct spend gangs_once(uint32_t nodes)
{
    struct world world;
    world_init(&world, nodes);
    org_make(&world, nodes);
    tasks_submit(&world, nodes * 2, GANG);
    const struct spend spend = settle_spend(&world);
    world_done(&world);
    return spend;
}

static struct spend many_queues_once(uint32_t nodes)
{
    static char names[QUEUES][NAME_SIZE];
    struct world world;
    world_init(&world, nodes);
    const uint32_t gpus = nodes * NODE_GPUS;
    for (uint32_t i = 0; i < QUEUES; i++) {
        char department[NAME_SIZE];
        (void)snprintf(department, sizeof department, "dept-%u", i / QUEUES_PER_DEPARTMENT);
        (void)snprintf(names[i], NAME_SIZE, "queue-%u", i);
        if (i % QUEUES_PER_DEPARTMENT == 0) {
            world_quota(&world, world_department(&world, department),
                        gpus * QUEUES_PER_DEPARTMENT / QUEUES, QUOTA_WEIGHT_DEFAULT);
        }
        world_quota(&world, world_project(&world, names[i], department), gpus / QUEUES,
                    QUOTA_WEIGHT_DEFAULT);
    }
    struct task_spec *specs = xcalloc(nodes * 4, sizeof *specs);
    for (uint32_t i = 0; i < nodes * 4; i++) {
        specs[i] = world_task(names[i % QUEUES], 1000);
    }
    world_submit(&world, specs, nodes * 4);
    free(specs);
    const struct spend spend = settle_spend(&world);
    world_done(&world);
    return spend;
}

/* ---- the lines of the shapes ---- */

struct kai_shape {
    const char *name;
    struct spend (*once)(uint32_t nodes);
    const char *notes[SIZE_COUNT];
};

static void shape_run(struct bench *bench, const struct kai_shape *shape, int64_t *ret_ns)
{
    for (size_t i = 0; i < SIZE_COUNT && sizes[i] <= bench->nodes_max; i++) {
        struct spend runs[RUNS_MAX];
        for (unsigned run = 0; run < bench->runs; run++) {
            runs[run] = shape->once(sizes[i]);
        }
        const struct spend spend = measure_median(runs, bench->runs);
        char name[64];
        (void)snprintf(name, sizeof name, "%s, %u nodes: %llu starts", shape->name, sizes[i],
                       (unsigned long long)spend.starts);
        table_time(bench, name, spend.ns, spend.starts, NO_BAR, shape->notes[i]);
        if (ret_ns != NULL) {
            ret_ns[i] = spend.ns;
        }
    }
}

void kai_allocate(struct bench *bench)
{
    static const struct kai_shape shape = {
        "allocate", allocate_once, {NULL, "Slurm, one decision: 3.2 ms", "Slurm at 4,000: 13 ms"}};
    int64_t ns[SIZE_COUNT] = {0};
    shape_run(bench, &shape, ns);
    bench->allocate_ns[0] = ns[1];
    bench->allocate_ns[1] = ns[2];
}

void kai_full_cycle(struct bench *bench)
{
    static const struct kai_shape shape = {
        "full cycle", full_cycle_once, {NULL, "KAI: 3 to 4 min", NULL}};
    shape_run(bench, &shape, NULL);
}

void kai_many_queues(struct bench *bench)
{
    static const struct kai_shape shape = {"1,000 queues", many_queues_once, {NULL, NULL, NULL}};
    shape_run(bench, &shape, NULL);
}

void kai_gangs(struct bench *bench)
{
    static const struct kai_shape shape = {
        "gangs of 4", gangs_once, {NULL, "KAI: one gang of 512 in 49 s", NULL}};
    shape_run(bench, &shape, NULL);
}
