/* spread.h - distributions of times, and classes of sizes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

#include <stddef.h>
#include <stdint.h>

/* A distribution of times. All members are 0 if `count` is 0. */
struct spread {
    uint64_t count;
    int64_t mean_ms;
    int64_t p50_ms;
    int64_t p90_ms;
    int64_t p99_ms;
    int64_t max_ms;
};

/* Sorts the times. A percentile is the least time that so many times do not exceed; it is never
 * a value between two times. */
struct spread spread_of(int64_t *times, size_t count);

enum { SIZE_CLASS_COUNT = 10 };

/* Returns the name of a size class: "1 slot", "3-4 slots". */
const char *spread_class_name(uint32_t size_class);
uint32_t spread_class_of(int64_t slots_milli);
