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

/* The pool waits for so many nodes of its flavor. 0: the pool no longer waits, and the next pool is served. */
void soldout_wait_set(struct core *core, pool_id pool, uint32_t nodes, int64_t now_ms);

/* The pools that wait for the flavor, first come first served. Start with NULL; NULL at the end. */
const struct pool *soldout_line_next(const struct core *core, flavor_id flavor,
                                     const struct pool *after);

/* The first pool that waits for the flavor and may ask for nodes now; NULL: none. A pool that is paused, or that backs
 * off after another error, is left out. */
const struct pool *soldout_first(const struct core *core, flavor_id flavor, int64_t now_ms);

/* A pass of that pool may find something to do. */
void soldout_next_due(struct core *core, flavor_id flavor);

/* Which place the pool has among the pools that wait for its flavor, from 1, and how many wait. 0: it does not wait. */
uint32_t soldout_place(const struct core *core, const struct pool *pool, uint32_t *ret_of);

/* Other flavors of the same provider whose nodes have at least the amounts of the pool's nodes, each with a zone that is
 * not sold out, the cheapest first; flavors without a price come last. Returns how many are in `ret`. */
enum { ALTERNATIVES_MAX = 3 };
struct alternative {
    flavor_id flavor;
    uint32_t zone;
};
uint32_t soldout_alternatives(const struct core *core, const struct pool *pool, int64_t now_ms,
                              struct alternative ret[ALTERNATIVES_MAX]);
