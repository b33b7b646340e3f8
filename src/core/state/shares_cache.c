/* shares_cache.c - makes and frees the caches of fair shares, and collects what has changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/shares_cache.h"

#include "base/mem.h"
#include "base/must.h"

struct shares_cache *shares_cache_new(void)
{
    struct shares_cache *cache = xcalloc(1, sizeof *cache);
    arena_init(&cache->arena);
    return cache;
}

void shares_cache_free(struct shares_cache *cache)
{
    if (cache != NULL) {
        must(cache->trees.count == 0 || cache->share_tree_free != NULL);
        for (size_t i = 0; i < cache->trees.count; i++) {
            cache->share_tree_free(cache->trees.at[i]);
        }
        vec_done(&cache->trees);
        vec_done(&cache->touched);
        arena_done(&cache->arena);
        free(cache);
    }
}

void shares_cache_touch(struct shares_cache *cache, uint64_t key)
{
    if (cache == NULL || cache->trees.count == 0) {
        return;
    }
    if (cache->touched.count == SHARES_TOUCHED_MAX) {
        shares_cache_renew(cache);
    }
    if (cache->touched.count == 0 || cache->touched.at[cache->touched.count - 1] != key) {
        vec_push(&cache->touched, key);
    }
}

void shares_cache_renew(struct shares_cache *cache)
{
    if (cache != NULL) {
        cache->epoch++;
        vec_clear(&cache->touched);
    }
}
