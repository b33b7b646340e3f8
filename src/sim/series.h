/* series.h - samples of a run at even distances. When there are too many samples, every second
 * one is dropped and the distance doubles. A run of any length thus has a bounded number of
 * samples, the same on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SERIES_SAMPLES_MAX = 512, SERIES_ACCOUNTS_MAX = 32, SERIES_POOLS_MAX = 8 };

/* The slots of one pool. */
struct pool_sample {
    int64_t allocated_milli;
    int64_t capacity_milli;
    int64_t fragmented_milli;
    int64_t kept_milli; /* idle, because places are kept for waiting tasks */
    int64_t lost_milli; /* of the slots in use: their work was lost later, and is done again */
};

struct sample {
    int64_t at_ms;
    int64_t allocated_milli;
    int64_t capacity_milli;
    int64_t fragmented_milli;
    int64_t kept_milli;
    int64_t lost_milli;
    uint64_t pending;
    struct pool_sample pools[SERIES_POOLS_MAX]; /* by pool; the last entry sums all further pools */
    /* By account; the last entry sums all further accounts. */
    int64_t held_milli[SERIES_ACCOUNTS_MAX];
    int64_t share_milli[SERIES_ACCOUNTS_MAX]; /* fair shares in all pools together, by account */
    /* By account, since the beginning: how long some of the guarantee was lacking, and how long
     * a place was owed (fairness.h). The difference of two samples holds for the time between
     * them, even if samples between them were dropped. */
    int64_t short_ms[SERIES_ACCOUNTS_MAX];
    int64_t below_ms[SERIES_ACCOUNTS_MAX];
};

struct series {
    int64_t step_ms;
    size_t count;
    struct sample at[SERIES_SAMPLES_MAX];
};

void series_init(struct series *series, int64_t step_ms);

/* Returns the time of the next sample; INT64_MAX: there is none, because time would overflow. */
int64_t series_next_ms(const struct series *series);

/* Adds the sample of series_next_ms() and sets its time. Does nothing if there is no next
 * sample. */
void series_add(struct series *series, const struct sample *sample);

/* Notes that slots in use since `from_ms` lost their work at `to_ms`, in the entry of a pool. */
struct series_loss {
    int64_t from_ms;
    int64_t to_ms;
    int64_t milli;
    uint32_t pool; /* index in the samples */
};
void series_lose(struct series *series, const struct series_loss *loss);
