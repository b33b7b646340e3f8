/* wait_index.h - the nodes of a pool in the order in which the holder of a reservation waits for them: a cache beside the state
 * (capacity.h owns it), so that choosing the places to keep costs what has changed and not all nodes.
 *
 *   holder (shape, instances, kind of order) ──▶ nodes, best first, each with what the holder finds there
 *
 * It knows the nodes as the state has them: those that the step has touched are the caller's to find out. A node that has changed is
 * noted, and found out anew when an order is next asked for. Never more than WAIT_ORDERS_MAX orders; the one asked for longest ago
 * goes. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/sched/keep/reserve_internal.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* Eight holders, each by known ends and by age, and as many that held reservations lately. */
enum { WAIT_ORDERS_MAX = 4 * RESERVATIONS_MAX };

struct wait_index;
struct wait_order;

struct wait_index *wait_index_new(void);
void wait_index_free(struct wait_index *index); /* NULL is fine */

/* The one beside the state. */
struct capacity;
struct wait_index *wait_index_of(struct capacity *capacity);

/* The row of a node has changed, or when one of its instances ends. */
void wait_index_note(struct wait_index *index, node_id node);

/* The nodes as `choice` waits for them, up to date; valid until the next call. */
const struct wait_order *wait_index_order(struct wait_index *index,
                                          const struct reserve_choice *choice);

/* So many instances of the holder find a place on all nodes together, or on this one. */
uint64_t wait_index_total(const struct wait_order *order);
uint32_t wait_index_count(const struct wait_order *order, node_id node);

/* The next one behind `cursor` (zeroes: the first); false: there is none. */
bool wait_index_next(const struct wait_order *order, const struct core *core, struct okey *cursor,
                     struct candidate *ret);
