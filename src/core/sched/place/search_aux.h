/* search_aux.h - the node for a task that requests no amounts at all, in placements `pack` and `spread`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/sched/place/overlay.h"

#include <stdint.h>

/* The node with the best score, of the first SEARCH_LEVEL_MAX nodes in the order of aux places that take `count` instances of the asker.
 * Of equal nodes the lowest id. NULL: no node takes so many. */
const struct node *search_aux_first(struct overlay *overlay, const struct asker *asker,
                                    uint32_t count);
