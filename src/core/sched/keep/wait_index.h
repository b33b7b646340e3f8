/* wait_index.h - the nodes of a pool in the order in which a holder waits for them: a cache beside the state, owned by capacity.h.
 *
 *   holder (shape, instances, kind of order) ──▶ nodes, best first, each with what the holder finds there
 *
 * With the cache, choosing places looks only at nodes that have changed, not at all nodes. The cache has the nodes as the state has
 * them; the caller looks at the nodes that the step has touched. A changed node is noted, and looked at again when an order is next
 * asked for. There are at most WAIT_ORDERS_MAX orders; the order that was not used for longest is dropped.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/sched/keep/reserve_internal.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* Two orders for each holder, by known ends and by age; and as many for tasks that held reservations before. */
enum { WAIT_ORDERS_MAX = 4 * RESERVATIONS_MAX };

struct wait_index;
struct wait_order;

struct wait_index *wait_index_new(void);
void wait_index_free(struct wait_index *index); /* NULL is fine */

/* The index that belongs to this capacity. */
struct capacity;
struct wait_index *wait_index_of(struct capacity *capacity);

/* Notes that the row of a node, or the end of an instance on the node, has changed. */
void wait_index_note(struct wait_index *index, node_id node);

/* The order of nodes for this choice, up to date; valid until the next call. */
const struct wait_order *wait_index_order(struct wait_index *index,
                                          const struct reserve_choice *choice);

/* How many instances of the holder find a place: on all nodes together, or on one node. */
uint64_t wait_index_total(const struct wait_order *order);
uint32_t wait_index_count(const struct wait_order *order, node_id node);

/* The next candidate behind `cursor` (zeroes: the first), and moves the cursor; false: there is none. */
bool wait_index_next(const struct wait_order *order, const struct core *core, struct okey *cursor,
                     struct candidate *ret);
