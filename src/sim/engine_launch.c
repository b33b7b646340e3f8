/* engine_launch.c - the provider of the simulator. A node that a pool asks for joins after the scenario's `node_start`, unless
 * the scenario's `market` refuses the launch or takes the node back.
 * A machine that is to end is gone at the same moment.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/engine_internal.h"

#include <inttypes.h>
#include <string.h>

/* The node as the pool describes the nodes of its provider. */
static const struct cluster_node *node_of(struct engine *engine, const struct pool *pool,
                                          launch_id launch)
{
    struct cluster_node *node = arena_new(&engine->arena, struct cluster_node, 1);
    const char *name = query_pool_name(engine->core, pool->id);
    memset(node, 0, sizeof *node);
    node->spec.pool = arena_str(&engine->arena, name);
    node->spec.name = arena_fmt(&engine->arena, "%s-%" PRIu64, name, launch.v);
    node->spec.slots_milli = (int64_t)pool->node_slots * SLOT_MILLI;
    node->spec.device_count = pool->node_gpus;
    node->spec.cpu_milli = pool->node_cpu_milli;
    node->spec.memory_bytes = pool->node_memory_bytes;
    node->spec.boot_id = "";
    node->spec.address = "";
    node->spec.version = "";
    return node;
}

/* Decides what the provider does with the launch: refuses it, brings the machine up, takes it back one day. */
static void fate_set(struct engine *engine, struct virtual_node *node, const struct pool *pool)
{
    const struct scenario *scenario = engine->scenario;
    const struct flavor *flavor = query_flavor(engine->core, pool->flavor);
    const char *name = query_flavor_name(engine->core, pool->flavor);
    const char *zone = query_launch_zone(query_launch(engine->core, node->launch));
    const int64_t at_ms = engine->now_ms - engine->epoch_ms;
    const bool sold_out = market_sold_out(&scenario->market, name, zone, at_ms);
    node->why = sold_out ? PROVIDER_WHY_NO_CAPACITY : PROVIDER_WHY_OTHER;
    node->refused = sold_out || market_fails(&scenario->market, scenario->seed, node->launch.v);
    if (node->refused || flavor == NULL || !flavor->spot) {
        return;
    }
    const int64_t taken_ms =
        market_taken_ms(&scenario->market, name, zone, at_ms, scenario->seed, node->launch.v);
    if (taken_ms != INT64_MAX) {
        engine_timer(engine, &node->taken, engine->epoch_ms + taken_ms);
    }
}

static void launch_begin(struct engine *engine, const struct effect *effect)
{
    const struct pool *pool = query_pool(engine->core, effect->pool);
    must(pool != NULL);
    const uint32_t index = engine_agents_add(engine, node_of(engine, pool, effect->launch));
    struct virtual_node *node = engine->nodes.at[index];
    while (engine->launched.count <= effect->launch.v) {
        vec_push(&engine->launched, 0);
    }
    engine->launched.at[effect->launch.v] = index;
    node->launch = effect->launch;
    fate_set(engine, node, pool);
    node->unanswered = node->refused || pool->flavor.v != 0;
    engine_timer(engine, &node->back,
                 engine->now_ms + (node->unanswered ? 0 : engine->scenario->node_start_ms));
}

void engine_launch_effect(struct engine *engine, const struct effect *effect)
{
    if (effect->type == EFFECT_LAUNCH) {
        launch_begin(engine, effect);
        return;
    }
    must(effect->type == EFFECT_TERMINATE);
    must(effect->launch.v < engine->launched.count);
    engine_timer(engine, &engine->nodes.at[engine->launched.at[effect->launch.v]]->gone,
                 engine->now_ms);
}

static void answer(struct engine *engine, const struct provider_answer *said)
{
    struct facts facts;
    struct input in = {
        .type = INPUT_PROVIDER, .actor = "provider", .provider = {.answers = said, .count = 1}};
    must(engine_input(engine, &in, &facts) == VERDICT_OK);
}

void engine_launch_answer(struct engine *engine, uint32_t index)
{
    struct virtual_node *node = engine->nodes.at[index];
    const bool sold_out = node->why == PROVIDER_WHY_NO_CAPACITY;
    const struct provider_answer no = {.launch = node->launch,
                                       .says = PROVIDER_FAILED,
                                       .name = "",
                                       .node = "",
                                       .words = sold_out ? "sold out" : "the launch failed",
                                       .why = node->why};
    const struct provider_answer yes = {.launch = node->launch,
                                        .says = PROVIDER_REQUESTED,
                                        .name = node->node->spec.name,
                                        .node = "",
                                        .words = ""};
    node->unanswered = false;
    if (!node->refused) {
        engine_timer(engine, &node->back, engine->now_ms + engine->scenario->node_start_ms);
    }
    answer(engine, node->refused ? &no : &yes);
}

void engine_launch_gone(struct engine *engine, uint32_t index)
{
    struct virtual_node *node = engine->nodes.at[index];
    engine_timer_off(engine, &node->back);
    engine_timer_off(engine, &node->taken);
    engine_timer_off(engine, &node->gone);
    engine_timer_off(engine, &node->lost);
    engine_timer_off(engine, &node->crash);
    node->alive = false;
    node->connected = false;
    const struct provider_answer gone = {
        .launch = node->launch, .says = PROVIDER_GONE, .name = "", .node = "", .words = ""};
    answer(engine, &gone);
}
