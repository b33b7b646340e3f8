/* load.c - many waiting tasks onto empty nodes, a cluster that lives, and what memory it takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"
#include "world.h"

#include <stdio.h>

enum {
    ACCOUNTS = 8,
    ACCOUNTS_MANY = 1000,
    SHAPES = 20,
    FILL_TASKS = 100000,
    FILL_NODES = 10000,
    EVENTS = 4000, /* of the steady state: arrivals and ends in turn */
    BLOCK = 100,   /* of them, before the next cluster has its turn */
    BLOCKS = EVENTS / BLOCK,
    EVENT_GAP_MS = 20, /* between two of them */
    VISITED_MAX = 64,  /* nodes, for one decision */
    BYTES_MAX = 1024,  /* for one waiting task */
    NAME_SIZE = 32,
};

#define MS INT64_C(1000000)

/* One run is enough when it takes longer. */
#define FILL_NS_MAX (5000 * MS)

/* No more events once they have taken this long. */
#define STEADY_NS_MAX (5000 * MS)

/* GPUs in thousandths and CPUs of each shape (-1: what comes with the GPUs): tasks without GPU, shares
 * of one, whole ones. */
static const struct {
    int64_t gpus_milli;
    int64_t cpu_milli;
} shapes[SHAPES] = {
    {0, 1000},   {0, 2000},     {0, 4000},    {0, 8000},     {250, -1},
    {250, 1000}, {250, 2000},   {500, -1},    {500, 2000},   {500, 4000},
    {1000, -1},  {1000, 2000},  {1000, 4000}, {1000, 8000},  {1000, 12000},
    {2000, -1},  {2000, 16000}, {4000, -1},   {4000, 32000}, {8000, -1},
};

struct mix {
    char (*projects)[NAME_SIZE];
    uint32_t accounts;
    uint64_t seed;
};

/* The accounts, each with its part of the GPUs guaranteed. */
static void mix_init(struct mix *mix, struct world *world, uint32_t nodes, uint32_t accounts)
{
    static char names[ACCOUNTS_MANY][NAME_SIZE];
    *mix = (struct mix){names, accounts, 88172645463325252u};
    for (uint32_t i = 0; i < accounts; i++) {
        (void)snprintf(names[i], NAME_SIZE, "project-%u", i);
        world_quota(world, world_project(world, names[i], ""), nodes * NODE_GPUS / accounts,
                    QUOTA_WEIGHT_DEFAULT);
    }
}

static struct task_spec mix_task(struct mix *mix)
{
    const uint64_t shape = measure_random(&mix->seed) % SHAPES;
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

/* ---- many at once ---- */

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

/* ---- a cluster that lives ---- */

struct steady {
    uint32_t nodes;
    uint32_t accounts;
    uint32_t filled_percent; /* of the GPUs that tasks ask for at the start */
    bool impatient;          /* who is blocked first holds a reservation at once */
};

struct samples {
    int64_t ns[EVENTS];
    int64_t visited[EVENTS];
    uint32_t count;
    uint32_t held; /* of them: those with a reservation held */
};

typedef VEC(uint64_t) running_list;

/* The agents answer; what they started is running. */
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

/* Tasks until those that run and those that wait together ask for so much. */
static void steady_fill(const struct steady *steady, struct mix *mix, struct world *world,
                        running_list *running)
{
    int64_t sum_milli = 0;
    for (uint32_t i = 0; i < SHAPES; i++) {
        sum_milli += shapes[i].gpus_milli;
    }
    const int64_t gpus_milli = (int64_t)steady->nodes * NODE_GPUS * 10 * steady->filled_percent;
    mix_submit(mix, world, (uint32_t)(gpus_milli * SHAPES / sum_milli));
    world_settle(world);
    running_note(world, running);
}

/* One of those that run, out of the list; 0: there is none. Those that had to go since are passed by. */
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

/* One cluster under way. */
struct live {
    struct steady steady;
    struct world world;
    struct mix mix;
    running_list running;
    struct samples samples;
    int64_t block_ns[BLOCKS]; /* the median of each block */
    uint32_t blocks;
    int64_t events_ns; /* of the thread, spent on events so far */
};

static void live_init(struct live *live, const struct steady *steady)
{
    live->steady = *steady;
    live->running = (running_list){0};
    live->samples.count = 0;
    live->samples.held = 0;
    live->blocks = 0;
    live->events_ns = 0;
    world_init(&live->world, steady->nodes);
    mix_init(&live->mix, &live->world, steady->nodes, steady->accounts);
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

/* The next events of the cluster. */
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

/* How many hundredths a decision of the last costs of what one of the first does: the median over pairs of blocks that followed each
 * other; 0: there is one cluster only. */
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

/* The clusters of all sizes live at the same time and take turns, block by block: what else the machine does meets all of them, and
 * hardly counts in what one costs of the other. */
static int64_t steady_sized(struct bench *bench, const char *name, struct steady steady)
{
    static struct live lives[STEADY_SIZES];
    size_t count = 0;
    for (; count < STEADY_SIZES && steady_sizes[count] <= bench->nodes_max; count++) {
        steady.nodes = steady_sizes[count];
        live_init(&lives[count], &steady);
    }
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

/* One account, so that the reservation binds all. */
void load_steady_held(struct bench *bench)
{
    const struct steady steady = {.accounts = 1, .filled_percent = 120, .impatient = true};
    bench->held_growth = steady_sized(bench, "120 % asked, held", steady);
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
    /* Ten times the nodes: n log n is 10 x 4 / 3. One decision does not grow, but for caches that
     * hold a smaller part of ten times the memory. */
    enum { PASS_PERCENT_MAX = 1333, DECISION_PERCENT_MAX = 150 };
    const int64_t *pass_ns = bench->allocate_ns;
    growth_line(bench, "a full pass (allocate)", pass_ns[0] > 0 ? 100 * pass_ns[1] / pass_ns[0] : 0,
                PASS_PERCENT_MAX);
    growth_line(bench, "one decision (steady)", bench->decision_growth, DECISION_PERCENT_MAX);
    growth_line(bench, "one decision (thousands wait)", bench->full_growth, DECISION_PERCENT_MAX);
    growth_line(bench, "one decision (a reservation held)", bench->held_growth,
                DECISION_PERCENT_MAX);
}
