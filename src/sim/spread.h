/* spread.h - distributions of times, and classes of sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <stddef.h>
#include <stdint.h>

/* All 0 where `count` is. */
struct spread {
    uint64_t count;
    int64_t mean_ms;
    int64_t p50_ms;
    int64_t p90_ms;
    int64_t p99_ms;
    int64_t max_ms;
};

/* Sorts the times. A percentile is a time that occurred, never something between two: the least that so many do not exceed. */
struct spread spread_of(int64_t *times, size_t count);

enum { SIZE_CLASS_COUNT = 10 };

/* "1 slot", "3-4 slots". */
const char *spread_class_name(uint32_t size_class);
uint32_t spread_class_of(int64_t slots_milli);
