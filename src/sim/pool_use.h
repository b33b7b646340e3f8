/* pool_use.h - the slots of each pool over time: existing, held, and fragmented for the workload
 * of this pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "sim/fragments.h"
#include "sim/series.h"

struct pool_use {
    struct fragments fragments;
    int64_t allocated_milli;
    int64_t capacity_milli;
    __int128 allocated_area; /* thousandths of slots x ms */
    __int128 capacity_area;
};

struct pool_uses {
    const struct scenario *scenario;
    VEC(struct pool_use) at; /* pool 1 is the first entry */
};

void pool_use_init(struct pool_uses *uses, const struct scenario *scenario);
void pool_use_done(struct pool_uses *uses);

/* Adds slots that are held in the pool; below 0: slots that were released. */
void pool_use_allocate(struct pool_uses *uses, const struct core *core, pool_id pool,
                       int64_t milli);

/* Counts the slots of nodes that are up anew. Returns the sum over all pools. */
int64_t pool_use_capacity(struct pool_uses *uses, const struct core *core);

/* Adds the present amounts for a time of `for_ms`. */
void pool_use_count(struct pool_uses *uses, int64_t for_ms);

/* Fills in the pools of a sample, and the fragmentation and kept slots of all pools together.
 * `core_ms` is the core's time now. */
void pool_use_sample(const struct pool_uses *uses, const struct core *core, int64_t core_ms,
                     struct sample *ret);

/* Returns the entry of a pool in a sample. */
uint32_t pool_use_place(pool_id pool);
