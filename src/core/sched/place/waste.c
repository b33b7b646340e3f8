/* waste.c - see waste.h. Surprising: idle slots are cut to WASTE_BITS bits first, so that sums of squares fit 64 bits on the
 * largest node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/waste.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/table.h"
#include "core/model/typical.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum {
    WASTE_BITS = 24,
    ROOT_BITS =
        8, /* of roots behind the point: whole ones would jump by more than what placements differ */
    WASTE_ROOT =
        64
        << ROOT_BITS, /* of about four slots: from there on more idle slots count less than in proportion */
};

void waste_uses_load(struct typical_uses *uses, const struct core *core, pool_id pool)
{
    uses->count = query_pool(core, pool)->typical_weighed;
    uses->version = query_pool(core, pool)->typical_version;
    uses->labelled = false;
    must(uses->count <= TYPICAL_MAX);
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct typical *row = table_get(&core->typicals, TYPICAL_WEIGHED_KEY(pool, i));
        typical_use_of(&row->request, row->count, &uses->at[i]);
        uses->labelled |= row->request.label_count > 0;
    }
}

int64_t waste_of(const struct typical_uses *uses, const struct space *place)
{
    const int64_t slots = place->slots_free;
    if (slots <= 0) {
        return 0;
    }
    const int bits = 64 - __builtin_clzll((uint64_t)slots);
    const int shift = bits > WASTE_BITS ? bits - WASTE_BITS : 0;
    struct idle idle;
    typical_use_idle(place, &idle);
    uint64_t sum = 0;
    uint64_t foreign = 0; /* weights of requests for other kinds of nodes */
    for (uint32_t i = 0; i < uses->count; i++) {
        const struct typical_use *use = &uses->at[i];
        if (!typical_use_suits(use, place->node)) {
            foreign += use->weight;
            continue;
        }
        const uint32_t fits = typical_use_fits(use, &idle);
        const int64_t one = use->plain ? use->slots_milli : fit_slots(place->node, use->request);
        const int64_t left = slots - (int64_t)fits * one;
        must(left >= 0);
        const uint64_t part = (uint64_t)left >> shift;
        sum += use->weight * part * part;
    }
    const uint64_t waste = sum / ((uint64_t)slots >> shift) << shift;
    const uint64_t root = typical_use_root((uint64_t)slots << 2 * ROOT_BITS);
    return (int64_t)(waste * WASTE_ROOT / (WASTE_ROOT + root) + foreign * (uint64_t)slots);
}

int64_t waste_growth(const struct typical_uses *uses, const struct space *place, int64_t waste,
                     const struct request *plain, uint32_t count)
{
    struct space_room room;
    struct space after;
    space_copy(place, &room, &after);
    for (uint32_t i = 0; i < count; i++) {
        struct grant grant;
        fit_grant(&after, plain, &grant);
        space_take(&after, &room, plain, &grant);
    }
    return waste_of(uses, &after) - waste;
}
