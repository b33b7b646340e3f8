/* pool_use.h - slots of each pool over time: there, in use, and idle in pieces too small for the pool's own workload.
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
    VEC(struct pool_use) at; /* pool 1 is the first */
};

void pool_use_init(struct pool_uses *uses, const struct scenario *scenario);
void pool_use_done(struct pool_uses *uses);

/* More slots of the pool are in use, or (below 0) fewer. */
void pool_use_allocate(struct pool_uses *uses, const struct core *core, pool_id pool,
                       int64_t milli);

/* Counts the slots of the nodes that are up anew; returns those of all pools. */
int64_t pool_use_capacity(struct pool_uses *uses, const struct core *core);

/* What holds now held for so long. */
void pool_use_count(struct pool_uses *uses, int64_t for_ms);

/* Fills in the pools of a sample, and what all of them together have in pieces. */
void pool_use_sample(const struct pool_uses *uses, const struct core *core, struct sample *ret);
