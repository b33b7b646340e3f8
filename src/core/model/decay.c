/* decay.c - exponential decay by a table. The table has 0.5 ^ (1/2), 0.5 ^ (1/4), 0.5 ^ (1/8) and so on. A
 * power is the product of the entries for the bits that are set in the exponent.
 *
 * The exponent has 40 bits, so that one second counts even with a half-life of ten years (three parts in a
 * billion). Amounts are below 2^60, so means are below 2^76 and a product with d is at most 2^124: 128 bits
 * are enough.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/decay.h"

#include "base/must.h"

typedef unsigned __int128 u128;

enum { EXPONENT_BITS = 40, TABLE_SHIFT = 62, DECAY_SHIFT = 48 };

/* 0.5 ^ (0.5 ^ i) for i from 1, times 2^62. */
static const uint64_t halves[EXPONENT_BITS] = {
    0x2d413cccfe779921U, 0x35d13f32b5a75abdU, 0x3ab031b9f7490e4cU, 0x3d495f454921b30bU,
    0x3ea0ecb6dc8a80cfU, 0x3f4f83033d21b05dU, 0x3fa784571ee3e213U, 0x3fd3b2d65447b229U,
    0x3fe9d59487236bb4U, 0x3ff4e9d4703df843U, 0x3ffa74acbdf6c9d5U, 0x3ffd3a46ffc6e30fU,
    0x3ffe9d1fa8010199U, 0x3fff4e8ede053ad5U, 0x3fffa747318376acU, 0x3fffd3a38961e6ffU,
    0x3fffe9d1c0d8fd14U, 0x3ffff4e8df7680c5U, 0x3ffffa746f7dc0ecU, 0x3ffffd3a37af8098U,
    0x3ffffe9d1bd3e854U, 0x3fffff4e8de8fe2cU, 0x3fffffa746f44197U, 0x3fffffd3a37a116bU,
    0x3fffffe9d1bd04deU, 0x3ffffff4e8de8179U, 0x3ffffffa746f407fU, 0x3ffffffd3a37a030U,
    0x3ffffffe9d1bd014U, 0x3fffffff4e8de809U, 0x3fffffffa746f404U, 0x3fffffffd3a37a02U,
    0x3fffffffe9d1bd01U, 0x3ffffffff4e8de81U, 0x3ffffffffa746f40U, 0x3ffffffffd3a37a0U,
    0x3ffffffffe9d1bd0U, 0x3fffffffff4e8de8U, 0x3fffffffffa746f4U, 0x3fffffffffd3a37aU,
};

uint64_t decay_half(int64_t elapsed_ms, int64_t half_life_ms)
{
    must(elapsed_ms >= 0);
    must(half_life_ms > 0);
    const int64_t whole = elapsed_ms / half_life_ms;
    if (whole >= DECAY_SHIFT) {
        return 0;
    }
    const uint64_t rest = (uint64_t)(elapsed_ms % half_life_ms);
    const uint64_t exponent = (uint64_t)(((u128)rest << EXPONENT_BITS) / (uint64_t)half_life_ms);
    uint64_t value = (uint64_t)1 << TABLE_SHIFT;
    for (uint32_t i = 0; i < EXPONENT_BITS; i++) {
        if ((exponent >> (EXPONENT_BITS - 1 - i) & 1) != 0) {
            value = (uint64_t)(((u128)value * halves[i]) >> TABLE_SHIFT);
        }
    }
    return value >> (TABLE_SHIFT - DECAY_SHIFT) >> whole;
}

uint64_t decay_plain(int64_t before_ms, int64_t more_ms)
{
    must(before_ms >= 0);
    must(more_ms >= 0);
    const u128 all = (u128)(uint64_t)before_ms + (uint64_t)more_ms;
    return all == 0 ? DECAY_ONE : (uint64_t)((u128)(uint64_t)before_ms * DECAY_ONE / all);
}

static u128 sum_value(const struct sum *sum)
{
    must(sum->high >= 0);
    return (u128)(uint64_t)sum->high << 64 | sum->low;
}

void decay_mean(struct sum *mean, int64_t now, uint64_t d)
{
    must(now >= 0);
    must(d <= DECAY_ONE);
    const u128 past = sum_value(mean) * d;
    const u128 next = ((u128)(uint64_t)now << MEAN_SHIFT) * (DECAY_ONE - d);
    const u128 both = (past + next) >> DECAY_SHIFT;
    *mean = (struct sum){(uint64_t)both, (int64_t)(both >> 64)};
}

uint32_t decay_part(const struct sum *mean, const struct sum *whole, uint32_t full)
{
    const u128 of = sum_value(whole);
    if (of == 0) {
        return 0;
    }
    const u128 part = sum_value(mean) * full / of;
    return part < full ? (uint32_t)part : full;
}
