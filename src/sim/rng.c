/* rng.c - SplitMix64, and exponential numbers by a logarithm in fixed point, because libm's
 * logarithm differs between machines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/rng.h"

#include "base/hash.h"
#include "base/must.h"

enum { LOG_BITS = 24 };

/* ln 2 in 32-bit fixed point. */
#define LN2_FIXED 2977044472ULL

struct rng rng_of(uint64_t seed, const char *purpose, uint64_t index)
{
    const uint64_t mixed = seed ^ hash_bytes(purpose, strlen(purpose)) ^ hash_u64(index + 1);
    return (struct rng){hash_u64(mixed)};
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

uint64_t rng_below(struct rng *rng, uint64_t count)
{
    must(count > 0);
    return (uint64_t)(((unsigned __int128)rng_next(rng) * count) >> 64);
}

bool rng_chance(struct rng *rng, uint32_t millionths)
{
    return rng_below(rng, 1000000) < millionths;
}

/* Computes -log2(u / 2^64) with LOG_BITS binary places. Counting zeros gives the whole part,
 * repeated squaring of the rest gives the places. */
static uint64_t minus_log2(uint64_t u)
{
    must(u > 0);
    const unsigned zeros = (unsigned)__builtin_clzll(u);
    uint64_t mantissa = u << zeros; /* from 1 to 2, with the 1 in the highest bit */
    uint64_t log = 0;
    for (int i = 0; i < LOG_BITS; i++) {
        const unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
        log <<= 1;
        if (square >> 127) {
            log |= 1;
            mantissa = (uint64_t)(square >> 64);
        } else {
            mantissa = (uint64_t)(square >> 63);
        }
    }
    return ((uint64_t)(zeros + 1) << LOG_BITS) - log;
}

int64_t rng_exponential(struct rng *rng, int64_t mean)
{
    must(mean >= 0);
    const uint64_t log = minus_log2(rng_next(rng) | 1);
    const unsigned __int128 scaled = (unsigned __int128)log * LN2_FIXED * (uint64_t)mean;
    return (int64_t)(scaled >> (LOG_BITS + 32));
}

int64_t rng_between(struct rng *rng, int64_t low, int64_t high)
{
    must(low <= high);
    return low + (int64_t)rng_below(rng, (uint64_t)(high - low) + 1);
}
