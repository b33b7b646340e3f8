/* rollout.h - the row of a rollout: the task `to` takes the place of the service `from`, instance by instance (ADR 0083).
 *
 *   from  R R R ─▶ R R H ─▶ R H H ─▶ H H H, ends as `replaced`     R: the instance has its turn (it waits, starts, runs)
 *   to    H H H    R H H    R R H    R R R                         H: the rollout holds the instance (INSTANCE_HELD)
 *
 * A rollout that is turned around (`weir task update T --back`) swaps `from` and `to`. The row exists while the rollout goes on or
 * has stopped. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdint.h>

enum rollout_phase {
    ROLLOUT_OVER, /* only in facts: the row leaves the state */
    ROLLOUT_GOING,
    ROLLOUT_STOPPED, /* both tasks keep what they have, until a user says what follows */
};
enum { ROLLOUT_PHASE_COUNT = ROLLOUT_STOPPED + 1 };

/* Why a rollout stopped. */
enum rollout_why {
    ROLLOUT_NOT_STOPPED,
    ROLLOUT_NO_PLACE,  /* a new instance found no place in time */
    ROLLOUT_NOT_READY, /* a new instance was not running, or not healthy, in time */
    ROLLOUT_FAILED,    /* a new instance failed for good */
};
enum { ROLLOUT_WHY_COUNT = ROLLOUT_FAILED + 1 };

enum { ROLLOUT_DRAIN_MS_DEFAULT = 2000, ROLLOUT_WITHIN_MS_DEFAULT = 10 * 60 * 1000 };

struct rollout {
    task_id from;
    task_id to;
    int64_t
        drain_ms; /* an old instance that takes no more requests has so long to answer those that it has */
    int64_t within_ms; /* each new instance must be ready after this time */
    /* while going: the end of `drain_ms` if an instance drains, else the end of `within_ms` */
    int64_t until_ms;
    int64_t since_ms;
    uint32_t
        draining; /* 1 + the index of the instance of `from` that takes no more requests; 0: none */
    uint8_t phase;     /* enum rollout_phase */
    uint8_t why;       /* enum rollout_why */
    uint8_t old_first; /* an old instance ends before its replacement starts */
    uint8_t pad;
};
