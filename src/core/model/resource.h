/* resource.h - what an instance asks for and what a node has. Memory in bytes, everything else in
 * thousandths.
 *
 * A slot is a GPU on a node with devices; elsewhere a node has a declared number of slots. `gpu`
 * and `slots` count in the same counter; `gpu` in addition demands a node with devices.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* The well-known ones; user-named ones follow from RESOURCE_NAMED_FIRST in order of definition. */
enum { RESOURCE_SLOTS = 0, RESOURCE_CPU = 1, RESOURCE_MEMORY = 2, RESOURCE_NAMED_FIRST = 3 };

enum { SLOT_MILLI = 1000 };

struct amount {
    resource_id resource; /* a named one */
    int64_t milli;
};

/* Per instance, resolved to ids; `named` sorted by resource id. Equal requests are byte-equal
 * (padding is zeroed). */
struct request {
    int64_t slots_milli;  /* below 1000 with needs_gpu: a share of one device; above: whole slots */
    int64_t cpu_milli;    /* -1: the node's proportional part for each slot */
    int64_t memory_bytes; /* -1: likewise */
    int64_t gpu_memory_bytes; /* 0: none asked */
    uint64_t device_mask;     /* chosen device indices, all on one node; 0: any */
    uint32_t needs_gpu;       /* 0 or 1 */
    uint32_t named_count;
    struct amount named[TASK_RESOURCES_MAX];
    uint32_t
        wide; /* 0 or 1: one of the parts of a task that asked for more slots than a node has */
    uint32_t avoid_count; /* nodes it must not be placed on, ascending */
    node_id avoid[TASK_AVOID_MAX];
};
