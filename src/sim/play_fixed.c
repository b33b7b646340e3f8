/* play_fixed.c - see play_fixed.h.
 *
 * The pools keep their provider, so that cost and node-hours are counted the same way; only the minimum becomes the
 * maximum, nodes join at once, and no launch is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play_fixed.h"

#include <string.h>

/* The pools with all their nodes always up, in the arena. Returns how many nodes that are. */
static uint64_t pools_fix(const struct scenario *scenario, struct arena *arena,
                          struct scenario *fixed)
{
    uint64_t nodes = 0;
    struct pool_spec *pools = arena_new(arena, struct pool_spec, scenario->pools.count + 1);
    for (size_t i = 0; i < scenario->pools.count; i++) {
        pools[i] = scenario->pools.at[i];
        if (pools[i].provider != POOL_STATIC) {
            pools[i].nodes_min = pools[i].nodes_max;
            nodes += pools[i].nodes_max;
        }
    }
    fixed->pools.at = pools;
    return nodes;
}

void play_fixed(const struct scenario *scenario, const volatile sig_atomic_t *stop,
                struct fleet_fixed *ret)
{
    struct arena arena;
    struct error e;
    struct result result;
    struct scenario fixed = *scenario;
    *ret = (struct fleet_fixed){0};
    arena_init(&arena);
    fixed.market = (struct market){0};
    fixed.node_start_ms = 0;
    ret->nodes = pools_fix(scenario, &arena, &fixed);
    if (ret->nodes == 0) {
        arena_done(&arena);
        return;
    }
    struct metrics *metrics = metrics_new(&fixed);
    struct engine_options how = {.stop = stop};
    how.watchers[how.watcher_count++] = metrics_watcher(metrics);
    struct engine *engine = engine_new(&fixed, &how);
    if (engine_run(engine, &e) == ERR_OK && !engine_stopped(engine)) {
        metrics_result(metrics, engine, &arena, &result);
        ret->played = true;
        ret->node_ms = result.fleet.node_ms;
        ret->cost_milli = fleet_cost_milli(&result.fleet);
        ret->wait_mean_ms = result.wait.mean_ms;
    }
    engine_free(engine);
    metrics_free(metrics);
    arena_done(&arena);
}

const char *play_fixed_currency(const struct scenario *scenario)
{
    const char *currency = "";
    for (size_t i = 0; i < scenario->flavors.count; i++) {
        const struct flavor_spec *flavor = &scenario->flavors.at[i];
        if (flavor->price_milli > 0 && currency[0] != '\0' &&
            strcmp(currency, flavor->currency) != 0) {
            return "";
        }
        currency = flavor->price_milli > 0 ? flavor->currency : currency;
    }
    return currency;
}
