/* tight_index.h - the nodes of pools by their state, and the states in order of rank for each request asked: a cache beside the state
 * (capacity.h owns it), one for each view.
 *
 *   node ──▶ state (nodes that are alike) ──▶ line in the order of every request that was asked lately
 *
 * Within a step it follows what the step has placed; a node that may have changed is noted, and looked at again by the next
 * search. When the step is over, its nodes are noted too: whether its facts were applied or not, the next one reads them anew.
 * A request's order catches up, when it is asked, with the states that have come since.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"

struct tight_index;

struct tight_index *tight_index_new(void);
void tight_index_free(struct tight_index *index); /* NULL is fine */

/* The row of a node has changed, or a step has changed what is free on it. */
void tight_index_note(struct tight_index *index, node_id node);

/* The index of this view for a step that goes on using it until overlay_done(); NULL: another step does. */
struct tight_index *tight_index_of(struct overlay *overlay, enum view view);

/* A step is over, or has moved something on a node. Both do nothing where it does not use the index. */
void tight_index_leave(struct overlay *overlay);
void tight_index_moved(struct overlay *overlay, enum view view, node_id node);
