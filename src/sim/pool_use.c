/* pool_use.c - see pool_use.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/pool_use.h"

#include "sim/paid.h"

void pool_use_init(struct pool_uses *uses, const struct scenario *scenario)
{
    *uses = (struct pool_uses){.scenario = scenario};
}

void pool_use_done(struct pool_uses *uses)
{
    vec_done(&uses->at);
}

/* Returns the counts of a pool. Pools may be created during a run. */
static struct pool_use *use_of(struct pool_uses *uses, const struct core *core, pool_id pool)
{
    must(pool.v > 0);
    while (uses->at.count < pool.v) {
        const pool_id id = {(uint32_t)uses->at.count + 1};
        vec_push(&uses->at, (struct pool_use){0});
        fragments_init(&uses->at.at[id.v - 1].fragments, uses->scenario, query_pool_name(core, id),
                       FRAGMENTS_BY_SLOTS);
    }
    return &uses->at.at[pool.v - 1];
}

void pool_use_allocate(struct pool_uses *uses, const struct core *core, pool_id pool, int64_t milli)
{
    struct pool_use *use = use_of(uses, core, pool);
    use->allocated_milli += milli;
    must(use->allocated_milli >= 0);
}

int64_t pool_use_capacity(struct pool_uses *uses, const struct core *core)
{
    int64_t sum = 0;
    for (size_t i = 0; i < uses->at.count; i++) {
        uses->at.at[i].capacity_milli = 0;
    }
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        if (node->state == NODE_UP) {
            use_of(uses, core, node->pool)->capacity_milli += node->slots_milli;
            sum += node->slots_milli;
        }
    }
    return sum;
}

void pool_use_count(struct pool_uses *uses, int64_t for_ms)
{
    for (size_t i = 0; i < uses->at.count; i++) {
        struct pool_use *use = &uses->at.at[i];
        use->allocated_area += (__int128)use->allocated_milli * for_ms;
        use->capacity_area += (__int128)use->capacity_milli * for_ms;
    }
}

uint32_t pool_use_place(pool_id pool)
{
    must(pool.v > 0);
    return pool.v <= SERIES_POOLS_MAX ? pool.v - 1 : SERIES_POOLS_MAX - 1;
}

void pool_use_sample(const struct pool_uses *uses, const struct core *core, int64_t core_ms,
                     struct sample *ret)
{
    for (size_t i = 0; i < uses->at.count; i++) {
        const struct pool_use *use = &uses->at.at[i];
        const pool_id id = {(uint32_t)i + 1};
        struct pool_sample *pool = &ret->pools[pool_use_place(id)];
        const int64_t kept = paid_kept(query_pool(core, id), core_ms);
        const int64_t fragmented = fragments_of_pool(&use->fragments, core, id);
        pool->allocated_milli += use->allocated_milli;
        pool->capacity_milli += use->capacity_milli;
        pool->fragmented_milli += fragmented;
        pool->kept_milli += kept;
        ret->fragmented_milli += fragmented;
        ret->kept_milli += kept;
    }
}
