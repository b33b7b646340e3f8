/* bucket.c - see bucket.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/bucket.h"

#include "base/must.h"

static int64_t bounded(__int128 value)
{
    return value > BUCKET_MAX ? BUCKET_MAX : value < -BUCKET_MAX ? -BUCKET_MAX : (int64_t)value;
}

int64_t bucket_level(const struct bucket *bucket, int64_t now_ms)
{
    must(bucket->since_ms != 0);
    const int64_t past_ms = now_ms > bucket->since_ms ? now_ms - bucket->since_ms : 0;
    const int64_t level = bounded(bucket->level + (__int128)bucket->rate * past_ms);
    return level < bucket->most ? level : bucket->most;
}

int64_t bucket_reaches_ms(int64_t level, int64_t rate, int64_t wanted, int64_t now_ms)
{
    if (level == wanted) {
        return now_ms;
    }
    if (rate == 0 || (rate > 0) != (wanted > level)) {
        return INT64_MAX;
    }
    const __int128 way = wanted > level ? (__int128)wanted - level : (__int128)level - wanted;
    const __int128 speed = rate > 0 ? (__int128)rate : -(__int128)rate;
    return bounded(now_ms + (way + speed - 1) / speed);
}

int64_t bucket_plus(int64_t a, int64_t b)
{
    return bounded((__int128)a + b);
}

int64_t bucket_times(int64_t a, int64_t b)
{
    return bounded((__int128)a * b);
}
