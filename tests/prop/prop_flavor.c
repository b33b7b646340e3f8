/* prop_flavor.c - pools that share flavors, and a provider whose zones are now and then sold out.
 *
 * Laws beside those of every world: a pool asks for nodes only when no pool that may ask waits longer; a zone that is
 * sold out is asked by one launch at a time; once the provider has enough of everything, every pool gets all nodes that
 * it wants.
 * SPDX-License-Identifier: Apache-2.0 */
#include "law.h"
#include "prop_run.h"
#include "world.h"

#include "core/model/object.h"
#include "core/state/soldout.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    HISTORIES_DEFAULT = 150,
    STEPS = 120,
    POOLS = 4,
    FLAVORS = 2,
    ZONES = 3,
    NODES_MAX_OF_POOL = 3,
    PASSES_MAX = 200,
    ROUNDS_MAX = 400,
    CAPACITY_MAX = 3,
};

static const char *const zone_names[ZONES] = {"a", "b", "c"};
static const char *const flavor_names[FLAVORS] = {"f", "g"};
static const char *const pool_names[POOLS] = {"p0", "p1", "p2", "p3"};

/* The world, and what the provider has. */
struct market {
    struct world world;
    uint32_t left[FLAVORS]
                 [ZONES + 1]; /* machines; the last column is that of flavors without zones */
    bool plenty;              /* the provider has enough of everything */
    uint64_t asked;           /* launches */
    uint64_t probed;          /* of these, in zones that are sold out */
};

static void must_step(struct market *market, struct input in)
{
    law(world_step(&market->world, in) == VERDICT_OK, "the input is accepted");
}

static void flavor_roll(struct market *market, uint32_t which)
{
    struct world *world = &market->world;
    const struct flavor *known = query_flavor_named(world->core, flavor_names[which]);
    struct flavor_spec spec;
    arena_clear(&world->arena);
    object_init(&flavor_object, &spec);
    spec.name = flavor_names[which];
    spec.slots = 2;
    spec.zones = zone_names;
    spec.zone_count = dice_roll(&world->dice, ZONES + 1);
    spec.price_milli = dice_roll(&world->dice, 5000);
    struct input in = {.type = INPUT_FLAVOR_SET, .flavor = {.spec = &spec}};
    in.flavor.flavor = known != NULL ? known->id : (flavor_id){0};
    (void)world_step(&market->world,
                     in); /* refused while a pool has nodes in a zone that would go */
}

static void pool_roll(struct market *market, uint32_t which)
{
    struct world *world = &market->world;
    const struct pool *known = query_pool_named(world->core, pool_names[which]);
    struct pool_spec spec;
    arena_clear(&world->arena);
    object_init(&pool_object, &spec);
    spec.name = pool_names[which];
    spec.provider = POOL_LOCAL;
    spec.nodes_max = 1 + dice_roll(&world->dice, NODES_MAX_OF_POOL);
    spec.nodes_min = dice_roll(&world->dice, 2);
    spec.node_idle_ms = 60000;
    spec.max_starting_ms = 600000;
    spec.paused = known != NULL && !market->plenty && dice_once_in(&world->dice, 3);
    spec.flavor = flavor_names[which % FLAVORS];
    const struct flavor *flavor = query_flavor_named(world->core, spec.flavor);
    if (flavor != NULL && dice_once_in(&world->dice, 3) &&
        query_flavor_zone(flavor, 0)[0] != '\0') {
        const char **zones = arena_new(&world->arena, const char *, FLAVOR_ZONES_MAX);
        for (uint32_t i = 0; i < flavor->zone_count; i++) {
            const uint32_t nodes = dice_roll(&world->dice, 3);
            zones[i] = arena_fmt(&world->arena, "%s=%u", query_flavor_zone(flavor, i), nodes);
            spec.nodes_fixed += nodes;
        }
        spec.zones = zones;
        spec.zone_count = spec.nodes_fixed > 0 ? flavor->zone_count : 0;
        spec.nodes_min = spec.nodes_fixed > 0 ? spec.nodes_fixed : spec.nodes_min;
        spec.nodes_max = spec.nodes_fixed > 0 ? spec.nodes_fixed : spec.nodes_max;
    }
    spec.grow_period_ms = dice_once_in(&world->dice, 4) ? 5000 : 0;
    struct input in = {.type = known == NULL ? INPUT_POOL_CREATE : INPUT_POOL_EDIT,
                       .pool = {.spec = &spec}};
    in.pool.pool = known != NULL ? known->id : (pool_id){0};
    must_step(market, in);
}

static void submit(struct market *market)
{
    struct world *world = &market->world;
    const char *const pool[] = {pool_names[dice_roll(&world->dice, POOLS)]};
    const char *const argv[] = {"true"};
    struct task_spec spec;
    arena_clear(&world->arena);
    object_init(&task_object, &spec);
    spec.user = "u";
    spec.argv = argv;
    spec.argv_count = 1;
    spec.pools = pool;
    spec.pool_count = 1;
    spec.slots_milli = 1000 * (1 + (int64_t)dice_roll(&world->dice, 2));
    spec.cpu_milli = ASK_NOTHING;
    spec.memory_bytes = ASK_NOTHING;
    spec.instances = 1 + dice_roll(&world->dice, 3);
    must_step(market,
              (struct input){.type = INPUT_TASK_SUBMIT, .submit = {.specs = &spec, .count = 1}});
}

static void kill_one(struct market *market)
{
    struct world *world = &market->world;
    const uint64_t last = query_task_last(world->core).v;
    const task_id task = {1 + dice_roll(&world->dice, (uint32_t)last + 1)};
    arena_clear(&world->arena);
    if (query_task(world->core, task) != NULL) {
        (void)world_step(world, (struct input){.type = INPUT_TASK_KILL, .task = {.task = task}});
    }
}

/* ---- the provider ---- */

static uint32_t *left_of(struct market *market, const struct launch *launch)
{
    const struct pool *pool = query_pool(market->world.core, launch->pool);
    const char *zone = query_launch_zone(launch);
    const char *flavor = query_flavor_name(market->world.core, pool->flavor);
    const uint32_t which = strcmp(flavor, flavor_names[1]) == 0;
    return &market->left[which][zone[0] == '\0' ? ZONES : (uint32_t)(zone[0] - 'a')];
}

static void answer(struct market *market, launch_id launch, enum provider_says says,
                   enum provider_why why)
{
    const struct provider_answer said = {
        .launch = launch,
        .says = says,
        .name = says == PROVIDER_REQUESTED && !dice_once_in(&market->world.dice, 4) ? "m" : "",
        .node = "",
        .words = why == PROVIDER_WHY_OTHER ? "" : "sold out",
        .why = why};
    arena_clear(&market->world.arena);
    must_step(market,
              (struct input){.type = INPUT_PROVIDER, .provider = {.answers = &said, .count = 1}});
}

/* The agent of a machine joins. */
static void join(struct market *market, const struct launch *launch)
{
    struct world *world = &market->world;
    char name[64];
    (void)snprintf(name, sizeof name, "%s-%" PRIu64, query_pool_name(world->core, launch->pool),
                   launch->id.v);
    arena_clear(&world->arena);
    struct node_spec spec;
    object_init(&node_object, &spec);
    spec.name = arena_str(&world->arena, name);
    spec.pool = arena_str(&world->arena, query_pool_name(world->core, launch->pool));
    spec.slots_milli = 2000;
    memcpy(spec.supervisor, &launch->id.v, sizeof launch->id.v);
    must_step(market, (struct input){.type = INPUT_NODE_JOIN, .node = {.spec = &spec}});
}

static void launch_answer(struct market *market, launch_id id)
{
    struct dice *dice = &market->world.dice;
    const struct launch *launch = query_launch(market->world.core, id);
    uint32_t *left = left_of(market, launch);
    if (launch->state == LAUNCH_ENDING) {
        *left += 1;
        answer(market, id, PROVIDER_GONE, PROVIDER_WHY_OTHER);
    } else if (launch->state == LAUNCH_ASKED && !market->plenty && dice_once_in(dice, 8)) {
        answer(market, id, PROVIDER_FAILED,
               dice_once_in(dice, 2) ? PROVIDER_WHY_LIMIT : PROVIDER_WHY_OTHER);
    } else if (launch->state == LAUNCH_ASKED && !market->plenty && *left == 0) {
        answer(market, id, PROVIDER_FAILED,
               dice_once_in(dice, 4) ? PROVIDER_WHY_PRICE : PROVIDER_WHY_NO_CAPACITY);
    } else if (launch->state == LAUNCH_ASKED) {
        *left -= *left > 0;
        answer(market, id, PROVIDER_REQUESTED, PROVIDER_WHY_OTHER);
    } else if (launch->node.v == 0) {
        join(market, launch);
    } else if (!market->plenty && dice_once_in(dice, 3)) {
        answer(market, id, PROVIDER_GONE, PROVIDER_WHY_OTHER); /* taken back */
    }
}

static void launches_answer(struct market *market, bool all)
{
    struct world *world = &market->world;
    const struct launch *launch = query_launch_next(world->core, (launch_id){0});
    while (launch != NULL) {
        const launch_id id = launch->id;
        if (all || dice_once_in(&world->dice, 2)) {
            launch_answer(market, id);
        }
        launch = query_launch_next(world->core, id);
    }
}

/* ---- laws ---- */

/* A pass of a pool. A pool that asks must be first in line, or nobody waits. */
static void pass(struct market *market, pool_id id)
{
    struct world *world = &market->world;
    const struct pool *pool = query_pool(world->core, id);
    const struct flavor *flavor = query_flavor(world->core, pool->flavor);
    pool_id ahead[FLAVOR_ZONES_MAX];
    for (uint32_t i = 0; flavor != NULL && i < flavor->zone_count; i++) {
        const struct pool *first = soldout_first(world->core, flavor->id, i, world->now_ms);
        ahead[i] = first != NULL ? first->id : id;
    }
    arena_clear(&world->arena);
    must_step(market, (struct input){.type = INPUT_PASS, .pass = {.pool = id, .work_max = 1000}});
    for (size_t i = 0; i < world->facts.count; i++) {
        const struct fact *fact = &world->facts.at[i];
        if (fact->type == FACT_LAUNCH_ASKED) {
            flavor = query_flavor(world->core, query_pool(world->core, id)->flavor);
            const int zone = query_flavor_zone_named(flavor, fact->launch.zone);
            law(zone >= 0, "nodes are asked for in a zone of the flavor");
            law(ahead[zone].v == id.v, "the pool that waits longest in a zone is served first");
            market->asked++;
        }
    }
    if (world->facts.count == 0) {
        core_pass_idle(world->core, id);
        core_pass_idle(world->plain, id);
        core_pass_idle(world->restarted, id);
    }
}

static void zone_check(struct market *market, const struct flavor *flavor, uint32_t at)
{
    const struct core *core = market->world.core;
    const struct flavor_zone *zone = &flavor->zones[at];
    uint32_t asking = 0;
    if (soldout_zone_open(zone, market->world.now_ms)) {
        return;
    }
    for (const struct launch *launch = query_launch_next(core, (launch_id){0}); launch != NULL;
         launch = query_launch_next(core, launch->id)) {
        asking += query_pool(core, launch->pool)->flavor.v == flavor->id.v &&
                  strcmp(query_launch_zone(launch), query_flavor_zone(flavor, at)) == 0 &&
                  launch->state == LAUNCH_ASKED && launch->asked_ms > zone->failed_ms;
    }
    law(asking <= 1, "one launch at a time asks whether a zone is still sold out");
    market->probed += asking;
}

static void settle(struct market *market)
{
    struct world *world = &market->world;
    pool_id id;
    for (uint32_t i = 0; query_pass_due(world->core, world->now_ms, &id); i++) {
        law(i < PASSES_MAX, "P6: passes come to rest");
        pass(market, id);
    }
    for (const struct flavor *flavor = query_flavor_next(world->core, (flavor_id){0});
         flavor != NULL; flavor = query_flavor_next(world->core, flavor->id)) {
        for (uint32_t i = 0; i < flavor->zone_count; i++) {
            zone_check(market, flavor, i);
        }
    }
}

/* Time goes on to the next deadline, or a little. */
static void later(struct market *market, int64_t most_ms)
{
    struct world *world = &market->world;
    const int64_t deadline_ms = query_deadline(world->core);
    const int64_t next_ms = world->now_ms + most_ms;
    world->now_ms = deadline_ms > world->now_ms && deadline_ms < next_ms ? deadline_ms : next_ms;
    arena_clear(&world->arena);
    must_step(market, (struct input){.type = INPUT_TICK});
}

/* ---- a history ---- */

static void step(struct market *market)
{
    struct world *world = &market->world;
    switch (dice_roll(&world->dice, 8)) {
    case 0:
    case 1:
        submit(market);
        break;
    case 2:
        kill_one(market);
        break;
    case 3:
    case 4:
        launches_answer(market, false);
        break;
    case 5:
        market->left[dice_roll(&world->dice, FLAVORS)][dice_roll(&world->dice, ZONES + 1)] =
            dice_roll(&world->dice, CAPACITY_MAX + 1);
        break;
    case 6:
        if (dice_once_in(&world->dice, 2)) {
            pool_roll(market, dice_roll(&world->dice, POOLS));
        } else {
            flavor_roll(market, dice_roll(&world->dice, FLAVORS));
        }
        break;
    default:
        later(market, dice_once_in(&world->dice, 10) ? 2 * 3600 * 1000 : 90 * 1000);
        break;
    }
    settle(market);
}

/* Does an instance wait in the pool that has no promised place? */
static bool has_need(const struct core *core, const struct pool *pool)
{
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->pool.v == pool->id.v && task->queued &&
            task->waiting_count > task->claimed_count) {
            return true;
        }
    }
    return false;
}

/* Does the pool have all nodes that it may have, or nothing that waits? */
static bool is_served(const struct core *core, const struct pool *pool)
{
    return pool->sold_nodes == 0 && (pool->launch_live >= pool->nodes_max || !has_need(core, pool));
}

static bool all_served(const struct core *core)
{
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (pool->flavor.v != 0 && !is_served(core, pool)) {
            return false;
        }
    }
    return true;
}

static uint64_t history(uint64_t seed)
{
    struct market market = {0};
    const uint8_t uuid[16] = {1};
    world_init(&market.world, seed, WORLD_TRIPLE);
    struct input start = {.type = INPUT_SERVER_START};
    memcpy(start.server.server_uuid, uuid, sizeof uuid);
    must_step(&market, start);
    for (uint32_t i = 0; i < FLAVORS; i++) {
        flavor_roll(&market, i);
    }
    for (uint32_t i = 0; i < POOLS; i++) {
        pool_roll(&market, i);
    }
    for (uint32_t i = 0; i < STEPS; i++) {
        step(&market);
    }
    market.plenty = true;
    for (uint32_t i = 0; i < POOLS; i++) {
        pool_roll(&market, i); /* none is paused */
    }
    uint32_t rounds = 0;
    do {
        law(rounds++ < ROUNDS_MAX, "P7: what is wanted comes, once the provider has it");
        settle(&market);
        launches_answer(&market, true); /* machines are made … */
        launches_answer(&market, true); /* … and their agents join */
        settle(&market);
        later(&market, 3600 * 1000);
        settle(&market);
    } while (!all_served(market.world.core));
    world_done(&market.world);
    return market.probed;
}

int main(int argc, char **argv)
{
    const struct prop_run run = prop_begin(argc, argv, HISTORIES_DEFAULT);
    uint64_t probed = 0;
    for (uint64_t i = 0; i < run.histories; i++) {
        prop_history(run.seed + i);
        probed += history(run.seed + i);
    }
    law(run.histories < 10 || probed > 0, "some histories have zones that are sold out");
    printf("%" PRIu64 " histories of flavors\n", run.histories);
    return 0;
}
