/* decay.h - halving with time, by a table: integers only, the same on every machine.
 *
 * A weighted mean forgets: mean' = mean x d + now x (1 - d), where d is the part of the past that still counts. Means are kept in
 * parts of a unit (MEAN_SHIFT bits), d in DECAY_ONEths.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"

#include <stdint.h>

#define DECAY_ONE ((uint64_t)1 << 48)

enum { MEAN_SHIFT = 16 };

/* 0.5 ^ (elapsed / half_life), rounded down; half_life above 0. */
uint64_t decay_half(int64_t elapsed_ms, int64_t half_life_ms);

/* What still counts of `before_ms` when `more_ms` have been added to them: a plain mean over both. */
uint64_t decay_plain(int64_t before_ms, int64_t more_ms);

/* The mean after a time in which the amount was `now` (0 or more) and d of the past still counts. */
void decay_mean(struct sum *mean, int64_t now, uint64_t d);

/* A mean as part of another one, in `full`ths: 0 to `full`; 0 of nothing. */
uint32_t decay_part(const struct sum *mean, const struct sum *whole, uint32_t full);
