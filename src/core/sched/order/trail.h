/* trail.h - where the last search for a shape ended.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where the last search for a shape ended. Within a step nodes only lose room, so the nodes before
 * that one need not be asked again, but for those touched since. */
struct trail {
    bool valid;
    uint64_t free; /* the node found, where it stood in the order */
    uint64_t node;
    uint32_t touched; /* length of the overlay's list then */
};
