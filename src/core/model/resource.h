/* resource.h - requests of instances and amounts of nodes. Memory is in bytes, everything else in
 * thousandths.
 *
 * A slot is a GPU on a node with devices. Any other node declares its number of slots. `gpu` and `slots`
 * count in the same counter; `gpu` in addition requires a node with devices.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* The resources that every state has. Named resources follow from RESOURCE_NAMED_FIRST on, in the order in
 * which nodes first brought them. */
enum { RESOURCE_SLOTS = 0, RESOURCE_CPU = 1, RESOURCE_MEMORY = 2, RESOURCE_NAMED_FIRST = 3 };

/* The memory of one device, in bytes. Only reasons use this id: no sum counts GPU memory. */
enum { RESOURCE_GPU_MEMORY = UINT16_MAX - 1 };

enum { SLOT_MILLI = 1000 };

struct amount {
    resource_id resource; /* a named resource */
    int64_t milli;
};

/* A label of a node; see label.h. */
struct label_mark {
    uint64_t first;
    uint64_t second;
};

/* How a task that requests more slots than a node has was divided into parts. */
enum request_wide {
    WIDE_NOT,   /* the task was not divided */
    WIDE_PARTS, /* into parts of one slot, several of which go to one node */
    WIDE_NODES, /* into parts that each take a whole idle node of exactly this number of slots */
};

/* What one instance requests, with names resolved to ids. `named` is sorted by resource id. Equal requests
 * have equal bytes: padding is zero. */
struct request {
    /* below 1000 with needs_gpu: a part of one device. 1000 and more: whole slots. With share_devices: the
     * parts of all devices together, or 0 for parts by memory */
    int64_t slots_milli;
    int64_t cpu_milli;    /* -1: for each slot its proportional part of the node's cpu */
    int64_t memory_bytes; /* -1: for each slot its proportional part of the node's memory */
    /* the memory that each device must have; in a request by memory: the memory of each part. 0: not
     * requested */
    int64_t gpu_memory_bytes;
    /* the devices that the user chose, one bit each, all on one node; 0: any devices */
    uint64_t device_mask;
    uint32_t needs_gpu; /* 0 or 1 */
    uint32_t named_count;
    /* number of devices of which the instance gets equal parts. 0: a part of one device, or whole devices */
    uint32_t share_devices;
    uint32_t pad;
    struct amount named[TASK_RESOURCES_MAX];
    /* enum request_wide: the task requested more slots than a node has, and this is one part of the task */
    uint32_t wide;
    /* number of nodes on which the instance must not be placed; `avoid` ascends */
    uint32_t avoid_count;
    node_id avoid[TASK_AVOID_MAX];
    /* number of labels that the instance's node must have; `labels` ascends */
    uint32_t label_count;
    uint32_t pad_labels;
    struct label_mark labels[TASK_LABELS_MAX];
};

/* Does the request ask for parts of devices by memory? The size of such a part, as a fraction of a device,
 * differs from node to node. */
static inline bool request_by_memory(const struct request *request)
{
    return request->share_devices > 0 && request->slots_milli == 0;
}

/* Does the request take slots? A request without slots is that of an aux task. */
static inline bool request_has_slots(const struct request *request)
{
    return request->slots_milli > 0 || request_by_memory(request);
}

/* The part of each device of an instance that holds `slots_milli` on these devices. */
static inline int64_t device_share(int64_t slots_milli, uint64_t devices)
{
    return devices == 0 ? 0 : slots_milli / __builtin_popcountll(devices);
}

/* `bytes` as thousandths of a device with `total_bytes` of memory, rounded up, at most the whole device. A
 * device of unknown memory (0) is taken whole. */
int64_t resource_gpu_share(int64_t bytes, int64_t total_bytes);

/* The bytes of all parts of devices that one instance requests by memory; 0: none. */
int64_t resource_gpu_memory(const struct request *request);
