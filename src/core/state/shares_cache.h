/* shares_cache.h - a cache of the fair shares of one pool, the pool that was asked for last. The cache is
 * valid while the state has `seq` facts. sched/order/shares.c fills the cache. The state only owns the cache.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"

#include <stdint.h>

struct shares;

struct shares_cache {
    pool_id pool;
    uint64_t seq;
    const struct shares *shares; /* NULL: the cache is empty */
    struct arena arena;
};

struct shares_cache *shares_cache_new(void);
void shares_cache_free(struct shares_cache *cache); /* NULL is fine */
