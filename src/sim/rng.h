/* rng.h - random numbers from a seed. Only integers are used, so that the numbers are the same
 * on every machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

/* Returns a stream for one purpose. Draws from one stream do not change another stream. */
struct rng rng_of(uint64_t seed, const char *purpose, uint64_t index);

uint64_t rng_next(struct rng *rng);

/* Returns 0 .. count - 1. `count` must be above 0. */
uint64_t rng_below(struct rng *rng, uint64_t count);

/* True in `millionths` of a million cases. */
bool rng_chance(struct rng *rng, uint32_t millionths);

/* Returns exponentially distributed numbers with this mean: the time to the next of independent
 * events. */
int64_t rng_exponential(struct rng *rng, int64_t mean);

/* Returns low .. high, both included. */
int64_t rng_between(struct rng *rng, int64_t low, int64_t high);
