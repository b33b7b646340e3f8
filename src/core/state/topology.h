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

/* The level of a pool's topology with this name (false: there is none), and the name of a level. */
bool topology_level(const struct pool *pool, const char *name, uint32_t *ret);
const char *topology_level_name(const struct pool *pool, uint32_t level);

const struct domain *topology_domain(const struct core *core, domain_id id);

/* The key of a domain in ORDER_DOMAIN. */
struct okey topology_domain_key(const struct domain *domain);

/* The domains of one level of a pool that lie inside the domain `inside` (0: all domains of the level). Start
 * with `after` 0; 0 at the end. The order means nothing. */
domain_id topology_domain_next(const struct core *core, pool_id pool, uint32_t level,
                               domain_id inside, domain_id after);

/* The nodes of a domain in order of id. Start with `after` 0; NULL at the end. */
const struct node *topology_domain_node_next(const struct core *core, domain_id domain,
                                             node_id after);

/* Sets the names of a pool's levels from the spec. True: the names have changed. */
bool topology_levels_set(struct pool *pool, const struct pool_spec *spec);

/* Computes the domains of a node from its labels and its pool. The node's row is open or new. */
void topology_node_set(struct core *core, struct node *node);
/* Takes a node out of all its domains. */
void topology_node_leave(struct core *core, struct node *node);
