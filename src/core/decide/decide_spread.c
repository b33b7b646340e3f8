/* decide_spread.c - more slots than any one node has: the task becomes a gang of one-slot instances, which fill uneven nodes as far
 * as they go; or, where the pool wants no uneven parts, a gang of equal ones that fill a node each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/fit.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/spec.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Only where nothing but slots is asked for, so that the parts are equal and together the whole. */
static bool may_spread(const struct task_spec *spec, const struct request *request)
{
    return spec->instances == 1 && !spec->gang && request->slots_milli > SLOT_MILLI &&
           request->share_devices == 0 && request->slots_milli % SLOT_MILLI == 0 &&
           request->slots_milli / SLOT_MILLI <= TASK_INSTANCES_MAX && request->cpu_milli < 0 &&
           request->memory_bytes < 0 && request->device_mask == 0 && request->named_count == 0;
}

/* The most one-slot instances that any one node of the pool could ever hold: the largest nodes first, until no other can hold
 * more. */
static uint32_t most_on_one(const struct core *core, pool_id pool, const struct request *one,
                            uint32_t max)
{
    uint32_t most = 0;
    struct okey key = {{pool.v, 0, 0, 0}};
    while (most < max && oindex_next(&core->orders[ORDER_NODE_SIZE], key, &key) &&
           key.at[0] == pool.v && ~key.at[1] / SLOT_MILLI > most) {
        struct space_room room;
        struct space empty;
        space_empty(query_node(core, (node_id){(uint32_t)key.at[2]}), &room, &empty);
        const uint32_t holds = fit_count(&empty, one, max);
        most = holds > most ? holds : most;
    }
    return most;
}

/* Nodes with exactly so many slots that could hold a part of that size. */
static uint32_t nodes_of_size(const struct core *core, pool_id pool, const struct request *part,
                              uint32_t max)
{
    uint32_t count = 0;
    node_id after = {0};
    const struct node *node;
    while (count < max && (node = query_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        struct space_room room;
        struct space empty;
        space_empty(node, &room, &empty);
        count += node->slots_milli == part->slots_milli && fit_count(&empty, part, 1) == 1;
    }
    return count;
}

/* The slots of each part where all are equal and fill a node, the fewest parts; 0: there are no such nodes. */
static uint32_t equal_part(const struct core *core, pool_id pool, const struct request *request,
                           uint32_t slots, uint32_t most)
{
    struct request part = *request;
    for (uint32_t each = most; each > 0; each--) {
        part.slots_milli = (int64_t)each * SLOT_MILLI;
        if (slots % each == 0 && nodes_of_size(core, pool, &part, slots / each) == slots / each) {
            return each;
        }
    }
    return 0;
}

const struct task_spec *decide_spread(struct step *step, const struct pool *pool,
                                      const struct task_spec *spec, struct request *request)
{
    if (!may_spread(spec, request)) {
        return spec;
    }
    const uint32_t count = (uint32_t)(request->slots_milli / SLOT_MILLI);
    struct request one = *request;
    one.slots_milli = SLOT_MILLI;
    const uint32_t most = most_on_one(step->core, pool->id, &one, count);
    if (most == 0 || most >= count) {
        return spec;
    }
    const uint32_t each =
        pool->uneven_off ? equal_part(step->core, pool->id, request, count, most) : 1;
    if (each == 0) {
        return spec;
    }
    struct task_spec *gang = arena_dup(step->out->arena, spec, sizeof *spec);
    gang->slots_milli = (int64_t)each * SLOT_MILLI;
    gang->instances = count / each;
    gang->gang = true;
    request->slots_milli = gang->slots_milli;
    request->wide = !pool->uneven_off;
    return gang;
}

static int by_size(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The most slots, fewer than were asked for, that equal parts make up which fill a node each. */
static int64_t largest_equal(struct step *step, const struct pool *pool,
                             const struct request *request)
{
    int64_t *sizes = arena_new(step->out->arena, int64_t, pool->node_count);
    uint32_t count = 0;
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(step->core, pool->id, after)) != NULL) {
        after = node->id;
        struct request part = *request;
        struct space_room room;
        struct space empty;
        part.slots_milli = node->slots_milli;
        space_empty(node, &room, &empty);
        if (node->slots_milli > 0 && fit_count(&empty, &part, 1) == 1) {
            must(count < pool->node_count);
            sizes[count++] = node->slots_milli;
        }
    }
    if (count > 0) {
        sort_items(sizes, count, sizeof sizes[0], by_size);
    }
    int64_t best = -1;
    int64_t parts = 0;
    for (uint32_t i = 0; i < count; i++) {
        parts = i > 0 && sizes[i] == sizes[i - 1] ? parts + 1 : 1;
        const int64_t wanted = (request->slots_milli - SLOT_MILLI) / sizes[i];
        const int64_t whole = (wanted < parts ? wanted : parts) * sizes[i];
        best = whole > best ? whole : best;
    }
    return best;
}

void decide_spread_refused(struct step *step, const struct pool *pool, const struct task_spec *spec,
                           const struct request *request)
{
    struct reason *reason = &step->out->refusal;
    const bool short_of_nodes = reason->code == REASON_GANG_TOO_LARGE;
    if ((short_of_nodes || reason->code == REASON_DOMAIN_TOO_SMALL) && request->wide) {
        reason->code = short_of_nodes ? REASON_TOO_LARGE : reason->code;
        reason->resource = (resource_id){RESOURCE_SLOTS};
        reason->wanted = (int64_t)reason->need * SLOT_MILLI;
        reason->available = (int64_t)reason->have * SLOT_MILLI;
        reason->smallest = reason->available > 0 ? reason->available : -1;
    } else if ((reason->code == REASON_TOO_LARGE || reason->code == REASON_COMBINATION) &&
               reason->resource.v == RESOURCE_SLOTS && pool->uneven_off &&
               may_spread(spec, request)) {
        const int64_t equal = largest_equal(step, pool, request);
        reason->smallest = equal > reason->smallest ? equal : reason->smallest;
    }
}
