/* fallback.h - the pools of a task that names several pools, and which of them are open.
 *
 * The task waits in every open pool and starts in the pool that has a place first. Pools open in the order in which
 * the task names them, and a pool that is open stays open.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"

#include <stdint.h>

/* Conditions of task_spec.fallback_on, as bits. */
enum fallback_on { FALLBACK_ON_NO_CAPACITY = 1, FALLBACK_ON_LOST = 2 };
enum { FALLBACK_ON_ALL = FALLBACK_ON_NO_CAPACITY | FALLBACK_ON_LOST };

/* Why a pool is open. */
enum fallback_why {
    FALLBACK_FIRST,       /* the task names the pool first */
    FALLBACK_IMPOSSIBLE,  /* the task can never run in the pools before */
    FALLBACK_AFTER,       /* the task has waited long enough in the pool before */
    FALLBACK_NO_CAPACITY, /* the pool before has no place and brings up no node for the task */
    FALLBACK_LOST,        /* the task was lost with its node in the pool before */
    FALLBACK_POOL_GONE,   /* the pools before were deleted */
};
enum { FALLBACK_WHY_COUNT = FALLBACK_POOL_GONE + 1 };

/* The row of a task that names several pools; other tasks have none. */
struct fallback {
    int64_t after_ms; /* of the task's spec; 0: time opens no pool */
    /* since when the task waits without a place, or since the last pool was opened, whichever is later */
    int64_t since_ms;
    int64_t opened_ms[TASK_POOLS_MAX];
    pool_id pools
        [TASK_POOLS_MAX]; /* as the task names them, without pools that do not accept the task */
    uint8_t why[TASK_POOLS_MAX]; /* enum fallback_why */
    uint8_t count;
    uint8_t opened; /* the first `opened` pools are open */
    uint8_t on;     /* enum fallback_on as bits; the default is filled in */
    uint8_t waits;  /* derived: the task waits, and no instance has a place */
    /* derived: the task stands in ORDER_FALLBACK for this pool; 0: it does not */
    pool_id asks;
    int64_t deadline_ms; /* derived: the key of the task in ORDER_DEADLINE; 0: none */
};
