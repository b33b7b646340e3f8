/* metrics_internal.h - what a run has counted so far.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/day_share.h"
#include "sim/fairness.h"
#include "sim/metrics.h"
#include "sim/pool_use.h"

struct held_by {
    int64_t milli;
    __int128 area; /* thousandths of slots x ms */
};

struct metrics {
    struct pool_uses pools;
    struct fairness fairness;
    struct day_shares days;
    struct series series;
    struct paid paid;
    struct fleet fleet;
    int64_t counted_ms; /* the areas are counted up to here */
    int64_t allocated_milli;
    int64_t capacity_milli;
    uint64_t pending;
    __int128 allocated_area;
    __int128 capacity_area;
    __int128 pending_area;
    uint64_t pending_max;
    uint64_t refused;
    struct refused_task refusals[REFUSALS_TOLD_MAX];
    VEC(struct held_by) accounts;
    struct arena arena;
};
