/* topology.c - where nodes are: the domains of each level of a pool's topology.
 *
 *   pool: topology [zone, rack]      node: zone=a rack=7  ──▶  domain (zone a) ──▶ domain (rack 7 in zone a)
 *
 * Derived from pools and nodes, never stored. Domains of equal names in different places are different ones. A node that does not
 * say where it is on a level is nowhere on it and on none below.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/topology.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/blob.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/state/capacity.h"
#include "core/state/key.h"
#include "core/state/query.h"

#include <string.h>

/* ---- levels ---- */

const char *topology_level_name(const struct pool *pool, uint32_t level)
{
    must(level < pool->level_count);
    const char *name = blob_bytes(pool->levels).p;
    for (uint32_t i = 0; i < level; i++) {
        name += strlen(name) + 1;
    }
    return name;
}

bool topology_level(const struct pool *pool, const char *name, uint32_t *ret)
{
    for (uint32_t i = 0; i < pool->level_count; i++) {
        if (strcmp(topology_level_name(pool, i), name) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

bool topology_levels_set(struct pool *pool, const struct pool_spec *spec)
{
    struct buf names;
    buf_init(&names, TOPOLOGY_LEVELS_MAX * (NAME_LEN_MAX + 1));
    for (uint32_t i = 0; i < spec->topology_count; i++) {
        buf_add(&names, spec->topology[i], strlen(spec->topology[i]) + 1);
    }
    must(!names.full);
    const struct str old = blob_bytes(pool->levels);
    const bool same =
        old.len == names.len && (names.len == 0 || memcmp(old.p, names.data, names.len) == 0);
    if (!same) {
        blob_unref(pool->levels);
        pool->levels = names.len > 0 ? blob_new(names.data, names.len) : NULL;
        pool->level_count = spec->topology_count;
    }
    buf_done(&names);
    return !same;
}

/* ---- domains ---- */

const struct domain *topology_domain(const struct core *core, domain_id id)
{
    return table_get(&core->domains, id.v);
}

struct okey topology_domain_key(const struct domain *domain)
{
    return (struct okey){{LEVEL_KEY(domain->pool, domain->level), domain->around.v,
                          key_name_hash(blob_bytes(domain->value).p), domain->id.v}};
}

static const struct domain *domain_find(const struct core *core, pool_id pool, uint32_t level,
                                        domain_id around, const char *value)
{
    const struct okey from = {{LEVEL_KEY(pool, level), around.v, key_name_hash(value), 0}};
    struct okey key = from;
    while (oindex_next(&core->orders[ORDER_DOMAIN], key, &key) && key.at[0] == from.at[0] &&
           key.at[1] == from.at[1] && key.at[2] == from.at[2]) {
        const struct domain *domain = topology_domain(core, (domain_id){(uint32_t)key.at[3]});
        if (strcmp(blob_bytes(domain->value).p, value) == 0) {
            return domain;
        }
    }
    return NULL;
}

static domain_id domain_join(struct core *core, const struct node *node, uint32_t level,
                             domain_id around, const char *value)
{
    const struct domain *found = domain_find(core, node->pool, level, around, value);
    struct domain *domain =
        found != NULL ? table_edit(&core->domains, found->id.v) : table_add(&core->domains);
    if (found == NULL) {
        must(core->domains.last <= UINT32_MAX);
        domain->id.v = (uint32_t)core->domains.last;
        domain->pool = node->pool;
        domain->level = level;
        domain->around = around;
        domain->value = blob_new(value, strlen(value) + 1);
        must(oindex_insert(&core->orders[ORDER_DOMAIN], topology_domain_key(domain)));
    }
    domain->node_count++;
    must(
        oindex_insert(&core->orders[ORDER_DOMAIN_NODE], (struct okey){{domain->id.v, node->id.v}}));
    return domain->id;
}

void topology_node_leave(struct core *core, struct node *node)
{
    for (uint32_t level = 0; level < TOPOLOGY_LEVELS_MAX && node->domains[level].v != 0; level++) {
        struct domain *domain = table_edit(&core->domains, node->domains[level].v);
        must(oindex_remove(&core->orders[ORDER_DOMAIN_NODE],
                           (struct okey){{domain->id.v, node->id.v}}));
        node->domains[level].v = 0;
        if (--domain->node_count == 0) {
            must(oindex_remove(&core->orders[ORDER_DOMAIN], topology_domain_key(domain)));
            table_remove(&core->domains, domain->id.v);
        }
    }
}

void topology_node_set(struct core *core, struct node *node)
{
    const struct pool *pool = query_pool(core, node->pool);
    topology_node_leave(core, node);
    if (pool == NULL || pool->level_count == 0 || node->state == NODE_REMOVED) {
        return;
    }
    struct arena arena;
    struct node_spec spec;
    domain_id around = {0};
    arena_init(&arena);
    query_node_spec(core, node->id, &arena, &spec);
    for (uint32_t level = 0; level < pool->level_count; level++) {
        const char *value = label_value(&spec, topology_level_name(pool, level));
        if (value == NULL) {
            break;
        }
        around = domain_join(core, node, level, around, value);
        node->domains[level] = around;
    }
    arena_done(&arena);
    if (core->capacity != NULL) {
        capacity_freed(core->capacity, node->pool);
        capacity_resized(core->capacity, node->pool);
    }
}

/* ---- walking ---- */

/* Is it the other one, or somewhere inside it? */
static bool domain_inside(const struct core *core, const struct domain *domain, domain_id other)
{
    while (domain != NULL && domain->id.v != other.v) {
        domain = topology_domain(core, domain->around);
    }
    return domain != NULL;
}

domain_id topology_domain_next(const struct core *core, pool_id pool, uint32_t level,
                               domain_id inside, domain_id after)
{
    struct okey key = {{LEVEL_KEY(pool, level), 0, 0, 0}};
    if (after.v != 0) {
        key = topology_domain_key(topology_domain(core, after));
    }
    while (oindex_next(&core->orders[ORDER_DOMAIN], key, &key) &&
           key.at[0] == LEVEL_KEY(pool, level)) {
        const domain_id id = {(uint32_t)key.at[3]};
        if (inside.v == 0 || domain_inside(core, topology_domain(core, id), inside)) {
            return id;
        }
    }
    return (domain_id){0};
}

const struct node *topology_domain_node_next(const struct core *core, domain_id domain,
                                             node_id after)
{
    struct okey key = {{domain.v, after.v, UINT64_MAX, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_DOMAIN_NODE], key, &key) || key.at[0] != domain.v) {
        return NULL;
    }
    return query_node(core, (node_id){(uint32_t)key.at[1]});
}
