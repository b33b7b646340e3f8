/* spare.c - see spare.h.
 *
 * A spare node becomes an ordinary one with the fact that loses another node (decide/decide_leave.c). When an idle node is there
 * again, a pass makes that node spare.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/spare.h"

#include "core/model/node.h"
#include "core/state/query.h"
#include "core/state/state.h"

static uint32_t wanted(const struct pool *pool)
{
    return pool->life.phase == PHASE_OPEN ? pool->spare_nodes : 0;
}

uint32_t spare_lacks(const struct pool *pool)
{
    const uint32_t want = wanted(pool);
    return want > pool->spare_count ? want - pool->spare_count : 0;
}

static void note(node_id node, bool spare, const char *words, const struct input *in,
                 struct facts *out)
{
    struct fact *fact = fact_list_add(out, in, FACT_NODE_SPARE);
    fact->node_spare.node = node;
    fact->node_spare.spare = spare;
    fact->node_spare.words = words;
}

static bool is_idle(const struct node *node)
{
    return node_takes_work(node) && node->instance_count == 0 && node->claim_count == 0;
}

/* The largest node without work, the eldest of equal ones. NULL: all nodes have work. */
static const struct node *idle_largest(const struct core *core, pool_id pool)
{
    const struct node *best = NULL;
    const struct node *node = query_pool_node_next(core, pool, (node_id){0});
    for (; node != NULL; node = query_pool_node_next(core, pool, node->id)) {
        best =
            is_idle(node) && (best == NULL || node->slots_milli > best->slots_milli) ? node : best;
    }
    return best;
}

static void too_many(const struct core *core, const struct pool *pool, uint32_t over,
                     const struct input *in, struct facts *out)
{
    const struct node *node = query_pool_node_next(core, pool->id, (node_id){0});
    for (; node != NULL && over > 0; node = query_pool_node_next(core, pool->id, node->id)) {
        if (node_stands_by(node)) {
            note(node->id, false, "the pool keeps fewer spare nodes", in, out);
            over--;
        }
    }
}

void spare_settle(const struct core *core, const struct pool *pool, const struct input *in,
                  struct facts *out)
{
    const uint32_t want = wanted(pool);
    if (pool->spare_count > want) {
        too_many(core, pool, pool->spare_count - want, in, out);
    } else if (pool->spare_count < want && (pool->slots_free > 0 || pool->slots_milli == 0)) {
        /* One at a time: each is followed by a further pass. */
        const struct node *node = idle_largest(core, pool->id);
        if (node != NULL) {
            note(node->id, true, "it is kept for when another node is lost", in, out);
        }
    }
}
