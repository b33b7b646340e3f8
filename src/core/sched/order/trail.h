/* trail.h - where the last search for a shape ended.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The node at which the last search for a shape ended. Within a step nodes only lose room. So the next search for the shape skips
 * every node before the end of the trail, except the nodes that the step touched after the last search. */
struct trail {
    bool valid;       /* false: the next search starts at the first node */
    uint64_t free;    /* the free amount of the node found, its first key in the order of nodes */
    uint64_t node;    /* the id of the node found, its second key */
    uint32_t touched; /* length of the overlay's list of touched nodes when the search ended */
};
