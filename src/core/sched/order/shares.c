/* shares.c - views of the accounts of a pool, and the division down the tree.
 *
 * Costs what the accounts with work in the pool cost: those are the rows of usage, whose ancestors have one, too.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/shares.h"

#include "base/must.h"
#include "core/model/account.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/sched/order/fairshare.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/shares_cache.h"
#include "core/state/state.h"

/* What can be divided (fairshare.c multiplies with it). */
#define TOTAL_MAX ((int64_t)1 << 55)

static uint64_t usage_next(const struct core *core, pool_id pool, uint64_t after)
{
    const uint64_t key = table_next(&core->usages, after);
    return key >> 32 == pool.v ? key : 0;
}

static uint32_t usage_count(const struct core *core, pool_id pool)
{
    uint32_t count = 0;
    for (uint64_t key = usage_next(core, pool, ACCOUNT_KEY(pool, (account_id){0})); key != 0;
         key = usage_next(core, pool, key)) {
        count++;
    }
    return count;
}

/* ---- what there is ---- */

static int64_t total_cut(__int128 sum)
{
    return sum > TOTAL_MAX ? TOTAL_MAX : (int64_t)sum;
}

static __int128 sum_of(const struct sum *sum)
{
    return (__int128)sum->high << 64 | sum->low;
}

/* Of a named resource that some quota mentions: few are, so nobody keeps the sum. */
static int64_t named_total(const struct core *core, pool_id pool, resource_id resource)
{
    __int128 sum = 0;
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(core, pool, after)) != NULL) {
        after = node->id;
        sum += node_takes_work(node) ? node_named(node, resource) : 0;
    }
    return total_cut(sum);
}

static void pool_fill(const struct core *core, pool_id id, struct account_pool *ret)
{
    const struct pool *pool = query_pool(core, id);
    must(pool != NULL);
    *ret = (struct account_pool){.dims = query_dim_count(core)};
    for (uint32_t dim = 0; dim < ret->dims; dim++) {
        ret->unit.at[dim] = dim == DIM_CPU || dim == DIM_MEMORY ? 1 : SLOT_MILLI;
        ret->total.at[dim] = dim < DIM_NAMED_FIRST
                                 ? total_cut(sum_of(&pool->usable[dim]))
                                 : named_total(core, id, query_dim_resource(core, dim));
    }
}

/* ---- the accounts ---- */

static void view_fill(const struct core *core, const struct quota *quota, const struct usage *usage,
                      struct account_view *ret)
{
    ret->rank = quota->rank;
    ret->preempt_min_runtime_ms = quota->preempt_min_runtime_ms;
    ret->reclaim_min_runtime_ms = quota->reclaim_min_runtime_ms;
    ret->guaranteed = quota->guaranteed;
    ret->limit = quota->limit;
    ret->allocated = usage->allocated;
    ret->fixed = usage->fixed;
    for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
        ret->allocated.at[dim] -= usage->leaving.at[dim];
    }
}

/* Links to parents, children and siblings; a row of usage implies those above it. */
static void links_fill(struct shares *shares)
{
    shares->top_first = SHARES_NONE;
    for (uint32_t i = shares->count; i > 0; i--) {
        const uint32_t at = i - 1;
        const account_id above = shares->links[at].parent;
        struct account_view *parent = above.v == 0 ? NULL : shares_view(shares, above);
        must(parent != NULL || above.v == 0);
        shares->views[at].parent = parent;
        if (parent != NULL) {
            account_promise(parent, &shares->views[at]);
        }
        uint32_t *first =
            parent == NULL ? &shares->top_first : &shares->links[parent->index].child_first;
        shares->links[at].sibling_next = *first;
        *first = at;
    }
}

/* Accounts that work in one pool often have numbers that follow each other: then the first guess is right. */
struct account_view *shares_view(const struct shares *shares, account_id account)
{
    uint32_t from = 0;
    uint32_t to = shares->count;
    const uint32_t guess = to == 0 ? 0 : account.v - shares->links[0].id.v;
    if (guess < to && shares->links[guess].id.v == account.v) {
        return &shares->views[guess];
    }
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (shares->links[middle].id.v < account.v) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    const bool found = from < shares->count && shares->links[from].id.v == account.v;
    return found ? &shares->views[from] : NULL;
}

/* ---- the division ---- */

/* What the division reads of an account, per dim. */
struct claim_on {
    uint32_t weight[QUOTA_DIMS_MAX];
    uint32_t used[QUOTA_DIMS_MAX]; /* in the past: history_used() */
    struct vector demand;
};

static int64_t demand_cut(int64_t demand, int64_t total)
{
    const int64_t most = 2 * total + SLOT_MILLI; /* beyond it nothing can be had */
    return demand < most ? demand : most;
}

struct division {
    struct shares *shares;
    const struct claim_on *claims;
    struct fairshare *siblings; /* room for all accounts */
    uint32_t factor;            /* how much the past counts */
    struct arena arena;
};

/* Divides `total` of one dim among siblings. */
static void level_divide(struct division *division, uint32_t first, uint32_t dim, int64_t total)
{
    struct shares *shares = division->shares;
    uint32_t count = 0;
    for (uint32_t at = first; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const struct account_view *view = &shares->views[at];
        division->siblings[count++] = (struct fairshare){
            .guaranteed = view->guaranteed.at[dim],
            .limit = view->limit.at[dim],
            .demand = demand_cut(division->claims[at].demand.at[dim], shares->pool.total.at[dim]),
            .usage = division->claims[at].used[dim],
            .order = view->order,
            .weight = division->claims[at].weight[dim],
            .rank = view->rank,
        };
    }
    (void)fairshare_divide(division->siblings, count, total, shares->pool.unit.at[dim],
                           division->factor, &division->arena);
    count = 0;
    for (uint32_t at = first; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        shares->views[at].share.at[dim] = division->siblings[count++].share;
    }
    arena_clear(&division->arena);
}

/* Parents before their children: by depth. */
static void tree_divide(struct division *division)
{
    struct shares *shares = division->shares;
    for (uint32_t dim = 0; dim < shares->pool.dims; dim++) {
        level_divide(division, shares->top_first, dim, shares->pool.total.at[dim]);
        for (uint32_t depth = 0; depth < ACCOUNT_DEPTH_MAX; depth++) {
            for (uint32_t at = 0; at < shares->count; at++) {
                if (shares->views[at].depth == depth &&
                    shares->links[at].child_first != SHARES_NONE) {
                    level_divide(division, shares->links[at].child_first, dim,
                                 shares->views[at].share.at[dim]);
                }
            }
        }
    }
    for (uint32_t at = 0; at < shares->count; at++) {
        account_allocatable(&shares->views[at]);
    }
}

struct shares *shares_compute(const struct core *core, pool_id pool, struct arena *arena)
{
    struct shares *shares = arena_new(arena, struct shares, 1);
    const uint32_t count = usage_count(core, pool);
    struct claim_on *claims = arena_new(arena, struct claim_on, count);
    const struct pool *row = query_pool(core, pool);
    const uint32_t factor = history_looks_back(row) ? row->history_factor : 0;
    pool_fill(core, pool, &shares->pool);
    shares->count = count;
    shares->views = arena_new(arena, struct account_view, count);
    shares->links = arena_new(arena, struct shares_link, count);
    shares->held = arena_new(arena, struct vector, count);
    uint64_t key = ACCOUNT_KEY(pool, (account_id){0});
    for (uint32_t at = 0; at < count; at++) {
        key = usage_next(core, pool, key);
        const account_id id = {(uint32_t)key};
        struct quota quota;
        struct usage usage;
        query_quota(core, id, pool, &quota);
        query_usage(core, id, pool, &usage);
        const struct account *account = query_account(core, id);
        shares->links[at] = (struct shares_link){id, account->parent, SHARES_NONE, SHARES_NONE};
        shares->views[at].index = at;
        shares->views[at].order = id.v;
        shares->views[at].depth = account->depth - 1;
        shares->held[at] = usage.allocated;
        view_fill(core, &quota, &usage, &shares->views[at]);
        for (uint32_t dim = 0; dim < shares->pool.dims; dim++) {
            claims[at].weight[dim] = quota.weight[dim];
            claims[at].used[dim] = factor > 0 ? history_used(core, id, pool, dim) : 0;
            claims[at].demand.at[dim] = quota_demand(&usage, dim);
        }
    }
    links_fill(shares);
    struct division division = {.shares = shares,
                                .claims = claims,
                                .siblings = arena_new(arena, struct fairshare, count),
                                .factor = factor};
    arena_init(&division.arena);
    tree_divide(&division);
    arena_done(&division.arena);
    return shares;
}

/* ---- for those who only show them ---- */

static const struct shares *cache_ask(struct shares_cache *cache, const struct core *core,
                                      pool_id pool)
{
    if (cache->shares == NULL || cache->pool.v != pool.v || cache->seq != core->seq) {
        arena_clear(&cache->arena);
        cache->shares = shares_compute(core, pool, &cache->arena);
        cache->pool = pool;
        cache->seq = core->seq;
    }
    return cache->shares;
}

static int64_t share_at(const struct shares *shares, account_id account, uint32_t dim)
{
    const struct account_view *view = shares_view(shares, account);
    return view != NULL ? view->share.at[dim] : 0;
}

int64_t shares_of(const struct core *core, account_id account, pool_id pool, uint32_t dim)
{
    must(dim < query_dim_count(core));
    if (query_pool(core, pool) == NULL) {
        return 0;
    }
    if (core->shares != NULL) {
        return share_at(cache_ask(core->shares, core, pool), account, dim);
    }
    struct arena arena;
    arena_init(&arena);
    const int64_t share = share_at(shares_compute(core, pool, &arena), account, dim);
    arena_done(&arena);
    return share;
}
