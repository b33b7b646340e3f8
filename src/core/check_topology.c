/* check_topology.c - domains, recomputed from the rows and compared: K13.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/check.h"
#include "core/model/blob.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/topology.h"

#include <string.h>

static void check_node_domains(const struct core *core, const struct node *node, uint64_t *counts)
{
    const struct pool *pool = query_pool(core, node->pool);
    struct arena arena;
    struct node_spec spec;
    bool there = node->state != NODE_REMOVED && pool != NULL;
    arena_init(&arena);
    query_node_spec(core, node->id, &arena, &spec);
    for (uint32_t level = 0; level < TOPOLOGY_LEVELS_MAX; level++) {
        const char *value = there && level < pool->level_count
                                ? label_value(&spec, topology_level_name(pool, level))
                                : NULL;
        there = value != NULL;
        must((node->domains[level].v != 0) == there); /* K13 */
        if (!there) {
            continue;
        }
        const struct domain *domain = topology_domain(core, node->domains[level]);
        must(domain != NULL);
        must(domain->pool.v == node->pool.v);
        must(domain->level == level);
        must(strcmp(blob_bytes(domain->value).p, value) == 0);
        must(domain->around.v == (level == 0 ? 0 : node->domains[level - 1].v));
        must(oindex_has(&core->orders[ORDER_DOMAIN_NODE],
                        (struct okey){{domain->id.v, node->id.v}}));
        counts[ORDER_DOMAIN_NODE]++;
    }
    arena_done(&arena);
}

void check_topology(const struct core *core, uint64_t *counts)
{
    uint64_t nodes = 0;
    for (uint64_t id = table_next(&core->nodes, 0); id != 0; id = table_next(&core->nodes, id)) {
        check_node_domains(core, table_get(&core->nodes, id), counts);
    }
    for (uint64_t id = table_next(&core->domains, 0); id != 0;
         id = table_next(&core->domains, id)) {
        const struct domain *domain = table_get(&core->domains, id);
        must(domain->node_count > 0);
        nodes += domain->node_count;
        must(oindex_has(&core->orders[ORDER_DOMAIN], topology_domain_key(domain)));
        counts[ORDER_DOMAIN]++;
    }
    must(nodes == counts[ORDER_DOMAIN_NODE]);
}
