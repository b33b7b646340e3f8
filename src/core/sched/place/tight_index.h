/* tight_index.h - a cache for placement `tight`: the nodes of a pool by their profile, and for each recent request the profiles in order
 * of rank. There is one index for each view. The capacity (capacity.h) owns the indices.
 *
 *   node ──▶ node profile (nodes that are alike) ──▶ one line in the order of each recent request
 *
 * A node that may have changed is noted, and the next search looks at the node again. A step notes the nodes that it changes. The end of
 * a step notes the nodes of the step once more, because the facts of the step may never be applied. A search first adds all new
 * profiles to the order of its request.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/order/view.h"
#include "core/sched/place/overlay.h"

struct tight_index;

struct tight_index *tight_index_new(void);
void tight_index_free(struct tight_index *index); /* NULL is fine */

/* Notes a node whose row has changed, or whose free amounts a step has changed. */
void tight_index_note(struct tight_index *index, node_id node);

/* The index of a view, for use by this step until overlay_done(). NULL: another step uses the index. */
struct tight_index *tight_index_of(struct overlay *overlay, enum view view);

/* tight_index_leave() ends the use of the indices by a step. tight_index_moved() notes a node that the step has changed. Both do nothing
 * where the step does not use an index. */
void tight_index_leave(struct overlay *overlay);
void tight_index_moved(struct overlay *overlay, enum view view, node_id node);
