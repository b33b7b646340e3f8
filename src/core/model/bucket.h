/* bucket.h - an amount that changes evenly with time, up to a bound: the budgets and the credits of a pool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* Amounts are thousandths of a slot times milliseconds. */
struct bucket {
    int64_t level;    /* at `since_ms` */
    int64_t rate;     /* change in each millisecond */
    int64_t most;     /* the level goes no higher */
    int64_t since_ms; /* 0: the bucket was never used, and is full */
};

/* The level at `now_ms` of a bucket that was used. */
int64_t bucket_level(const struct bucket *bucket, int64_t now_ms);

/* When the level reaches `wanted`, if it grows by `rate` from now on; INT64_MAX: never. */
int64_t bucket_reaches_ms(int64_t level, int64_t rate, int64_t wanted, int64_t now_ms);

/* Sums and products of levels. A result beyond ±BUCKET_MAX becomes ±BUCKET_MAX: such a level is as good as without bound. */
#define BUCKET_MAX (INT64_MAX / 4)
int64_t bucket_plus(int64_t a, int64_t b);
int64_t bucket_times(int64_t a, int64_t b);
