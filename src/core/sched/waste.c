/* waste.c - see waste.h. Surprising: idle slots are cut to WASTE_BITS bits first, so that sums of squares fit 64 bits on the
 * largest node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/waste.h"

#include "base/must.h"
#include "core/core_internal.h"

enum {
    WASTE_BITS = 24,
    WASTE_ROOT =
        64, /* of about four slots: from there on more idle slots count less than in proportion */
};

void tastes_load(struct tastes *tastes, const struct core *core, pool_id pool)
{
    *tastes = (struct tastes){.count = core_pool(core, pool)->typical_weighed,
                              .version = core_pool(core, pool)->typical_version};
    must(tastes->count <= TYPICAL_MAX);
    for (uint32_t i = 0; i < tastes->count; i++) {
        tastes->at[i] = table_get(&core->typicals, TYPICAL_WEIGHED_KEY(pool, i));
        tastes->labelled |= tastes->at[i]->request.label_count > 0;
    }
}

uint64_t waste_root(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= value) {
            root += bit;
        }
    }
    return root;
}

int64_t waste_of(const struct tastes *tastes, const struct place *place)
{
    const int64_t idle = place->slots_free;
    if (idle <= 0) {
        return 0;
    }
    const int bits = 64 - __builtin_clzll((uint64_t)idle);
    const int shift = bits > WASTE_BITS ? bits - WASTE_BITS : 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < tastes->count; i++) {
        const struct request *request = &tastes->at[i]->request;
        const uint32_t fits = fit_count(place, request, UINT32_MAX);
        const int64_t left = idle - (int64_t)fits * fit_slots(place->node, request);
        must(left >= 0);
        const uint64_t part = (uint64_t)left >> shift;
        sum += tastes->at[i]->count * part * part;
    }
    const uint64_t waste = sum / ((uint64_t)idle >> shift) << shift;
    return (int64_t)(waste * WASTE_ROOT / (WASTE_ROOT + waste_root((uint64_t)idle)));
}

int64_t waste_growth(const struct tastes *tastes, const struct place *place, int64_t waste,
                     const struct request *plain, uint32_t count)
{
    struct place_room room;
    struct place after;
    place_copy(place, &room, &after);
    for (uint32_t i = 0; i < count; i++) {
        struct grant grant;
        fit_grant(&after, plain, &grant);
        place_take(&after, &room, plain, &grant);
    }
    return waste_of(tastes, &after) - waste;
}
