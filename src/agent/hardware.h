/* hardware.h - what the machine has: cores and memory by hwloc, GPUs by NVML or made up.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "core/model/spec.h"

struct hardware {
    uint32_t cores;
    uint32_t threads; /* that may be used */
    int64_t memory_bytes;
    uint32_t device_count;
    int64_t device_memory_bytes; /* of the smallest; 0: unknown */
    const char *device_model;    /* of the first; "": none */
    const char *arch;            /* x86_64 … */
};

/* fake_gpus: -1 for the real ones. Texts in the arena. */
must_use enum err hardware_read(int64_t fake_gpus, struct arena *arena, struct hardware *ret,
                                struct error *e);
