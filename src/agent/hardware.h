/* hardware.h - what the node has: cores and memory, and GPUs found by NVML or pretended.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"

struct hardware {
    uint32_t cores;
    uint32_t numa_nodes;
    uint32_t threads; /* hardware threads that this process may use */
    int64_t memory_bytes;
    uint32_t device_count;
    int64_t device_memory_bytes; /* of the smallest GPU; 0: unknown */
    const char *device_model;    /* of the first GPU; "": no GPU */
    const char *device_serials;  /* what tells each GPU from another, between blanks; "": unknown */
    const char *arch;            /* for example "x86_64" */
    bool infiniband;             /* the machine has an InfiniBand adapter */
    const char *instance_type;   /* what the cloud calls the machine; "": unknown */
};

/* With fake_gpus -1 the real GPUs are read, else fake_gpus GPUs are pretended. Texts are in the
 * arena. */
must_use enum err hardware_read(int64_t fake_gpus, struct arena *arena, struct hardware *ret,
                                struct error *e);
