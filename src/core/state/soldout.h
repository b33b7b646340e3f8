/* soldout.h - what Weir remembers about flavors that are sold out, and which pool is served first when a flavor is back.
 *
 *   refused: no capacity ─▶ the zone is sold out ─▶ retry_ms ─▶ one launch asks again ─┬─▶ refused: waits twice as long
 *                                                                                     └─▶ up: the zone is open again
 * A zone that nobody has asked for an hour is open again, too: the memory fades.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/flavor.h"
#include "core/model/launch.h"
#include "core/model/pool.h"

struct core;

/* May launches be asked for in the zone, as many as wanted? */
bool soldout_zone_open(const struct flavor_zone *zone, int64_t now_ms);

/* The number of the flavor's first zone that is open; -1: all are sold out. */
int soldout_open_zone(const struct flavor *flavor, int64_t now_ms);

/* A bit for each zone of the flavor. */
uint32_t soldout_zones(const struct flavor *flavor);

/* When the provider is asked next whether the pool's flavor is still sold out; 0: it is being asked. */
int64_t soldout_asked_ms(const struct core *core, const struct pool *pool);

/* A launch was refused. True: its zone is sold out, which is noted. False: another reason; the pool backs off. */
bool soldout_failed(struct core *core, const struct launch *launch, enum provider_why why,
                    int64_t now_ms);

/* The provider has a machine for the launch: its zone is not sold out, unless the provider has refused a later launch. */
void soldout_works(struct core *core, const struct launch *launch);

/* A launch was asked for, or has ended: in a zone that is sold out it asks whether capacity is back. */
void soldout_asked(struct core *core, const struct launch *launch, int64_t now_ms);
void soldout_ended(struct core *core, const struct launch *launch);

/* The pool waits for so many nodes of its flavor, in these zones (a bit each). 0: the pool no longer waits, and the next pool
 * is served. */
void soldout_wait_set(struct core *core, pool_id pool, uint32_t nodes, uint32_t zones,
                      int64_t now_ms);

/* The zones of a flavor change between these calls: the pools that wait stand in the lines of all its zones afterwards. */
void soldout_lines_leave(struct core *core, flavor_id flavor);
void soldout_lines_join(struct core *core, flavor_id flavor);

/* The pools that wait for the flavor in one of its zones, first come first served. Start with NULL; NULL at the end. */
const struct pool *soldout_line_next(const struct core *core, flavor_id flavor, uint32_t zone,
                                     const struct pool *after);

/* The first pool that waits for the flavor in the zone and may ask for nodes now; NULL: none. A pool that is paused, or that
 * backs off after another error, is left out. */
const struct pool *soldout_first(const struct core *core, flavor_id flavor, uint32_t zone,
                                 int64_t now_ms);

/* A pass of that pool may find something to do. */
void soldout_next_due(struct core *core, flavor_id flavor);

/* Which place the pool has among the pools that wait for its flavor in the zone, from 1, and how many wait. 0: the pool does
 * not wait there. */
uint32_t soldout_place_in(const struct core *core, const struct pool *pool, uint32_t zone,
                          uint32_t *ret_of);

/* The best of the pool's places in the lines of all zones. 0: the pool does not wait. */
uint32_t soldout_place(const struct core *core, const struct pool *pool, uint32_t *ret_of);

/* Other zones of the pool's flavor that are not sold out, where the pool takes nodes in some zones only. Then other flavors of the same provider whose nodes have at least the amounts of the pool's nodes, each with a zone that is
 * not sold out, the cheapest first; flavors without a price come last. Returns how many are in `ret`. */
enum { ALTERNATIVES_MAX = 3 };
struct alternative {
    flavor_id flavor;
    uint32_t zone;
};
uint32_t soldout_alternatives(const struct core *core, const struct pool *pool, int64_t now_ms,
                              struct alternative ret[ALTERNATIVES_MAX]);
