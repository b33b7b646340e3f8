/* prop_history.c - usage history, compared with a model that computes in real numbers.
 *
 * Tasks of three projects arrive, start and end at random times. Ticks come when they are due.
 * After each tick the parts that the core reports equal those of the model, except for rounding.
 * Caches off and restarts agree to the byte, as in every world.
 * SPDX-License-Identifier: Apache-2.0 */
#include "prop_run.h"
#include "world.h"
#include "core/state/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { HISTORIES_DEFAULT = 200, STEPS = 120, PROJECTS = 3, NODES = 3, SLOTS = 4 };

static const double CLOSE = 1e-4;
static const pool_id POOL = {1};

struct model {
    double mean[PROJECTS];
    double whole;
    int64_t half_life_ms;
    int64_t window_ms;
    int64_t at_ms;
};

static const char *const names[PROJECTS] = {"a", "b", "c"};

static account_id account_of(const struct world *world, unsigned i)
{
    return query_account_named(world->core, ACCOUNT_PROJECT, names[i])->id;
}

static void world_do(struct world *world, struct input in)
{
    arena_clear(&world->arena);
    law(world_step(world, in) == VERDICT_OK, "a sound input is accepted");
}

static void begin(struct world *world, struct model *model)
{
    struct dice *dice = &world->dice;
    model->half_life_ms = dice_once_in(dice, 3) ? 0 : 5000 + dice_roll(dice, 600000);
    model->window_ms =
        model->half_life_ms == 0 || dice_once_in(dice, 3) ? 20000 + dice_roll(dice, 400000) : 0;
    world_do(world, (struct input){.type = INPUT_SERVER_START, .server = {.server_uuid = {1}}});
    struct pool_spec pool;
    arena_clear(&world->arena);
    query_pool_spec(world->core, POOL, &world->arena, &pool);
    pool.history_half_life_ms = model->half_life_ms;
    pool.history_window_ms = model->window_ms;
    pool.history_factor = dice_roll(dice, HISTORY_FACTOR_MAX + 1);
    law(world_step(world, (struct input){.type = INPUT_POOL_EDIT,
                                         .pool = {.spec = &pool, .pool = POOL}}) == VERDICT_OK,
        "a pool may look back");
    for (unsigned i = 0; i < PROJECTS; i++) {
        const struct account_spec spec = {.kind = ACCOUNT_PROJECT, .name = names[i], .parent = ""};
        struct input in = {.type = INPUT_ACCOUNT_SET};
        in.account.spec = &spec;
        world_do(world, in);
    }
    for (unsigned i = 0; i < NODES; i++) {
        const char name[] = {'n', (char)('1' + i), '\0'};
        struct node_spec spec = {.name = name,
                                 .pool = "default",
                                 .slots_milli = SLOTS * SLOT_MILLI,
                                 .cpu_milli = SLOTS * 1000,
                                 .memory_bytes = 1 << 20,
                                 .supervisor = {(uint8_t)(i + 1)},
                                 .boot_id = "boot",
                                 .address = "127.0.0.1",
                                 .version = "0"};
        world_do(world, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}});
    }
}

static void submit(struct world *world)
{
    static const char *const argv[] = {"true"};
    struct task_spec spec = {.kind = TASK_COMMAND,
                             .name = "t",
                             .user = "u",
                             .project = names[dice_roll(&world->dice, PROJECTS)],
                             .image = "",
                             .workdir = "",
                             .argv = argv,
                             .argv_count = 1,
                             .slots_milli = (1 + dice_roll(&world->dice, SLOTS)) * SLOT_MILLI,
                             .cpu_milli = ASK_NOTHING,
                             .memory_bytes = ASK_NOTHING,
                             .instances = 1,
                             .preemptible = true,
                             .repeatable = true,
                             .priority = PRIORITY_DEFAULT,
                             .grace_ms = 1000,
                             .stale_grace_ms = STALE_GRACE_POOL,
                             .preemption_delay_ms = PREEMPTION_DELAY_POOL};
    world_do(world,
             (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}});
}

/* Ends some instance that holds a place. */
static void end_one(struct world *world)
{
    for (unsigned i = 0; i < NODES; i++) {
        const node_id node = {1 + (i + dice_roll(&world->dice, NODES)) % NODES};
        struct attempt_key cursor = {0};
        const struct instance *instance = query_node_instance_next(world->core, node, &cursor);
        if (instance != NULL) {
            const struct report report = {
                .type = REPORT_ENDED,
                .key = {instance->task, instance->index, instance->attempt},
                .incarnation = instance->incarnation,
                .at_ms = world->now_ms};
            world_do(world, (struct input){.type = INPUT_REPORT, .report = {node, &report, 1}});
            return;
        }
    }
}

/* Makes the model's tick, with the amounts held before the core's tick. */
static void model_tick(const struct world *world, struct model *model)
{
    const struct pool *pool = query_pool(world->core, POOL);
    const bool idle = pool->history_next_ms == 0;
    const int64_t now_ms = world->now_ms;
    const int64_t from_ms = model->window_ms > 0 ? now_ms / model->window_ms * model->window_ms : 0;
    double d = model->half_life_ms > 0
                   ? exp2(-(double)(now_ms - model->at_ms) / (double)model->half_life_ms)
               : now_ms > from_ms ? (double)(model->at_ms - from_ms) / (double)(now_ms - from_ms)
                                  : 1;
    d = model->at_ms < from_ms ? 0 : d;
    model->whole = model->whole * d + (double)(NODES * SLOTS * SLOT_MILLI) * (1 - d);
    for (unsigned i = 0; i < PROJECTS; i++) {
        struct usage usage;
        query_usage(world->core, account_of(world, i), POOL, &usage);
        const double held = idle ? 0 : (double)usage.allocated.at[DIM_SLOTS];
        model->mean[i] = model->mean[i] * d + held * (1 - d);
    }
    model->at_ms = now_ms;
}

static void model_compare(const struct world *world, const struct model *model)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PROJECTS; i++) {
        const uint32_t part = history_used(world->core, account_of(world, i), POOL, DIM_SLOTS);
        const double expected = model->whole > 0 ? model->mean[i] / model->whole : 0;
        const double got = (double)part / HISTORY_FULL;
        law(got - expected < CLOSE && expected - got < CLOSE, "the part is the model's");
        sum += part;
    }
    law(sum <= HISTORY_FULL, "nobody used more than there was");
}

/* Gives an input to the core, after the model's tick where the input has one. */
static void ticking(struct world *world, struct model *model, struct input in)
{
    struct model next = *model;
    model_tick(world, &next);
    world_do(world, in);
    for (size_t i = 0; i < world->facts.count; i++) {
        if (world->facts.at[i].type == FACT_HISTORY_TICKED) {
            *model = next;
            model_compare(world, model);
        }
    }
}

static void step(struct world *world, struct model *model)
{
    const int64_t before_ms = query_pool(world->core, POOL)->history_at_ms;
    const uint32_t roll = dice_roll(&world->dice, 4);
    world->now_ms += dice_roll(&world->dice, 4000);
    if (dice_once_in(&world->dice, 20)) {
        world->now_ms += dice_roll(&world->dice, 300000);
    }
    if (query_deadline(world->core) <= world->now_ms) {
        ticking(world, model, (struct input){.type = INPUT_TICK});
    }
    if (roll < 2) {
        submit(world);
    } else if (roll == 2) {
        end_one(world);
    }
    pool_id pool;
    while (query_pass_due(world->core, world->now_ms, &pool)) {
        ticking(world, model, (struct input){.type = INPUT_PASS, .pass = {pool, 1000}});
        if (world->facts.count == 0) {
            break;
        }
    }
    if (before_ms == 0) {
        model->at_ms = query_pool(world->core, POOL)->history_at_ms;
    }
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    uint64_t facts = 0;
    for (uint64_t i = 0; i < run.histories; i++) {
        struct world world;
        struct model model = {0};
        prop_history(run.seed + i);
        world_init(&world, run.seed + i, WORLD_TRIPLE);
        begin(&world, &model);
        for (unsigned at = 0; at < STEPS; at++) {
            step(&world, &model);
        }
        facts += world.fact_count;
        world_done(&world);
    }
    printf("%" PRIu64 " histories, %" PRIu64 " facts: the past is what it was\n", run.histories,
           facts);
    return 0;
}
