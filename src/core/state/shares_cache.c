/* shares_cache.c - see shares_cache.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/shares_cache.h"

#include "base/mem.h"

struct shares_cache *shares_cache_new(void)
{
    struct shares_cache *cache = xcalloc(1, sizeof *cache);
    arena_init(&cache->arena);
    return cache;
}

void shares_cache_free(struct shares_cache *cache)
{
    if (cache != NULL) {
        arena_done(&cache->arena);
        free(cache);
    }
}
