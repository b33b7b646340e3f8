/* engine_launch.c - the provider of the simulator. A node that a pool asks for joins after the scenario's `node_start`.
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
    engine_timer(engine, &node->back, engine->now_ms + engine->scenario->node_start_ms);
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

void engine_launch_gone(struct engine *engine, uint32_t index)
{
    struct virtual_node *node = engine->nodes.at[index];
    struct facts facts;
    engine_timer_off(engine, &node->back);
    engine_timer_off(engine, &node->lost);
    engine_timer_off(engine, &node->crash);
    node->alive = false;
    node->connected = false;
    const struct provider_answer gone = {
        .launch = node->launch, .says = PROVIDER_GONE, .name = "", .node = "", .words = ""};
    struct input in = {
        .type = INPUT_PROVIDER, .actor = "provider", .provider = {.answers = &gone, .count = 1}};
    must(engine_input(engine, &in, &facts) == VERDICT_OK);
}
