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

/* NULL: there is no GPU of NVIDIA by its library, and none of AMD by /sys. */
struct gpu_watch *gpu_watch_new(void);

/* Ends the thread, or leaves it behind where a call of the driver does not return. NULL is allowed. */
void gpu_watch_free(struct gpu_watch *watch);

/* The last look at one device. `watch` may be NULL. */
struct gpu_sample gpu_watch_get(struct gpu_watch *watch, uint32_t device);

/* Devices out of service, a bit each. On a device of `lost` nothing can run on. */
struct gpu_faults {
    uint64_t out;
    uint64_t lost;              /* of `out` */
    char why[TEXT_LEN_MAX + 1]; /* for people: "GPU 1: the driver has lost it"; "": all are well */
};

/* A device that the driver had lost is well when it answers again; one with a bad XID stays out until the agent begins anew. */
void gpu_watch_faults(struct gpu_watch *watch, struct gpu_faults *ret);
