/* shares_cache.h - the caches of fair shares, beside the state. sched/order/ fills and reads them; the state owns them and says what
 * has changed.
 *
 *   shares    the shares of one pool, valid while the state has `seq` facts: for pools whose shares depend on usage history
 *   trees     share trees: the accounts of a pool with their shares (sched/order/share_tree.h): one for each other pool
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "core/model/ids.h"

#include <stdint.h>

struct shares;
struct share_tree;

/* After more changes of usage than this without a look, share trees are made anew. */
enum { SHARES_TOUCHED_MAX = 4096 };

struct shares_cache {
    pool_id pool;
    uint64_t seq;
    const struct shares *shares; /* NULL: empty */
    struct arena arena;
    VEC(struct share_tree *) trees;
    void (*share_tree_free)(struct share_tree *tree); /* set with the first tree */
    uint64_t epoch;        /* a share tree of another epoch must be made anew */
    VEC(uint64_t) touched; /* ACCOUNT_KEYs of changed rows of usage */
};

struct shares_cache *shares_cache_new(void);
void shares_cache_free(struct shares_cache *cache); /* NULL is fine */

/* The usage of an account in a pool (ACCOUNT_KEY) has changed. `cache` may be NULL. */
void shares_cache_touch(struct shares_cache *cache, uint64_t key);

/* Something other than usage has changed: a quota, the tree of accounts, the dimensions. `cache` may be NULL. */
void shares_cache_renew(struct shares_cache *cache);
