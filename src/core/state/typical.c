/* typical.c - learning the typical requests of a pool (model/typical.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/typical.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/table.h"
#include "core/model/typical.h"
#include "core/model/typical_use.h"
#include "core/state/change.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

/* The sum of all weights times TYPICAL_WEIGHT_SUM fits 64 bits. */
#define WEIGHT_MOST ((uint64_t)1 << 40)

static const struct typical *counted(const struct core *core, const struct pool *pool,
                                     uint32_t place)
{
    return table_get(&core->typicals, TYPICAL_KEY(pool->id, place));
}

/* Halves all counts, so that new requests count more than old requests. */
static void counts_fade(struct core *core, struct pool *pool)
{
    pool->typical_sum = 0;
    for (uint32_t i = 0; i < pool->typical_counted; i++) {
        struct typical *row = table_edit(&core->typicals, TYPICAL_KEY(pool->id, i));
        row->count = (row->count + 1) / 2;
        pool->typical_sum += row->count;
    }
}

/* The sum at which all counts are halved: in a large pool the slots that fill the pool once. */
static uint64_t remembered(const struct pool *pool)
{
    const int64_t least = pool->slots_milli > TYPICAL_SUM_MAX ? pool->slots_milli : TYPICAL_SUM_MAX;
    return (uint64_t)(least < TYPICAL_SUM_MOST ? least : TYPICAL_SUM_MOST);
}

/* For each row: how many more instances the pool's nodes could take now, if they took nothing else. */
static void rooms_count(const struct core *core, const struct pool *pool, const uint32_t *places,
                        uint32_t count, uint64_t *ret)
{
    struct typical_use uses[TYPICAL_MAX];
    for (uint32_t i = 0; i < count; i++) {
        typical_use_of(&counted(core, pool, places[i])->request, 0, &uses[i]);
        ret[i] = 0;
    }
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(core, pool->id, after)) != NULL) {
        after = node->id;
        if (!fit_usable(node) || node->slots_free <= 0) {
            continue;
        }
        struct space place;
        struct idle idle;
        space_now(node, &place);
        typical_use_idle(&place, &idle);
        for (uint32_t i = 0; i < count; i++) {
            ret[i] += typical_use_fits(&uses[i], &idle);
        }
    }
}

/* The weight of a request: higher when the request is frequent, a little higher when it is large, higher when
 * few free slots (`room`) could serve it. */
static uint64_t plain_weight(const struct pool *pool, const struct typical *row, uint64_t room)
{
    const uint64_t slots = (uint64_t)row->request.slots_milli;
    const uint64_t often =
        row->count * SLOT_MILLI / typical_use_root(slots * typical_use_root(slots));
    const uint64_t whole = (uint64_t)pool->slots_milli + slots;
    const unsigned __int128 weight = (unsigned __int128)often * whole / slots / (room + 1);
    return weight < WEIGHT_MOST ? (uint64_t)weight + 1 : WEIGHT_MOST;
}

/* The places of the rows with the highest counts, highest first; rows with equal counts by place. Returns the
 * number of rows. */
static uint32_t weightiest(const struct core *core, const struct pool *pool, uint32_t *ret)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < pool->typical_counted; i++) {
        const uint64_t count = counted(core, pool, i)->count;
        uint32_t at = found;
        while (at > 0 && counted(core, pool, ret[at - 1])->count < count) {
            at--;
        }
        if (at == TYPICAL_MAX) {
            continue;
        }
        found = found < TYPICAL_MAX ? found + 1 : found;
        memmove(&ret[at + 1], &ret[at], (found - at - 1) * sizeof *ret);
        ret[at] = i;
    }
    return found;
}

static void weigh(struct core *core, struct pool *pool)
{
    uint32_t places[TYPICAL_MAX];
    if (pool->typical_sum >= remembered(pool)) {
        counts_fade(core, pool);
    }
    const uint32_t count = weightiest(core, pool, places);
    uint64_t weights[TYPICAL_MAX];
    uint64_t sum = 0;
    rooms_count(core, pool, places, count, weights);
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = plain_weight(pool, counted(core, pool, places[i]), weights[i]);
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = TYPICAL_WEIGHED_KEY(pool->id, i);
        struct typical *row = i < pool->typical_weighed ? table_edit(&core->typicals, key)
                                                        : table_put(&core->typicals, key);
        *row = *counted(core, pool, places[i]);
        row->count = weights[i] * TYPICAL_WEIGHT_SUM / sum + 1;
    }
    pool->typical_weighed = count;
    pool->typical_since = 0;
    pool->typical_version++;
}

/* The row for a request: its own row, a new row, or the row of the rarest request. */
static struct typical *row_for(struct core *core, struct pool *pool, const struct request *request)
{
    uint32_t rarest = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < pool->typical_counted; i++) {
        const struct typical *row = counted(core, pool, i);
        if (memcmp(&row->request, request, sizeof *request) == 0) {
            return table_edit(&core->typicals, TYPICAL_KEY(pool->id, i));
        }
        if (row->count < least) {
            least = row->count;
            rarest = i;
        }
    }
    struct typical *row =
        pool->typical_counted < TYPICAL_COUNTED_MAX
            ? table_put(&core->typicals, TYPICAL_KEY(pool->id, pool->typical_counted++))
            : table_edit(&core->typicals, TYPICAL_KEY(pool->id, rarest));
    row->request = *request;
    return row;
}

static int64_t times(int64_t amount, int64_t factor)
{
    int64_t product;
    return amount <= 0 || __builtin_mul_overflow(amount, factor, &product) ? amount : product;
}

/* What an instance requests of a node, without devices and nodes that only this task names. A part of a wide
 * task counts as a request for a whole node of the pool's mean size, because a wide task wants whole nodes. */
static void node_request(const struct pool *pool, const struct request *request,
                         struct request *ret)
{
    *ret = *request;
    ret->wide = 0;
    ret->avoid_count = 0;
    memset(ret->avoid, 0, sizeof ret->avoid);
    ret->device_mask = 0;
    if (request->wide != WIDE_PARTS || pool->node_count == 0) {
        return;
    }
    const int64_t mean = pool->slots_milli / pool->node_count;
    const int64_t parts = mean / request->slots_milli;
    if (parts > 1) {
        ret->slots_milli *= parts;
        ret->cpu_milli = times(ret->cpu_milli, parts);
        ret->memory_bytes = times(ret->memory_bytes, parts);
        for (uint32_t i = 0; i < ret->named_count; i++) {
            ret->named[i].milli = times(ret->named[i].milli, parts);
        }
    }
}

void typical_learn(struct core *core, pool_id id, const struct request *request, uint32_t instances)
{
    must(instances > 0);
    if (request->slots_milli <= 0) {
        return; /* weights are about idle slots only */
    }
    struct pool *pool = change_pool_edit(core, id);
    struct request plain;
    node_request(pool, request, &plain);
    const int64_t slots =
        request->slots_milli < TYPICAL_STEP_MAX ? request->slots_milli : TYPICAL_STEP_MAX;
    const uint64_t asked = (uint64_t)slots * instances;
    const uint64_t step = asked < TYPICAL_STEP_MAX ? asked : TYPICAL_STEP_MAX;
    row_for(core, pool, &plain)->count += step;
    pool->typical_sum += step;
    pool->typical_since += step;
    if (pool->typical_sum >= TYPICAL_SUM_MIN && pool->typical_since * 4 >= pool->typical_sum) {
        weigh(core, pool);
    }
}
