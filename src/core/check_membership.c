/* check_membership.c - checks K20: which pools nodes belong to by their labels follows from labels and selectors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/label.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/membership.h"
#include "core/state/query.h"
#include "core/state/state.h"

static void expect(const struct core *core, uint64_t *counts, enum order order, struct okey key)
{
    must(oindex_has(&core->orders[order], key));
    counts[order]++;
}

/* Looks at every pool, not at the index of selectors. */
static const struct pool *pool_of(const struct core *core, const struct node *node,
                                  uint32_t *ret_matches)
{
    const struct pool *first = NULL;
    *ret_matches = 0;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (pool->selector != NULL && label_marks_within(pool->selector, node->labels)) {
            first = first == NULL ? pool : first;
            ++*ret_matches;
        }
    }
    return first != NULL ? first : query_pool_named(core, POOL_DEFAULT_NAME);
}

static void check_node(const struct core *core, const struct node *node, uint64_t *counts)
{
    uint32_t matches = 0;
    const bool follows = node->follows_labels && node->state != NODE_REMOVED;
    const struct pool *pool = follows ? pool_of(core, node, &matches) : NULL;
    const bool moves = pool != NULL && pool->id.v != node->pool.v;
    must(node->pool_next.v == (moves ? pool->id.v : 0)); /* K20 */
    must(node->selector_matches == matches);
    must(!moves || node->claim_count == 0);
    for (uint32_t i = 0; follows && i < label_marks_count(node->labels); i++) {
        const struct label_mark mark = label_marks_at(node->labels, i);
        expect(core, counts, ORDER_LABEL_NODE,
               (struct okey){{mark.first, mark.second, node->id.v, 0}});
    }
    if (moves && node->instance_count == 0) {
        expect(core, counts, ORDER_DEADLINE, (struct okey){{0, DEADLINE_MOVE, node->id.v, 0}});
    }
    if (matches > 1) {
        expect(core, counts, ORDER_CONTESTED, (struct okey){{pool->id.v, node->id.v}});
    }
}

void check_membership(const struct core *core, uint64_t *counts)
{
    uint64_t contested = 0;
    for (uint64_t id = table_next(&core->nodes, 0); id != 0; id = table_next(&core->nodes, id)) {
        check_node(core, table_get(&core->nodes, id), counts);
    }
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        must(!pool->deleted || pool->selector == NULL);
        contested += pool->contested_count;
        if (pool->selector != NULL) {
            const struct label_mark mark = label_marks_at(pool->selector, 0);
            expect(core, counts, ORDER_SELECTOR, (struct okey){{mark.first, mark.second, id, 0}});
        }
    }
    must(contested == counts[ORDER_CONTESTED]);
}
