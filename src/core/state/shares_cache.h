/* shares_cache.h - the fair shares of the pool asked for last, as long as the state stays the same: a cache beside the
 * state. Who computes them (sched/order/shares.c) fills it; the state only owns it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"

#include <stdint.h>

struct shares;

struct shares_cache {
    pool_id pool;
    uint64_t seq;
    const struct shares *shares; /* NULL: nothing yet */
    struct arena arena;
};

struct shares_cache *shares_cache_new(void);
void shares_cache_free(struct shares_cache *cache); /* NULL is fine */
