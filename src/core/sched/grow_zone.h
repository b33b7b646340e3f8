/* grow_zone.h - in which zone of its flavor a pool asks for nodes, and when, where the flavor is sold out.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/input.h"
#include "core/model/pool.h"
#include "core/state/fact.h"

#include <stdint.h>

struct core;

/* Asks for nodes of the pool in a zone; "": the pool has no flavor, or the flavor no zones. */
void grow_zone_launches(const struct core *core, const struct pool *pool, const char *zone,
                        uint32_t count, const struct input *in, struct facts *out);

/* How many nodes the pool has, or has asked for, in each zone of its flavor: `ret` has FLAVOR_ZONES_MAX numbers. Looks at all
 * nodes of the pool. */
void grow_zone_live(const struct core *core, const struct pool *pool, uint32_t *ret);

/* Asks for `wanted` nodes of the pool's flavor: in the zones where a pool with a number of nodes for each zone lacks nodes; for a
 * pool of services in the zones where it has the fewest; else in the first zone that is not sold out. Where a zone is sold out,
 * the pool waits in its line, and the first pool in line asks for one node when the zone may have capacity again. Returns
 * the moment of the next look; 0: a change comes first. */
int64_t grow_zone_ask(const struct core *core, const struct pool *pool, uint32_t wanted,
                      const struct input *in, struct facts *out);
