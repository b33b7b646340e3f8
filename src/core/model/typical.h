/* typical.h - typical requests of a pool, learned from submissions. A pool counts how many slots were
 * requested by each request. Now and then the most frequent requests get weights, which placement `tight`
 * uses (sched/place/waste.h).
 *
 *   counted: up to TYPICAL_COUNTED_MAX  ──now and then──▶  weighed: the TYPICAL_MAX weightiest of that moment
 *
 * A new request takes the row of the rarest request and inherits its count. So every request that makes up
 * more than 1/TYPICAL_COUNTED_MAX of all slots has a row. Counts are halved when their sum gets large, so
 * that old requests count less. The weights stay until a quarter of the counted sum is new, so that scores
 * made with the weights can be kept as long. A request weighs more when it is frequent, a little more when it
 * is large, and more when few free slots of the pool could serve it. A pool that has seen few requests has no
 * typical requests, and placement uses free amounts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/resource.h"

#include <stdint.h>

enum {
    TYPICAL_COUNTED_MAX = 64,
    TYPICAL_MAX = 64,
    TYPICAL_SUM_MIN = 8 * SLOT_MILLI, /* while less than this is counted, no request is typical */
    /* all counts are halved when their sum reaches about this number, or the pool's slots in a larger pool */
    TYPICAL_SUM_MAX = 4096 * SLOT_MILLI,
    /* upper bound of the sum at which counts are halved */
    TYPICAL_SUM_MOST = 1048576 * SLOT_MILLI,
    TYPICAL_STEP_MAX = 64 * SLOT_MILLI, /* the most that one task adds to a count */
    TYPICAL_WEIGHT_SUM = 16384,         /* about the sum of all weights */
};

/* The row of a counted or weighed request. Counted rows have the places from 0 on, weighed rows the places
 * from TYPICAL_COUNTED_MAX on, without gaps. */
struct typical {
    uint64_t count; /* counted rows: thousandths of slots; weighed rows: the weight */
    struct request request;
};

enum { TYPICAL_PLACES = 128 };
#define TYPICAL_KEY(pool, place) ((uint64_t)(pool).v * TYPICAL_PLACES + (place))
#define TYPICAL_WEIGHED_KEY(pool, place) TYPICAL_KEY(pool, TYPICAL_COUNTED_MAX + (place))
