/* sim_place.c - reference policies of the placement experiment (weir sim openb), written from their
 * description in Weng et al., "Beware of Fragmentation", 2023: BestFit and FGD.
 *
 *   sim_place NODES.csv TASKS.csv POLICY FIRST-LAST [RATIO]      POLICY: bestfit | fgd
 *
 * Lists, order of arrival and printing are those of the simulator, so that figures can be compared.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "sim/sim_file.h"
#include "sim/models.h"
#include "sim/openb.h"

#include <math.h>

enum { GPUS_MAX = 8, MODELS_MAX = 32, GPU_MILLI = 1000 };

/* A machine, or a task that asks for one. */
struct machine {
    const char *name;
    int64_t cpu_milli;
    int64_t memory_bytes;
    int gpus;
    int left[GPUS_MAX]; /* thousandths */
    uint32_t model;     /* bit */
    double fragments;   /* of no use to the typical task, thousandths */
    uint32_t version;   /* of what is on it: scores of older ones are stale */
};

struct ask {
    int64_t cpu_milli;
    int64_t memory_bytes;
    int gpus;
    int milli;       /* of each GPU */
    uint32_t models; /* bits of those that will do */
    uint32_t shape;  /* asks of one shape have one score on a machine */
};

struct score {
    double value;
    int gpu;
    uint32_t version;
};

struct typical {
    struct ask ask;
    double part; /* of all tasks */
};

struct world {
    struct scenario scenario;
    VEC(const char *) models;
    VEC(struct machine) machines; /* by name */
    VEC(struct ask) asks;         /* by job */
    VEC(struct typical) typical;
    uint32_t shape_count;
    struct score *scores; /* by machine and shape */
    bool fgd;
};

/* ---- reading ---- */

static uint32_t model_bit(struct world *world, struct str name)
{
    for (size_t i = 0; i < world->models.count; i++) {
        if (str_is(name, world->models.at[i])) {
            return 1u << i;
        }
    }
    must(world->models.count < MODELS_MAX);
    vec_push(&world->models, arena_strn(&world->scenario.arena, name.p, name.len));
    return 1u << (world->models.count - 1);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct machine *)a)->name, ((const struct machine *)b)->name);
}

static void machines_make(struct world *world)
{
    for (size_t i = 0; i < world->scenario.nodes.count; i++) {
        const struct node_spec *spec = &world->scenario.nodes.at[i].spec;
        struct machine machine = {
            .name = spec->name,
            .cpu_milli = spec->cpu_milli,
            .memory_bytes = spec->memory_bytes,
            .gpus = (int)spec->device_count,
            .model = model_bit(world, str_of(spec->labels[0].value)),
            .version = 1,
        };
        must(machine.gpus <= GPUS_MAX);
        for (int gpu = 0; gpu < machine.gpus; gpu++) {
            machine.left[gpu] = GPU_MILLI;
        }
        vec_push(&world->machines, machine);
    }
    qsort(world->machines.at, world->machines.count, sizeof *world->machines.at, by_name);
}

static void asks_make(struct world *world)
{
    for (size_t i = 0; i < world->scenario.jobs.count; i++) {
        const struct job_kind *kind = world->scenario.jobs.at[i].kind;
        const int64_t slots = kind->spec.slots_milli * kind->spec.instances;
        struct ask ask = {
            .cpu_milli = kind->spec.cpu_milli,
            .memory_bytes = kind->spec.memory_bytes,
            .gpus = (int)((slots + GPU_MILLI - 1) / GPU_MILLI),
            .milli = slots < GPU_MILLI ? (int)slots : GPU_MILLI,
            .models = UINT32_MAX,
        };
        struct str rest = str_of(kind->models == NULL || slots == 0 ? "" : kind->models);
        ask.models = rest.len > 0 ? 0 : ask.models;
        while (rest.p != NULL && rest.len > 0) {
            ask.models |= model_bit(world, str_cut(rest, '|', &rest));
        }
        vec_push(&world->asks, ask);
    }
}

static int commoner(const void *a, const void *b)
{
    const struct typical *first = a;
    const struct typical *second = b;
    if (first->part != second->part) {
        return first->part > second->part ? -1 : 1;
    }
    return first->ask.cpu_milli > second->ask.cpu_milli
               ? -1
               : first->ask.cpu_milli < second->ask.cpu_milli;
}

static bool same_shape(const struct ask *a, const struct ask *b)
{
    return a->cpu_milli == b->cpu_milli && a->gpus == b->gpus && a->milli == b->milli &&
           a->models == b->models;
}

/* The commonest shapes that make up 95 % of the list. */
static void typical_make(struct world *world)
{
    for (size_t i = 0; i < world->asks.count; i++) {
        size_t at = 0;
        while (at < world->typical.count &&
               !same_shape(&world->typical.at[at].ask, &world->asks.at[i])) {
            at++;
        }
        if (at == world->typical.count) {
            vec_push(&world->typical, ((struct typical){world->asks.at[i], 0}));
        }
        world->asks.at[i].shape = (uint32_t)at;
        world->typical.at[at].part += 1;
    }
    world->shape_count = (uint32_t)world->typical.count;
    world->scores = xcalloc(world->machines.count * world->shape_count, sizeof *world->scores);
    qsort(world->typical.at, world->typical.count, sizeof *world->typical.at, commoner);
    double sum = 0;
    size_t kept = 0;
    while (kept < world->typical.count && sum < 0.95 * (double)world->asks.count) {
        sum += world->typical.at[kept++].part;
    }
    world->typical.count = kept;
    for (size_t i = 0; i < kept; i++) {
        world->typical.at[i].part /= sum;
    }
}

/* ---- placing ---- */

static bool fits(const struct machine *machine, const struct ask *ask)
{
    if (machine->cpu_milli < ask->cpu_milli || machine->memory_bytes < ask->memory_bytes) {
        return false;
    }
    if (ask->gpus == 0) {
        return true;
    }
    int found = 0;
    for (int i = 0; i < machine->gpus; i++) {
        found += machine->left[i] >= ask->milli;
    }
    return (machine->model & ask->models) != 0 && found >= ask->gpus;
}

static int idle_of(const struct machine *machine)
{
    int idle = 0;
    for (int i = 0; i < machine->gpus; i++) {
        idle += machine->left[i];
    }
    return idle;
}

static double fragments(const struct world *world, const struct machine *machine)
{
    const int idle = idle_of(machine);
    double sum = 0;
    for (size_t k = 0; idle > 0 && k < world->typical.count; k++) {
        const struct ask *ask = &world->typical.at[k].ask;
        int fitting = 0;
        int rest = 0;
        for (int i = 0; i < machine->gpus; i++) {
            const bool enough = machine->left[i] >= ask->milli;
            fitting += enough;
            rest += enough ? 0 : machine->left[i];
        }
        const bool none = ask->gpus == 0 || machine->cpu_milli < ask->cpu_milli ||
                          (machine->model & ask->models) == 0 || fitting < ask->gpus;
        sum += world->typical.at[k].part * (none ? idle : rest);
    }
    return sum;
}

/* The machine with the task on it: on GPU `gpu` for a part of one, else on the first that do. */
static void take(struct machine *machine, const struct ask *ask, int gpu)
{
    machine->cpu_milli -= ask->cpu_milli;
    machine->memory_bytes -= ask->memory_bytes;
    if (ask->gpus == 1) {
        machine->left[gpu] -= ask->milli;
        return;
    }
    int wanted = ask->gpus;
    for (int i = 0; i < machine->gpus && wanted > 0; i++) {
        if (machine->left[i] >= ask->milli) {
            machine->left[i] -= ask->milli;
            wanted--;
        }
    }
}

/* The fullest GPU that has room for a part. */
static int tightest(const struct machine *machine, const struct ask *ask)
{
    int best = -1;
    for (int i = 0; i < machine->gpus; i++) {
        if (machine->left[i] >= ask->milli &&
            (best < 0 || machine->left[i] < machine->left[best])) {
            best = i;
        }
    }
    return best;
}

static double sigmoid_score(double gain)
{
    return floor(100 / (1 + exp(-gain / GPU_MILLI)));
}

static double fgd_score(const struct world *world, const struct machine *machine,
                        const struct ask *ask, int *ret_gpu)
{
    double best = -1;
    const bool part = ask->gpus == 1 && ask->milli < GPU_MILLI;
    for (int gpu = 0; part && gpu < machine->gpus; gpu++) {
        bool seen = machine->left[gpu] < ask->milli;
        for (int before = 0; before < gpu; before++) {
            seen |= machine->left[before] == machine->left[gpu];
        }
        if (seen) {
            continue;
        }
        struct machine after = *machine;
        take(&after, ask, gpu);
        const double score = sigmoid_score(machine->fragments - fragments(world, &after));
        if (score > best) {
            best = score;
            *ret_gpu = gpu;
        }
    }
    if (!part) {
        struct machine after = *machine;
        *ret_gpu = tightest(machine, ask);
        take(&after, ask, *ret_gpu);
        best = sigmoid_score(machine->fragments - fragments(world, &after));
    }
    return best;
}

static double bestfit_score(const struct machine *machine, const struct ask *ask, int *ret_gpu)
{
    const double cpu = (double)(machine->cpu_milli - ask->cpu_milli) / 128000;
    const double gpu = (double)(idle_of(machine) - ask->gpus * ask->milli) / 8000;
    *ret_gpu = tightest(machine, ask);
    return floor(100 * (1 - cpu / 2 - gpu / 2));
}

/* The score of a machine as it is now; remembered until something changes on it. */
static const struct score *score_of(struct world *world, size_t index, const struct ask *ask)
{
    const struct machine *machine = &world->machines.at[index];
    struct score *score = &world->scores[index * world->shape_count + ask->shape];
    if (score->version != machine->version) {
        score->version = machine->version;
        score->value = world->fgd ? fgd_score(world, machine, ask, &score->gpu)
                                  : bestfit_score(machine, ask, &score->gpu);
    }
    return score;
}

/* False: it fits nowhere. */
static bool place(struct world *world, const struct ask *ask)
{
    struct machine *best = NULL;
    double best_score = -INFINITY;
    int best_gpu = -1;
    for (size_t i = 0; i < world->machines.count; i++) {
        struct machine *machine = &world->machines.at[i];
        if (!fits(machine, ask)) {
            continue;
        }
        const struct score *score = score_of(world, i, ask);
        if (score->value > best_score) { /* the first of equals: the smallest name */
            best = machine;
            best_score = score->value;
            best_gpu = score->gpu;
        }
    }
    if (best == NULL) {
        return false;
    }
    take(best, ask, best_gpu);
    best->fragments = fragments(world, best);
    best->version++;
    return true;
}

/* ---- the experiment ---- */

static void measure(const struct world *world, uint32_t point, struct openb_seed *ret)
{
    double pieces = 0;
    int64_t idle = 0;
    for (size_t i = 0; i < world->machines.count; i++) {
        pieces += fragments(world, &world->machines.at[i]);
        idle += idle_of(&world->machines.at[i]);
    }
    ret->unallocated_milli[point] = idle;
    ret->fragmented_milli[point] = (int64_t)pieces;
}

static void seed_run(struct world *world, uint64_t seed, int64_t ratio_milli,
                     struct openb_seed *ret)
{
    uint32_t *order = NULL;
    const size_t count = openb_order(&world->scenario, seed, ratio_milli, &order);
    const int64_t capacity = openb_capacity_milli(&world->scenario);
    int64_t arrived = 0;
    uint32_t point = 0;
    for (uint32_t i = 0; i < OPENB_POINTS; i++) {
        ret->unallocated_milli[i] = -1;
    }
    for (size_t i = 0; i < world->machines.count; i++) {
        world->machines.at[i].fragments = fragments(world, &world->machines.at[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct ask *ask = &world->asks.at[order[i]];
        arrived += (int64_t)ask->gpus * ask->milli;
        const bool placed = place(world, ask);
        ret->placed += placed;
        ret->dropped += !placed;
        const bool last = i + 1 == count;
        while (point < OPENB_POINTS && (arrived * 100 >= capacity * openb_points[point] ||
                                        (last && openb_points[point] * 10 <= ratio_milli))) {
            measure(world, point++, ret);
        }
    }
    free(order);
}

static must_use enum err world_read(struct world *world, char **argv, struct error *e)
{
    struct str nodes;
    struct str tasks = {0};
    scenario_init(&world->scenario);
    enum err r = sim_file_read(argv[1], &world->scenario.arena, &nodes, e);
    r = r == ERR_OK ? sim_file_read(argv[2], &world->scenario.arena, &tasks, e) : r;
    r = r == ERR_OK ? openb_read(nodes, argv[1], tasks, argv[2], &world->scenario, e) : r;
    if (r == ERR_OK) {
        machines_make(world);
        asks_make(world);
        typical_make(world);
    }
    return r;
}

static void world_done(struct world *world)
{
    vec_done(&world->models);
    vec_done(&world->machines);
    vec_done(&world->asks);
    vec_done(&world->typical);
    free(world->scores);
    scenario_done(&world->scenario);
}

int main(int argc, char **argv)
{
    struct world world = {0};
    struct error e;
    uint64_t first = 0;
    uint64_t last = 0;
    struct str rest;
    if (argc < 5 || !str_to_u64(str_cut(str_of(argv[4]), '-', &rest), &first) || rest.p == NULL ||
        !str_to_u64(rest, &last) || last < first || last - first >= 1000) {
        (void)fprintf(stderr, "usage: sim_place NODES TASKS bestfit|fgd FIRST-LAST\n");
        return 2;
    }
    if (world_read(&world, argv, &e) != ERR_OK) {
        (void)fprintf(stderr, "sim_place: %s\n", e.text);
        return 1;
    }
    world.fgd = strcmp(argv[3], "fgd") == 0;
    const uint32_t count = (uint32_t)(last - first + 1);
    struct openb_seed *seeds = xcalloc(count, sizeof *seeds);
    const size_t machine_bytes = world.machines.count * sizeof *world.machines.at;
    struct machine *empty = xmemdup(world.machines.at, machine_bytes);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(world.machines.at, empty, machine_bytes);
        memset(world.scores, 0, world.machines.count * world.shape_count * sizeof *world.scores);
        seed_run(&world, first + i, 1300, &seeds[i]);
    }
    struct buf out;
    buf_init(&out, 1 << 20);
    openb_text(&world.scenario, seeds, count, &out);
    (void)fputs(buf_text(&out), stdout);
    buf_done(&out);
    free(empty);
    free(seeds);
    world_done(&world);
    return 0;
}
