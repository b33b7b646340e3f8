/* explain_possible.c - can a request ever run (P9), and if not, what is the smallest change with which it could?
 *
 * "Ever" means: on the nodes of the pool that were not removed, as if nothing ran there, and on the nodes that the pool's provider
 * can still bring up. Lost, silent and draining nodes count. In a pool that has and gets no nodes every request is possible: the task
 * waits for the first node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "base/str.h"
#include "core/model/label.h"
#include "core/model/fit.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/sched/explain/explain.h"
#include "core/sched/explain/lower.h"
#include "core/state/elastic.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* A walk over the nodes of a pool. Last comes the node that the pool's provider could still bring up. */
struct node_walk {
    struct okey key;
    struct space_room room;
    struct node flavor;
    uint32_t times; /* how many such nodes there are */
    bool ended;
};

/* The next node of the pool, as if nothing ran there. The largest node comes first, so that a possible request is found soon. */
static bool next_empty(const struct core *core, const struct pool *pool, struct node_walk *walk,
                       struct space *ret)
{
    if (walk->ended) {
        return false;
    }
    walk->times = 1;
    if (oindex_next(&core->orders[ORDER_NODE_SIZE], walk->key, &walk->key) &&
        walk->key.at[0] == pool->id.v) {
        const struct node *node = query_node(core, (node_id){(uint32_t)walk->key.at[2]});
        must(node != NULL);
        space_whole(node, &walk->room, ret);
        return true;
    }
    walk->ended = true;
    walk->times = elastic_nodes_to_come(pool);
    elastic_flavor(pool, &walk->flavor);
    space_empty(&walk->flavor, &walk->room, ret);
    return walk->times > 0;
}

/* How many instances of the request, at most `max`, all empty nodes take together. */
static uint32_t holds_together(const struct core *core, const struct pool *pool,
                               const struct request *request, uint32_t max)
{
    uint32_t count = 0;
    struct node_walk walk = {.key = {{pool->id.v, 0, 0, 0}}};
    struct space place;
    while (count < max && next_empty(core, pool, &walk, &place)) {
        const uint64_t more = (uint64_t)fit_count(&place, request, max - count) * walk.times;
        count = more < max - count ? count + (uint32_t)more : max;
    }
    must(count <= max);
    return count;
}

/* The largest amount that one node holds together with the rest of the request; -1: lowering this amount alone does not help. */
static int64_t largest_with_rest(const struct core *core, const struct pool *pool,
                                 const struct request *request, struct lower what)
{
    int64_t best = -1;
    must(what.kind != LOWER_NAMED || what.named < request->named_count);
    struct node_walk walk = {.key = {{pool->id.v, 0, 0, 0}}};
    struct space place;
    while (next_empty(core, pool, &walk, &place)) {
        best = lower_largest(&place, request, what, lower_asked(request, what), best);
    }
    return best;
}

static int64_t node_total(const struct node *node, const struct request *request, struct lower what)
{
    switch (what.kind) {
    case LOWER_SLOTS:
        return request->needs_gpu && node->device_count == 0 ? 0 : node->slots_milli;
    case LOWER_CPU:
        return node->cpu_milli;
    case LOWER_MEMORY:
        return node->memory_bytes;
    case LOWER_GPU_MEMORY:
        return node->gpu_memory_bytes;
    case LOWER_NAMED:
        return node_named(node, request->named[what.named].resource);
    }
    must(false);
    return 0;
}

/* The largest amount that one node has, whatever else the request asks for. */
static int64_t largest_alone(const struct core *core, const struct pool *pool,
                             const struct request *request, struct lower what)
{
    int64_t best = 0;
    must(what.kind != LOWER_NAMED || what.named < request->named_count);
    struct node_walk walk = {.key = {{pool->id.v, 0, 0, 0}}};
    struct space place;
    while (next_empty(core, pool, &walk, &place)) {
        const int64_t total = node_total(place.node, request, what);
        best = total > best ? total : best;
    }
    return best;
}

static void refuse_amount(const struct core *core, const struct request *request, struct lower what,
                          struct reason *ret)
{
    ret->resource = lower_resource(request, what);
    ret->wanted = lower_asked(request, what);
    (void)str_copy(ret->text, sizeof ret->text, query_resource_name(core, ret->resource));
}

/* Does no node have the devices that the request asks for? Then fills the reason. */
static bool refuse_devices(const struct core *core, const struct pool *pool,
                           const struct request *request, struct reason *ret)
{
    uint32_t most = 0;
    must(ret->have == 0); /* no node takes an instance */
    struct node_walk walk = {.key = {{pool->id.v, 0, 0, 0}}};
    struct space place;
    while (next_empty(core, pool, &walk, &place)) {
        most = place.node->device_count > most ? place.node->device_count : most;
    }
    const uint64_t have = most >= 64 ? UINT64_MAX : ((uint64_t)1 << most) - 1;
    if ((request->device_mask & ~have) == 0 && request->share_devices <= most &&
        (!request->needs_gpu || most > 0)) {
        return false;
    }
    ret->code = REASON_NO_DEVICES;
    ret->resource = (resource_id){RESOURCE_SLOTS};
    ret->wanted = request->slots_milli;
    ret->available = (int64_t)most * SLOT_MILLI;
    ret->have = most;
    ret->need = request->share_devices > most ? request->share_devices : 0;
    return true;
}

/* Is some amount of the request larger than every node's amount? Then fills the reason. */
static bool refuse_too_large(const struct core *core, const struct pool *pool,
                             const struct request *request, struct reason *ret)
{
    for (uint32_t i = 0; i < lower_count(request); i++) {
        const struct lower what = lower_at(i);
        const int64_t largest = largest_alone(core, pool, request, what);
        must(largest >= 0);
        if (lower_asked(request, what) <= largest) {
            continue;
        }
        refuse_amount(core, request, what, ret);
        ret->code =
            what.kind == LOWER_NAMED && largest == 0 ? REASON_UNKNOWN_RESOURCE : REASON_TOO_LARGE;
        ret->available = largest;
        ret->smallest = largest_with_rest(core, pool, request, what);
        return true;
    }
    return false;
}

/* Each amount alone fits some node, but all together fit none. Names the first amount of which a smaller one would help. */
static void refuse_combination(const struct core *core, const struct pool *pool,
                               const struct request *request, struct reason *ret)
{
    must(ret->have == 0); /* no node takes an instance */
    ret->code = REASON_COMBINATION;
    for (uint32_t i = 0; i < lower_count(request); i++) {
        const struct lower what = lower_at(i);
        if (lower_asked(request, what) <= 0) {
            continue;
        }
        const int64_t largest = largest_with_rest(core, pool, request, what);
        if (largest > 0 || (largest == 0 && what.kind != LOWER_SLOTS)) {
            refuse_amount(core, request, what, ret);
            ret->available = largest;
            ret->smallest = largest;
            return;
        }
    }
}

/* Is the request for an aux task, and does no node take aux tasks? Then fills the reason. */
static bool refuse_aux(const struct core *core, const struct pool *pool,
                       const struct request *request, struct reason *ret)
{
    if (request_has_slots(request)) {
        return false;
    }
    must(pool->node_count > 0 || elastic_pool(pool));
    struct node_walk walk = {.key = {{pool->id.v, 0, 0, 0}}};
    struct space place;
    while (next_empty(core, pool, &walk, &place)) {
        if (place.node->aux_max > 0) {
            return false;
        }
    }
    ret->code = REASON_LIMIT;
    (void)str_copy(ret->text, sizeof ret->text, "aux_tasks");
    return true;
}

/* Would the request be possible if it avoided no nodes? Then the avoided nodes are the reason. */
static bool refuse_avoided(const struct core *core, const struct pool *pool,
                           const struct request *request, struct reason *ret)
{
    struct request anywhere = *request;
    must(ret->need > 0);
    anywhere.avoid_count = 0;
    if (request->avoid_count == 0 || holds_together(core, pool, &anywhere, ret->need) < ret->need) {
        return false;
    }
    ret->code = REASON_AVOIDED;
    return true;
}

/* Would the request be possible if it asked for no labels? Then the labels are the reason. */
static bool refuse_labels(const struct core *core, const struct pool *pool,
                          const struct request *request, struct reason *ret)
{
    struct request anywhere = *request;
    must(ret->need > 0);
    anywhere.label_count = 0;
    if (request->label_count == 0 || holds_together(core, pool, &anywhere, ret->need) < ret->need) {
        return false;
    }
    static const struct {
        uint32_t own;
        enum reason_code code;
    } lacks[] = {{LABEL_OWN_IMAGE, REASON_NO_IMAGE},
                 {LABEL_OWN_OUTBOUND, REASON_NO_OUTBOUND},
                 {LABEL_OWN_NETWORK | LABEL_OWN_OUTBOUND, REASON_NO_NETWORK}};
    ret->code = REASON_OTHER_LABELS;
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0] && ret->code == REASON_OTHER_LABELS;
         i++) {
        struct request plain = *request;
        if (label_marks_own_drop(&plain, lacks[i].own) != 0 &&
            holds_together(core, pool, &plain, ret->need) >= ret->need) {
            ret->code = lacks[i].code;
        }
    }
    return true;
}

/* Does the request ask for slots in a pool in which no node ever has slots? Then fills the reason. */
static bool refuse_slots(const struct pool *pool, const struct request *request, struct reason *ret)
{
    if (pool_slots_most(pool) > 0 || !request_has_slots(request)) {
        return false;
    }
    *ret = (struct reason){.code = request->needs_gpu ? REASON_NO_DEVICES : REASON_TOO_LARGE,
                           .pool = pool->id,
                           .resource = {RESOURCE_SLOTS},
                           .wanted = request->slots_milli,
                           .smallest = request->needs_gpu ? -1 : 0};
    return true;
}

bool explain_possible(const struct core *core, const struct pool *pool,
                      const struct request *request, uint32_t gang_size, struct reason *ret)
{
    must(gang_size > 0);
    if (pool->node_count == 0 && elastic_nodes_to_come(pool) == 0) {
        return !refuse_slots(pool, request, ret);
    }
    const uint32_t holds = holds_together(core, pool, request, gang_size);
    if (holds >= gang_size) {
        return true;
    }
    *ret = (struct reason){.pool = pool->id, .smallest = -1, .need = gang_size, .have = holds};
    if (refuse_avoided(core, pool, request, ret) || refuse_labels(core, pool, request, ret)) {
        return false;
    }
    if (holds > 0) {
        ret->code = REASON_GANG_TOO_LARGE;
        ret->wanted = gang_size;
        ret->available = holds;
        ret->smallest = holds;
        return false;
    }
    if (!refuse_devices(core, pool, request, ret) && !refuse_aux(core, pool, request, ret) &&
        !refuse_too_large(core, pool, request, ret)) {
        refuse_combination(core, pool, request, ret);
    }
    return false;
}
