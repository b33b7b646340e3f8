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

/* For reasons only, in bytes of one device: nobody has a sum of it. */
enum { RESOURCE_GPU_MEMORY = UINT16_MAX - 1 };

enum { SLOT_MILLI = 1000 };

struct amount {
    resource_id resource; /* a named one */
    int64_t milli;
};

/* A label of a node; see label.h. */
struct label_mark {
    uint64_t first;
    uint64_t second;
};

/* Per instance, resolved to ids; `named` sorted by resource id. Equal requests are byte-equal
 * (padding is zeroed). */
struct request {
    int64_t slots_milli;  /* below 1000 with needs_gpu: a share of one device; above: whole slots;
                             with share_devices: all their shares together, 0: by memory */
    int64_t cpu_milli;    /* -1: the node's proportional part for each slot */
    int64_t memory_bytes; /* -1: likewise */
    int64_t
        gpu_memory_bytes; /* what each device has at least, or by memory the part of it; 0: none */
    uint64_t device_mask; /* chosen device indices, all on one node; 0: any */
    uint32_t needs_gpu;   /* 0 or 1 */
    uint32_t named_count;
    uint32_t
        share_devices; /* parts of so many devices, equal ones; 0: a share of one, or whole ones */
    uint32_t pad;
    struct amount named[TASK_RESOURCES_MAX];
    uint32_t
        wide; /* 0 or 1: one of the parts of a task that asked for more slots than a node has */
    uint32_t avoid_count; /* nodes it must not be placed on, ascending */
    node_id avoid[TASK_AVOID_MAX];
    uint32_t label_count; /* labels that its nodes must have, ascending */
    uint32_t pad_labels;
    struct label_mark labels[TASK_LABELS_MAX];
};

/* Does it ask for parts of devices by their memory? How much of a device that is differs from node to node. */
static inline bool request_by_memory(const struct request *request)
{
    return request->share_devices > 0 && request->slots_milli == 0;
}

/* Does it count in slots, or is it one of the tasks without? */
static inline bool request_has_slots(const struct request *request)
{
    return request->slots_milli > 0 || request_by_memory(request);
}

/* What an instance that holds so many slots has of each of its devices. */
static inline int64_t device_share(int64_t slots_milli, uint64_t devices)
{
    return devices == 0 ? 0 : slots_milli / __builtin_popcountll(devices);
}

/* So many thousandths of a device with `total_bytes` of memory are these bytes, rounded up; the whole device at most. A device of
 * unknown memory is taken whole. */
int64_t resource_gpu_share(int64_t bytes, int64_t total_bytes);

/* The bytes that one instance asks for as parts of devices by memory, of all of them; 0: none. */
int64_t resource_gpu_memory(const struct request *request);
