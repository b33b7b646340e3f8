/* load.c - many waiting tasks on empty nodes, a cluster in a steady state, and the memory of
 * waiting tasks. SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"
#include "world.h"

#include <stdio.h>

enum {
    ACCOUNTS = 8,
    ACCOUNTS_MANY = 1000,
    ACCOUNTS_MOST = 2000,
    SHAPES = 20,
    FILL_TASKS = 100000,
    FILL_NODES = 10000,
    EVENTS = 4000, /* of the steady state: arrivals and ends in turn */
    BLOCK = 100,   /* events before the next cluster has its turn */
    BLOCKS = EVENTS / BLOCK,
    EVENT_GAP_MS = 20, /* between two events */
    VISITED_MAX = 64,  /* nodes visited for one decision */
    BYTES_MAX = 1024,  /* bytes of memory for one waiting task */
    PROJECT_NODES = 100,
    PROJECT_GROWTH_MAX = 3,
    EVENTS_A_SECOND = 30000,
    NAME_SIZE = 32,
};

#define MS INT64_C(1000000)

/* A run that takes longer is not repeated. */
#define FILL_NS_MAX (5000 * MS)

/* No further events once the events have taken this long. */
#define STEADY_NS_MAX (5000 * MS)

/* GPUs in thousandths and CPUs of each shape (-1: the CPUs that come with the GPUs): tasks without
 * GPU, with a part of a GPU, with whole GPUs. */
static const struct {
    int64_t gpus_milli;
    int64_t cpu_milli;
} shapes[SHAPES] = {
    {0, 1000},   {0, 2000},     {0, 4000},    {0, 8000},     {250, -1},
    {250, 1000}, {250, 2000},   {500, -1},    {500, 2000},   {500, 4000},
    {1000, -1},  {1000, 2000},  {1000, 4000}, {1000, 8000},  {1000, 12000},
    {2000, -1},  {2000, 16000}, {4000, -1},   {4000, 32000}, {8000, -1},
};

/* Which tasks a mix has: all shapes, or only the shape of a quarter of a GPU, so that most of many
 * projects have work at the same time. */
enum mix_kind { MIX_ALL, MIX_QUARTERS };
enum { SHAPE_QUARTER = 4 };

struct mix {
    char (*projects)[NAME_SIZE];
    uint32_t accounts;
    uint64_t seed;
    enum mix_kind kind;
};

static void mix_accounts(struct mix *mix, struct world *world, uint32_t accounts)
{
    static char names[ACCOUNTS_MOST][NAME_SIZE];
    *mix = (struct mix){names, accounts, 88172645463325252u, MIX_ALL};
    for (uint32_t i = 0; i < accounts; i++) {
        (void)snprintf(names[i], NAME_SIZE, "project-%u", i);
        (void)world_project(world, names[i], "");
    }
}

/* Makes the accounts. Each account's guarantee is an equal part of the GPUs. */
static void mix_init(struct mix *mix, struct world *world, uint32_t nodes, uint32_t accounts)
{
    mix_accounts(mix, world, accounts);
    for (uint32_t i = 0; i < accounts; i++) {
        const struct account *account =
            query_account_named(world->core, ACCOUNT_PROJECT, mix->projects[i]);
        world_quota(world, account->id, nodes * NODE_GPUS / accounts, QUOTA_WEIGHT_DEFAULT);
    }
}

static struct task_spec mix_task(struct mix *mix)
{
    const uint64_t shape =
        mix->kind == MIX_QUARTERS ? SHAPE_QUARTER : measure_random(&mix->seed) % SHAPES;
    const uint64_t project = measure_random(&mix->seed) % mix->accounts;
    struct task_spec spec = world_task(mix->projects[project], shapes[shape].gpus_milli);
    spec.cpu_milli = shapes[shape].cpu_milli;
    return spec;
}

static void mix_submit(struct mix *mix, struct world *world, uint32_t count)
{
    struct task_spec *specs = xcalloc(count, sizeof *specs);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = mix_task(mix);
    }
    world_submit(world, specs, count);
    free(specs);
}

/* ---- many waiting tasks at once ---- */

static struct spend fill_once(uint32_t nodes)
{
    struct world world;
    struct mix mix;
    world_init(&world, nodes);
    mix_init(&mix, &world, nodes, ACCOUNTS);
    mix_submit(&mix, &world, FILL_TASKS);
    world.spend = (struct spend){0};
    world_settle(&world);
    const struct spend spend = world.spend;
    world_done(&world);
    return spend;
}

void load_fill(struct bench *bench)
{
    if (FILL_NODES > bench->nodes_max) {
        return;
    }
    struct spend runs[RUNS_MAX];
    unsigned count = 0;
    do {
        runs[count++] = fill_once(FILL_NODES);
    } while (count < bench->runs && runs[0].ns < FILL_NS_MAX);
    const struct spend spend = measure_median(runs, count);
    char name[80];
    (void)snprintf(name, sizeof name, "100,000 waiting, 10,000 nodes: %llu start",
                   (unsigned long long)spend.starts);
    table_time(bench, name, spend.ns, FILL_TASKS, 1000 * MS, "Slurm at 4,000: 13 ms a decision");
    table_value(bench, "  nodes visited a start", (double)spend.visited / (double)spend.starts,
                "nodes", VISITED_MAX, NULL);
}

/* ---- a cluster in a steady state ---- */

struct steady {
    uint32_t nodes;
    uint32_t accounts;
    uint32_t filled_percent; /* GPUs requested at the start, in percent of all GPUs */
    bool impatient;          /* the first blocked task gets a reservation at once */
    bool plain;              /* projects without quotas */
    enum mix_kind kind;
};

struct samples {
    int64_t ns[EVENTS];
    int64_t visited[EVENTS];
    uint32_t count;
    uint32_t held; /* samples that were taken while a reservation was held */
};

typedef VEC(uint64_t) running_list;

/* The agents answer. Adds the tasks that they started to `running`. */
static void running_note(struct world *world, running_list *running)
{
    for (size_t i = 0; i < world->orders.count; i++) {
        if (world->orders.at[i].type == EFFECT_START) {
            vec_push(running, world->orders.at[i].key.task.v);
        }
    }
    world_agents(world);
    world_settle(world);
}

/* Submits tasks until running and waiting tasks together request filled_percent of the GPUs. */
static void steady_fill(const struct steady *steady, struct mix *mix, struct world *world,
                        running_list *running)
{
    int64_t sum_milli = 0;
    for (uint32_t i = 0; i < SHAPES; i++) {
        sum_milli += shapes[steady->kind == MIX_QUARTERS ? SHAPE_QUARTER : i].gpus_milli;
    }
    const int64_t gpus_milli = (int64_t)steady->nodes * NODE_GPUS * 10 * steady->filled_percent;
    mix_submit(mix, world, (uint32_t)(gpus_milli * SHAPES / sum_milli));
    world_settle(world);
    running_note(world, running);
}

/* Takes a running task out of the list; 0: there is none. Skips tasks that no longer run. */
static task_id running_take(struct mix *mix, const struct world *world, running_list *running)
{
    while (running->count > 0) {
        const size_t at = measure_random(&mix->seed) % running->count;
        const task_id task = {running->at[at]};
        running->at[at] = running->at[--running->count];
        if (world_runs(world, task)) {
            return task;
        }
    }
    return (task_id){0};
}

/* One end or one arrival, and the passes that follow. */
static void steady_event(struct mix *mix, struct world *world, running_list *running, bool end)
{
    world->now_ms += EVENT_GAP_MS;
    world->spend = (struct spend){0};
    const task_id ended = end ? running_take(mix, world, running) : (task_id){0};
    if (ended.v != 0) {
        world_end(world, ended);
    } else {
        const struct task_spec spec = mix_task(mix);
        world_submit(world, &spec, 1);
    }
    world_settle(world);
}

/* One cluster in its steady state. */
struct live {
    struct steady steady;
    struct world world;
    struct mix mix;
    running_list running;
    struct samples samples;
    int64_t block_ns[BLOCKS]; /* the median of each block */
    uint32_t blocks;
    int64_t events_ns; /* CPU time of the thread, spent on events so far */
    uint64_t inputs;   /* that the core was given for these events, passes included */
};

static void live_init(struct live *live, const struct steady *steady)
{
    live->steady = *steady;
    live->running = (running_list){0};
    live->samples.count = 0;
    live->samples.held = 0;
    live->blocks = 0;
    live->events_ns = 0;
    live->inputs = 0;
    world_init(&live->world, steady->nodes);
    if (steady->plain) {
        mix_accounts(&live->mix, &live->world, steady->accounts);
    } else {
        mix_init(&live->mix, &live->world, steady->nodes, steady->accounts);
    }
    live->mix.kind = steady->kind;
    if (steady->impatient) {
        world_patience(&live->world, 0);
    }
    steady_fill(steady, &live->mix, &live->world, &live->running);
}

static void live_done(struct live *live)
{
    vec_done(&live->running);
    world_done(&live->world);
}

static bool live_over(const struct live *live)
{
    return live->blocks == BLOCKS || live->events_ns >= STEADY_NS_MAX;
}

/* Runs the next block of events of the cluster. */
static void live_block(struct live *live)
{
    struct samples *samples = &live->samples;
    int64_t block[BLOCK];
    const int64_t begin = measure_now_ns();
    for (uint32_t i = 0; i < BLOCK; i++) {
        steady_event(&live->mix, &live->world, &live->running, samples->count % 2 == 0);
        block[i] = live->world.spend.ns;
        samples->ns[samples->count] = live->world.spend.ns;
        samples->visited[samples->count] = (int64_t)live->world.spend.visited;
        samples->count++;
        samples->held += query_pool(live->world.core, live->world.pool)->reserved_count > 0;
        running_note(&live->world, &live->running);
        live->inputs += live->world.spend.inputs;
    }
    live->events_ns += measure_now_ns() - begin;
    live->block_ns[live->blocks++] = measure_percentile(block, BLOCK, 50);
}

static int64_t sum_of(const int64_t *values, uint32_t count)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return sum;
}

/* Prints the lines of one steady state. */
static void steady_lines(struct bench *bench, const char *name, struct live *live, bool barred)
{
    const struct steady *steady = &live->steady;
    struct samples *samples = &live->samples;
    const double total_ns = (double)sum_of(samples->ns, samples->count);
    const double visited = (double)sum_of(samples->visited, samples->count) / samples->count;
    const int64_t p50_ns = measure_percentile(samples->ns, samples->count, 50);
    const int64_t p99_ns = measure_percentile(samples->ns, samples->count, 99);
    char text[80];
    (void)snprintf(text, sizeof text, "%s, %u nodes: p50", name, steady->nodes);
    table_time(bench, text, p50_ns, 1, NO_BAR, NULL);
    table_time(bench, "  p99", p99_ns, 1, barred ? MS : NO_BAR, NULL);
    table_value(bench, "  decisions a second", samples->count * 1e9 / total_ns, "/s", NO_BAR, NULL);
    table_value(bench, "  nodes visited a decision, mean", visited, "nodes",
                barred ? VISITED_MAX : NO_BAR, NULL);
    table_value(bench, "  nodes visited a decision, p99",
                (double)measure_percentile(samples->visited, samples->count, 99), "nodes", NO_BAR,
                NULL);
    if (steady->impatient) {
        table_value(bench, "  decisions with a reservation held",
                    100.0 * samples->held / samples->count, "%", NO_BAR, NULL);
    }
}

static const uint32_t steady_sizes[] = {1000, 10000};
enum { STEADY_SIZES = sizeof steady_sizes / sizeof steady_sizes[0] };

/* The cost of a decision in the last cluster, in percent of the cost in the first cluster: the
 * median over pairs of blocks that followed each other. 0: there is one cluster only. */
static int64_t lives_growth(const struct live *lives, size_t count)
{
    int64_t growth[BLOCKS];
    uint32_t pairs = 0;
    if (count < STEADY_SIZES) {
        return 0;
    }
    const struct live *last = &lives[count - 1];
    for (; pairs < lives[0].blocks && pairs < last->blocks; pairs++) {
        growth[pairs] = 100 * last->block_ns[pairs] / lives[0].block_ns[pairs];
    }
    return measure_percentile(growth, pairs, 50);
}

/* The clusters take turns, block by block. So other work on the computer slows all clusters alike,
 * and hardly changes the ratio of their costs. */
static void lives_play(struct live *lives, size_t count)
{
    bool over = count == 0;
    while (!over) {
        over = true;
        for (size_t i = 0; i < count; i++) {
            if (!live_over(&lives[i])) {
                live_block(&lives[i]);
                over = false;
            }
        }
    }
}

static int64_t steady_sized(struct bench *bench, const char *name, struct steady steady)
{
    static struct live lives[STEADY_SIZES];
    size_t count = 0;
    for (; count < STEADY_SIZES && steady_sizes[count] <= bench->nodes_max; count++) {
        steady.nodes = steady_sizes[count];
        live_init(&lives[count], &steady);
    }
    lives_play(lives, count);
    for (size_t i = 0; i < count; i++) {
        steady_lines(bench, name, &lives[i], steady_sizes[i] == 10000);
        live_done(&lives[i]);
    }
    return lives_growth(lives, count);
}

void load_steady(struct bench *bench)
{
    const struct steady steady = {.accounts = ACCOUNTS, .filled_percent = 90};
    bench->decision_growth = steady_sized(bench, "90 % asked", steady);
}

void load_steady_full(struct bench *bench)
{
    const struct steady steady = {.accounts = ACCOUNTS, .filled_percent = 120};
    bench->full_growth = steady_sized(bench, "120 % asked", steady);
}

void load_steady_accounts(struct bench *bench)
{
    const struct steady steady = {.accounts = ACCOUNTS_MANY, .filled_percent = 90};
    (void)steady_sized(bench, "90 % asked, 1,000 accounts", steady);
}

/* One account, so that the reservation binds all tasks. */
void load_steady_held(struct bench *bench)
{
    const struct steady steady = {.accounts = 1, .filled_percent = 120, .impatient = true};
    bench->held_growth = steady_sized(bench, "120 % asked, held", steady);
}

/* ---- many projects in one pool ---- */

static const uint32_t project_counts[] = {10, 100, 500, ACCOUNTS_MOST};
enum { PROJECT_COUNTS = sizeof project_counts / sizeof project_counts[0] };

/* The mean cost of an arrival or an end, with the passes that follow. */
static double live_mean_ns(const struct live *live)
{
    return (double)sum_of(live->samples.ns, live->samples.count) / live->samples.count;
}

static void projects_lines(struct bench *bench, const char *name, struct live *live)
{
    const bool most = live->steady.accounts == ACCOUNTS_MOST;
    char text[80];
    (void)snprintf(text, sizeof text, "%s, %u projects: mean", name, live->steady.accounts);
    table_time(bench, text, (int64_t)live_mean_ns(live), 1, NO_BAR, NULL);
    table_time(bench, "  p99", measure_percentile(live->samples.ns, live->samples.count, 99), 1,
               NO_BAR, NULL);
    table_least(bench, "  events a second", (double)live->inputs * 1e9 / (double)live->events_ns,
                "/s", most ? EVENTS_A_SECOND : NO_BAR);
}

static void projects_sized(struct bench *bench, const char *name, enum mix_kind kind)
{
    static struct live lives[PROJECT_COUNTS];
    for (size_t i = 0; i < PROJECT_COUNTS; i++) {
        const struct steady steady = {.nodes = PROJECT_NODES,
                                      .accounts = project_counts[i],
                                      .filled_percent = 120,
                                      .plain = true,
                                      .kind = kind};
        live_init(&lives[i], &steady);
    }
    lives_play(lives, PROJECT_COUNTS);
    for (size_t i = 0; i < PROJECT_COUNTS; i++) {
        projects_lines(bench, name, &lives[i]);
    }
    table_value(bench, "  growth of a decision, 10 to 2,000 projects",
                live_mean_ns(&lives[PROJECT_COUNTS - 1]) / live_mean_ns(&lives[0]), "x",
                PROJECT_GROWTH_MAX, NULL);
    for (size_t i = 0; i < PROJECT_COUNTS; i++) {
        live_done(&lives[i]);
    }
}

void load_projects(struct bench *bench)
{
    projects_sized(bench, "all shapes", MIX_ALL);
    projects_sized(bench, "quarters of a GPU", MIX_QUARTERS);
}

/* ---- memory ---- */

void load_memory(struct bench *bench)
{
    enum { NODES = 1000 };
    struct world world;
    struct mix mix;
    const size_t empty = measure_heap_bytes();
    world_init(&world, NODES);
    arena_done(&world.arena);
    const size_t nodes = measure_heap_bytes();
    mix_init(&mix, &world, NODES, ACCOUNTS);
    arena_done(&world.arena);
    const size_t before = measure_heap_bytes();
    mix_submit(&mix, &world, FILL_TASKS);
    arena_done(&world.arena);
    const size_t after = measure_heap_bytes();
    world_done(&world);
    table_value(bench, "bytes of a waiting task", (double)(after - before) / FILL_TASKS, "bytes",
                BYTES_MAX, NULL);
    table_value(bench, "bytes of a node", (double)(nodes - empty) / NODES, "bytes", NO_BAR, NULL);
}

/* ---- growth ---- */

static void growth_line(struct bench *bench, const char *name, int64_t hundredths, int64_t bar)
{
    if (hundredths > 0) {
        table_value(bench, name, (double)hundredths / 100, "x", (double)bar / 100, NULL);
    }
}

void load_growth(struct bench *bench)
{
    /* From 1,000 to 10,000 nodes, n log n grows by 10 x 4 / 3. One decision does not grow, except
     * that caches hold a smaller part of ten times the memory. */
    enum { PASS_PERCENT_MAX = 1333, DECISION_PERCENT_MAX = 150 };
    const int64_t *pass_ns = bench->allocate_ns;
    growth_line(bench, "a full pass (allocate)", pass_ns[0] > 0 ? 100 * pass_ns[1] / pass_ns[0] : 0,
                PASS_PERCENT_MAX);
    growth_line(bench, "one decision (steady)", bench->decision_growth, DECISION_PERCENT_MAX);
    growth_line(bench, "one decision (thousands wait)", bench->full_growth, DECISION_PERCENT_MAX);
    growth_line(bench, "one decision (a reservation held)", bench->held_growth,
                DECISION_PERCENT_MAX);
}
