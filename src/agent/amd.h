/* amd.h - AMD GPUs as the kernel's driver shows them in /sys: nothing of ROCm is needed to find them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/gpu_watch.h"
#include "agent/hardware.h"
#include "base/arena.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* What /sys is read below, where the environment has this name; else the root. Tests set it to a tree of their own. */
#define AMD_ROOT_ENV "WEIR_SYSFS_ROOT"

struct amd_gpu {
    uint32_t minor; /* the device is /dev/dri/renderD<minor> */
    const char *name;
    const char *serial; /* "": unknown */
    int64_t memory_bytes;
};

struct amd_gpus {
    uint32_t count;
    struct amd_gpu at[NODE_DEVICES_MAX];
};

/* The GPUs in the order of the kernel's topology, which is the order in which ROCm numbers them. None where the driver of NVIDIA is
 * loaded: a node counts GPUs of one maker. Texts are in the arena. */
void amd_list(struct arena *arena, struct amd_gpus *ret);

/* Adds the GPUs to what the node has. */
void amd_read(struct arena *arena, struct hardware *ret);

/* How busy the GPU is, and how much of its memory is in use. False: the driver shows the GPU no more. */
bool amd_sample(const struct amd_gpu *gpu, struct gpu_sample *ret);
