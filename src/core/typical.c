/* typical.c - learning what is usually asked of a pool (model/typical.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/change.h"
#include "core/sched/waste.h"

#include <string.h>

static const struct typical *counted(const struct core *core, const struct pool *pool,
                                     uint32_t place)
{
    return table_get(&core->typicals, TYPICAL_KEY(pool->id, place));
}

/* All counts are halved, so that what comes counts for more than what is long past. */
static void counts_fade(struct core *core, struct pool *pool)
{
    pool->typical_sum = 0;
    for (uint32_t i = 0; i < pool->typical_counted; i++) {
        struct typical *row = table_edit(&core->typicals, TYPICAL_KEY(pool->id, i));
        row->count = (row->count + 1) / 2;
        pool->typical_sum += row->count;
    }
}

/* Requests weigh as much as they were asked for, large ones less than the slots they took: their number counts, too. */
static uint64_t plain_weight(const struct typical *row)
{
    return row->count / waste_root((uint64_t)row->request.slots_milli);
}

/* The places of the rows with the highest counts, highest first, equal ones by place. Returns how many. */
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
    if (pool->typical_sum >= TYPICAL_SUM_MAX) {
        counts_fade(core, pool);
    }
    const uint32_t count = weightiest(core, pool, places);
    uint64_t sum = 1;
    for (uint32_t i = 0; i < count; i++) {
        sum += plain_weight(counted(core, pool, places[i]));
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t key = TYPICAL_WEIGHED_KEY(pool->id, i);
        struct typical *row = i < pool->typical_weighed ? table_edit(&core->typicals, key)
                                                        : table_put(&core->typicals, key);
        *row = *counted(core, pool, places[i]);
        row->count = plain_weight(row) * TYPICAL_WEIGHT_SUM / sum + 1;
    }
    pool->typical_weighed = count;
    pool->typical_since = 0;
    pool->typical_version++;
}

/* The row of the request: the one it has, a new one, or the rarest one's. */
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

/* What one task asks of a node. The parts of a task that is wider than a node want whole nodes: they count as requests for one of the
 * pool's mean size. */
static void node_request(const struct pool *pool, const struct request *request,
                         struct request *ret)
{
    *ret = *request;
    ret->wide = 0;
    ret->avoid_count = 0;
    memset(ret->avoid, 0, sizeof ret->avoid);
    ret->device_mask = 0;
    if (!request->wide || pool->node_count == 0) {
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
        return; /* what is weighed is how slots lie idle */
    }
    struct pool *pool = pool_edit(core, id);
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
