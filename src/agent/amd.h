/* amd.h - AMD GPUs, found through what the kernel's driver shows in /sys. A node needs no part of
 * ROCm for this. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/gpu_watch.h"
#include "agent/hardware.h"
#include "base/arena.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* The environment variable with the directory that stands for the root above /sys. Without the
 * variable the root is /. Tests set the variable to a tree of their own. */
#define AMD_ROOT_ENV "WEIR_SYSFS_ROOT"

struct amd_gpu {
    uint32_t minor; /* the device is /dev/dri/renderD<minor> */
    const char *name;
    const char *serial; /* "": the driver shows no serial number */
    int64_t memory_bytes;
};

struct amd_gpus {
    uint32_t count;
    struct amd_gpu at[NODE_DEVICES_MAX];
};

/* Lists the node's AMD GPUs in the order of the kernel's topology, in which ROCm numbers them, too.
 * The list is empty where NVIDIA's driver is loaded, because a node counts GPUs of one maker only.
 * Texts are in the arena. */
void amd_list(struct arena *arena, struct amd_gpus *ret);

/* Adds the AMD GPUs of the node to `ret`. */
void amd_read(struct arena *arena, struct hardware *ret);

/* Reads how busy the GPU is, and how much of its memory is in use. False: the driver does not show
 * the GPU any more. */
bool amd_sample(const struct amd_gpu *gpu, struct gpu_sample *ret);
