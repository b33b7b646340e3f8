/* gpu_watch.h - a thread that looks at the GPUs of the node every few seconds: how busy they are, how
 * much of their memory is in use, and whether one is lost. The thread is there because a call of a
 * broken driver may never return. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_watch;

struct gpu_sample {
    bool known;
    uint32_t busy_percent;
    uint64_t memory_bytes; /* in use */
};

/* Starts to watch the node's GPUs, in a thread of its own. NULL: NVIDIA's library finds no GPU, and
 * /sys shows no AMD GPU. */
struct gpu_watch *gpu_watch_new(void);

/* Ends the thread, or leaves it behind where a call of the driver does not return. NULL is allowed. */
void gpu_watch_free(struct gpu_watch *watch);

/* The last look at one device. `watch` may be NULL. */
struct gpu_sample gpu_watch_get(struct gpu_watch *watch, uint32_t device);

/* Devices out of service, one bit each. `lost` has the devices of `out` on which no program can go
 * on running. */
struct gpu_faults {
    uint64_t out;
    uint64_t lost; /* a part of `out` */
    /* in words, like "GPU 1: the driver has lost it"; "": all GPUs are well */
    char why[TEXT_LEN_MAX + 1];
};

/* Says which devices are out of service. A device that the driver had lost is back in service when
 * it answers again. A device with a bad XID stays out of service until the agent is started again. */
void gpu_watch_faults(struct gpu_watch *watch, struct gpu_faults *ret);
