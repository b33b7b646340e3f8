/* quota_warn.c - see quota_warn.h. SPDX-License-Identifier: Apache-2.0 */
#include "wire/quota_warn.h"

#include "base/buf.h"
#include "base/checked.h"
#include "core/sched/order/shares.h"
#include "core/state/elastic.h"
#include "wire/reason_text.h"

/* The sum of what the accounts directly below `parent` are guaranteed. Unlimited guarantees do not count: they promise no amount. */
static int64_t promised(const struct core *core, account_id parent, pool_id pool, uint32_t dim)
{
    int64_t sum = 0;
    for (const struct account *child = query_account_child_next(core, parent, (account_id){0});
         child != NULL; child = query_account_child_next(core, parent, child->id)) {
        struct quota quota;
        query_quota(core, child->id, pool, &quota);
        if (quota.guaranteed.at[dim] != QUOTA_UNLIMITED) {
            sum = i64_add(sum, quota.guaranteed.at[dim]);
        }
    }
    return sum;
}

/* Returns the sentence. Of the whole pool: "the guarantees in pool 'a100' promise 17 slots, and the pool has 4". */
static const char *sentence(const struct core *core, account_id parent, pool_id pool,
                            resource_id resource, const int64_t amounts[2], struct arena *arena)
{
    struct buf text;
    buf_init(&text, REASON_TEXT_MAX);
    if (parent.v == 0) {
        buf_addf(&text, "the guarantees in pool '%s' promise ", query_pool_name(core, pool));
    } else {
        buf_addf(&text, "the guarantees below department '%s' in pool '%s' promise ",
                 query_account_name(core, parent), query_pool_name(core, pool));
    }
    reason_text_amount(core, resource, amounts[0], &text);
    buf_add_str(&text,
                parent.v == 0 ? ", and the pool has " : ", and the department is guaranteed ");
    reason_text_amount_bare(resource, amounts[1], &text);
    buf_add_str(&text, ": not all of them can be met at once");
    const char *copy = arena_str(arena, buf_text(&text));
    buf_done(&text);
    return copy;
}

/* Warns of a guarantee in a pool without nodes: the pool has no size before its first node joins.
 * There is no warning for a pool with a provider, because such a pool grows when tasks wait. */
static uint32_t warn_empty(const struct core *core, const struct pool *pool,
                           const struct quota *own, struct arena *arena,
                           const char *ret[QUOTA_WARN_MAX])
{
    const int64_t slots = own->guaranteed.at[DIM_SLOTS];
    if (elastic_pool(pool) || slots == 0 || slots == QUOTA_UNLIMITED) {
        return 0;
    }
    ret[0] = arena_fmt(arena,
                       "no node has joined pool '%s': what it guarantees can be met once nodes "
                       "have joined",
                       query_pool_name(core, pool->id));
    return 1;
}

uint32_t quota_warn(const struct core *core, account_id account, pool_id pool, struct arena *arena,
                    const char *ret[QUOTA_WARN_MAX])
{
    uint32_t count = 0;
    struct quota own;
    struct account_pool all;
    const struct pool *row = query_pool(core, pool);
    if (row == NULL) {
        return 0;
    }
    query_quota(core, account, pool, &own);
    if (row->node_count == 0) {
        return warn_empty(core, row, &own, arena, ret);
    }
    shares_pool_fill(core, pool, &all);
    for (uint32_t dim = 0; dim < all.dims; dim++) {
        const struct account *at = query_account(core, account);
        if (own.guaranteed.at[dim] == QUOTA_UNLIMITED || own.guaranteed.at[dim] == 0) {
            continue;
        }
        while (at != NULL && count < QUOTA_WARN_MAX) {
            const account_id parent = at->parent;
            struct quota above = {.guaranteed = all.total};
            if (parent.v != 0) {
                query_quota(core, parent, pool, &above);
            }
            const int64_t has = above.guaranteed.at[dim];
            const int64_t amounts[2] = {promised(core, parent, pool, dim), has};
            if (has != QUOTA_UNLIMITED && amounts[0] > has) {
                ret[count++] =
                    sentence(core, parent, pool, query_dim_resource(core, dim), amounts, arena);
            }
            at = parent.v != 0 ? query_account(core, parent) : NULL;
        }
    }
    return count;
}
