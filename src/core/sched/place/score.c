/* score.c - the placements `pack` and `spread` as numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/place/score.h"

#include "base/must.h"
#include "core/model/node.h"
#include "core/state/capacity.h"

/* The total and the free amount of a resource on a node. */
struct stock {
    int64_t total;
    int64_t free;
    int64_t unit; /* the amount that counts as one */
};

static struct stock stock_of(const struct space *place, uint16_t resource)
{
    const struct node *node = place->node;
    switch (resource) {
    case RESOURCE_SLOTS:
        return (struct stock){node->slots_milli, place->slots_free, SLOT_MILLI};
    case RESOURCE_CPU:
        return (struct stock){node->cpu_milli, place->cpu_free, SLOT_MILLI};
    case RESOURCE_MEMORY:
        return (struct stock){node->memory_bytes, place->memory_free, 1};
    case RESOURCE_AUX:
        return (struct stock){node->aux_max, (int64_t)node->aux_max - (int64_t)place->aux_used, 1};
    }
    for (uint32_t i = 0; i < node->named_count; i++) {
        if (node->named[i].resource.v == resource) {
            return (struct stock){node->named[i].milli, place->named_free[i], SLOT_MILLI};
        }
    }
    return (struct stock){0, 0, 1};
}

uint16_t score_resource(const struct request *request)
{
    if (request_has_slots(request)) {
        return RESOURCE_SLOTS;
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (request->named[i].milli > 0) {
            return request->named[i].resource.v;
        }
    }
    if (request->cpu_milli > 0) {
        return RESOURCE_CPU;
    }
    return request->memory_bytes > 0 ? RESOURCE_MEMORY : RESOURCE_AUX;
}

int64_t score_free(const struct space *place, uint16_t resource)
{
    return stock_of(place, resource).free;
}

struct score score_of(enum pool_placement placement, const struct space *place,
                      const struct request *request)
{
    uint16_t resource = score_resource(request);
    /* A node that works for tasks with slots is judged by its slots also for a task that requests nothing. */
    if (resource == RESOURCE_AUX && place->slots_free < place->node->slots_milli) {
        resource = RESOURCE_SLOTS;
    }
    struct stock stock = stock_of(place, resource);
    if (stock.total <= 0) {
        return (struct score){0, 1};
    }
    must(stock.unit > 0);
    stock.free = stock.free > 0 ? stock.free : 0; /* an overhang counts as nothing free */
    if (placement == PLACEMENT_SPREAD) {
        return (struct score){stock.free, stock.total};
    }
    return (struct score){stock.unit, stock.unit + stock.free};
}

int score_compare(struct score a, struct score b)
{
    must(a.under > 0);
    must(b.under > 0);
    const __int128 left = (__int128)a.over * b.under;
    const __int128 right = (__int128)b.over * a.under;
    return left < right ? -1 : left > right;
}
