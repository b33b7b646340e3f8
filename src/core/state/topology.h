/* topology.h - where nodes are: the domains of each level of a pool's topology.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

struct core;
struct pool_spec;

/* The level of a pool's topology that has this name; false: none has. Its name. */
bool topology_level(const struct pool *pool, const char *name, uint32_t *ret);
const char *topology_level_name(const struct pool *pool, uint32_t level);

const struct domain *topology_domain(const struct core *core, domain_id id);

/* Its key in ORDER_DOMAIN. */
struct okey topology_domain_key(const struct domain *domain);

/* The domains of a level of a pool, inside `inside` (0: all of them): start with 0; 0 at the end. In no particular order. */
domain_id topology_domain_next(const struct core *core, pool_id pool, uint32_t level,
                               domain_id inside, domain_id after);

/* The nodes of a domain by number; NULL at the end. */
const struct node *topology_domain_node_next(const struct core *core, domain_id domain,
                                             node_id after);

/* The names of a pool's levels become those of the spec; true: they were others. */
bool topology_levels_set(struct pool *pool, const struct pool_spec *spec);

/* Where a node is follows from its labels and its pool. The row is open or nobody's. */
void topology_node_set(struct core *core, struct node *node);
/* It is in no domain any more. */
void topology_node_leave(struct core *core, struct node *node);
