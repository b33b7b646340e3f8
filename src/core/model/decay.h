/* decay.h - exponential decay over time with integers only, so that every machine gets the same result.
 *
 * A decaying mean is updated by mean' = mean x d + now x (1 - d), where d is the part of the old mean that
 * still counts. A mean has MEAN_SHIFT bits behind the point. DECAY_ONE stands for d = 1.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"

#include <stdint.h>

#define DECAY_ONE ((uint64_t)1 << 48)

enum { MEAN_SHIFT = 16 };

/* 0.5 ^ (elapsed_ms / half_life_ms), rounded down. `half_life_ms` is above 0. */
uint64_t decay_half(int64_t elapsed_ms, int64_t half_life_ms);

/* The d of a plain mean: the part that the first `before_ms` have in `before_ms` + `more_ms`. */
uint64_t decay_plain(int64_t before_ms, int64_t more_ms);

/* Updates a mean after a time in which the amount was `now` (0 or more). */
void decay_mean(struct sum *mean, int64_t now, uint64_t d);

/* The ratio of two means, scaled so that 1 is `full`: at most `full`, and 0 where `whole` is 0. */
uint32_t decay_part(const struct sum *mean, const struct sum *whole, uint32_t full);
