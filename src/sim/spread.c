/* spread.c - see spread.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/spread.h"

static int i64_compare(const void *a, const void *b)
{
    const int64_t first = *(const int64_t *)a;
    const int64_t second = *(const int64_t *)b;
    return first < second ? -1 : first > second;
}

/* Returns the least value that `percent` of all values do not exceed. */
static int64_t percentile(const int64_t *sorted, size_t count, unsigned percent)
{
    return sorted[(count * percent + 99) / 100 - 1];
}

struct spread spread_of(int64_t *times, size_t count)
{
    if (count == 0) {
        return (struct spread){0};
    }
    qsort(times, count, sizeof *times, i64_compare);
    __int128 sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += times[i];
    }
    return (struct spread){
        .count = count,
        .mean_ms = (int64_t)((sum + (int64_t)(count / 2)) / (int64_t)count),
        .p50_ms = percentile(times, count, 50),
        .p90_ms = percentile(times, count, 90),
        .p99_ms = percentile(times, count, 99),
        .max_ms = times[count - 1],
    };
}

static const struct {
    const char *name;
    int64_t slots_max; /* thousandths */
} size_classes[SIZE_CLASS_COUNT] = {
    {"no slots", 0},        {"part of a slot", 999},
    {"1 slot", 1000},       {"2 slots", 2000},
    {"3-4 slots", 4000},    {"5-8 slots", 8000},
    {"9-16 slots", 16000},  {"17-32 slots", 32000},
    {"33-64 slots", 64000}, {"over 64 slots", INT64_MAX},
};

const char *spread_class_name(uint32_t size_class)
{
    must(size_class < SIZE_CLASS_COUNT);
    return size_classes[size_class].name;
}

uint32_t spread_class_of(int64_t slots_milli)
{
    uint32_t class = 0;
    while (slots_milli > size_classes[class].slots_max) {
        class ++;
    }
    return class;
}
