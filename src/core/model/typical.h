/* typical.h - what is usually asked of a pool, learned from what was submitted to it: requests with how many slots were asked that way,
 * and the weightiest of them with the weights that placement goes by (sched/place/waste.h).
 *
 *   counted: up to TYPICAL_COUNTED_MAX  ──now and then──▶  weighed: the TYPICAL_MAX weightiest of that moment
 *
 * A request that is not counted yet takes the place of the rarest and inherits its count, so whatever makes up more than a
 * TYPICAL_COUNTED_MAX-th of all is among them. Counts are halved when they get large: the past fades. The weighed ones stay until a
 * quarter as much as has been counted has come, so that scores made with them can be kept as long. A request weighs as often as it
 * came, large ones a little more, and the more the fewer slots of the pool's nodes could serve it at that moment.
 * A pool that has seen little has none, and placement goes by free amounts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"

#include <stdint.h>

enum {
    TYPICAL_COUNTED_MAX = 64,
    TYPICAL_MAX = 64,
    TYPICAL_SUM_MIN = 8 * SLOT_MILLI, /* before so much was counted, nothing is typical */
    TYPICAL_SUM_MAX =
        4096 *
        SLOT_MILLI, /* counted together, about: then all are halved; in a larger pool its slots, */
    TYPICAL_SUM_MOST = 1048576 * SLOT_MILLI, /* at most so many */
    TYPICAL_STEP_MAX = 64 * SLOT_MILLI,      /* of one task */
    TYPICAL_WEIGHT_SUM = 16384,              /* all weights together, about */
};

/* A row. Those counted have the places from 0 on, those weighed from TYPICAL_COUNTED_MAX on, without gaps. */
struct typical {
    uint64_t count; /* thousandths of slots; or the weight */
    struct request request;
};

enum { TYPICAL_PLACES = 128 };
#define TYPICAL_KEY(pool, place) ((uint64_t)(pool).v * TYPICAL_PLACES + (place))
#define TYPICAL_WEIGHED_KEY(pool, place) TYPICAL_KEY(pool, TYPICAL_COUNTED_MAX + (place))
