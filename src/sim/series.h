/* series.h - samples of a run at even distances. When there are too many, every second one goes and
 * the distance doubles: any length of run gives a bounded number, the same on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SERIES_SAMPLES_MAX = 512, SERIES_ACCOUNTS_MAX = 32, SERIES_POOLS_MAX = 8 };

/* Slots of one pool. */
struct pool_sample {
    int64_t allocated_milli;
    int64_t capacity_milli;
    int64_t fragmented_milli;
};

struct sample {
    int64_t at_ms;
    int64_t allocated_milli;
    int64_t capacity_milli;
    int64_t fragmented_milli;
    uint64_t pending;
    struct pool_sample pools[SERIES_POOLS_MAX]; /* as below, the last one takes the rest */
    int64_t held_milli[SERIES_ACCOUNTS_MAX];    /* by account; the last one takes the rest */
    int64_t share_milli[SERIES_ACCOUNTS_MAX];   /* its fair share of all pools */
    /* From the beginning on, by account: how long it lacked some of its guarantee, and was owed a place (fairness.h). What was in
     * between two samples is their difference, however many were left out. */
    int64_t short_ms[SERIES_ACCOUNTS_MAX];
    int64_t below_ms[SERIES_ACCOUNTS_MAX];
};

struct series {
    int64_t step_ms;
    size_t count;
    struct sample at[SERIES_SAMPLES_MAX];
};

void series_init(struct series *series, int64_t step_ms);

/* The moment of the next sample; INT64_MAX: none comes, time itself is at its end. */
int64_t series_next_ms(const struct series *series);

/* A sample for series_next_ms(); its time is set here. Where none comes any more it is left out. */
void series_add(struct series *series, const struct sample *sample);
