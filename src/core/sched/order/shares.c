/* shares.c - views of the accounts of a pool, and the division down the tree.
 *
 * An account with work in the pool has a row of usage there, and so have all its ancestors. The cost grows with the number of these
 * rows, not with the number of all accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/shares.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/account.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/sched/order/share_tree.h"
#include "core/sched/order/fairshare.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/shares_cache.h"
#include "core/state/state.h"

/* The largest total that is divided. A larger total would overflow the products of fairshare.c. */
#define TOTAL_MAX ((int64_t)1 << 55)

account_id shares_account_next(const struct core *core, pool_id pool, account_id after)
{
    const uint64_t key = table_next(&core->usages, ACCOUNT_KEY(pool, after));
    return (account_id){key >> 32 == pool.v ? (uint32_t)key : 0};
}

static uint32_t accounts_count(const struct core *core, pool_id pool)
{
    uint32_t count = 0;
    for (account_id id = shares_account_next(core, pool, (account_id){0}); id.v != 0;
         id = shares_account_next(core, pool, id)) {
        count++;
    }
    return count;
}

/* ---- the totals of the pool ---- */

static int64_t total_cut(__int128 sum)
{
    return sum > TOTAL_MAX ? TOTAL_MAX : (int64_t)sum;
}

static __int128 sum_of(const struct sum *sum)
{
    return (__int128)sum->high << 64 | sum->low;
}

/* The usable amount of a named resource that a quota mentions. The state keeps no sum for named resources, because quotas mention few. */
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

void shares_pool_fill(const struct core *core, pool_id id, struct account_pool *ret)
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

void shares_quota_fill(const struct quota *quota, struct account_view *ret)
{
    ret->rank = quota->rules.rank;
    ret->preempt_min_runtime_ms = quota->rules.preempt_min_runtime_ms;
    ret->reclaim_min_runtime_ms = quota->rules.reclaim_min_runtime_ms;
    ret->guaranteed = quota->guaranteed;
    ret->limit = quota->limit;
}

void shares_usage_fill(const struct core *core, const struct usage *usage, struct account_view *ret)
{
    ret->allocated = usage->allocated;
    ret->fixed = usage->fixed;
    for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
        ret->allocated.at[dim] -= usage->leaving.at[dim];
        must(ret->allocated.at[dim] >= 0);
    }
}

/* Links each view with its parent, children and siblings. Every ancestor of an account with a row of usage has a row, too. */
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

/* Parents come before their children, because the loop goes by depth. */
static void bounds_fill(struct shares *shares)
{
    for (uint32_t depth = 0; depth < ACCOUNT_DEPTH_MAX; depth++) {
        for (uint32_t at = 0; at < shares->count; at++) {
            if (shares->views[at].depth == depth) {
                account_bound(&shares->views[at]);
            }
        }
    }
}

/* The ids of the accounts with work in one pool often follow each other without gaps. So the search first tries the index that the
 * account would have without gaps, and then searches by halves. */
struct account_view *shares_view(const struct shares *shares, account_id account)
{
    uint32_t from = 0;
    uint32_t to = shares->count;
    if (shares->tree != NULL) {
        return share_tree_view(shares->tree, account);
    }
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
    must(!found || shares->views[from].index == from);
    return found ? &shares->views[from] : NULL;
}

/* ---- the division ---- */

/* What the division reads of an account, by dimension. */
struct claim_on {
    uint32_t weight[QUOTA_DIMS_MAX];
    uint32_t used[QUOTA_DIMS_MAX]; /* usage history: history_used() */
    struct vector demand;
};

int64_t shares_demand(const struct account_pool *pool, const struct usage *usage, uint32_t dim)
{
    const int64_t demand = quota_demand(usage, dim);
    const int64_t most = 2 * pool->total.at[dim] + SLOT_MILLI; /* no share can be larger */
    return demand < most ? demand : most;
}

struct division {
    struct shares *shares;
    const struct claim_on *claims;
    struct fairshare *siblings; /* scratch space for all accounts */
    uint32_t factor;            /* how much usage history counts, in thousandths */
    struct arena arena;
};

/* Divides `total` of one dimension among the account with index `first` and its younger siblings. */
static void level_divide(struct division *division, uint32_t first, uint32_t dim, int64_t total)
{
    struct shares *shares = division->shares;
    uint32_t count = 0;
    for (uint32_t at = first; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        const struct account_view *view = &shares->views[at];
        must(count < shares->count);
        division->siblings[count++] = (struct fairshare){
            .guaranteed = view->guaranteed.at[dim],
            .limit = view->limit.at[dim],
            .demand = division->claims[at].demand.at[dim],
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

/* Divides the pool down the tree. Parents come before their children, because the loop goes by depth. */
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
        must(shares->views[at].depth < ACCOUNT_DEPTH_MAX); /* a deeper level would have no shares */
        account_allocatable(&shares->views[at]);
    }
}

struct shares *shares_compute(const struct core *core, pool_id pool, struct arena *arena)
{
    struct shares *shares = arena_new(arena, struct shares, 1);
    const uint32_t count = accounts_count(core, pool);
    struct claim_on *claims = arena_new(arena, struct claim_on, count);
    const struct pool *row = query_pool(core, pool);
    must(row != NULL);
    const uint32_t factor = history_looks_back(row) ? row->history_factor : 0;
    shares_pool_fill(core, pool, &shares->pool);
    shares->count = count;
    shares->views = arena_new(arena, struct account_view, count);
    shares->links = arena_new(arena, struct shares_link, count);
    shares->held = arena_new(arena, struct vector, count);
    account_id id = {0};
    for (uint32_t at = 0; at < count; at++) {
        id = shares_account_next(core, pool, id);
        struct quota quota;
        struct usage usage;
        query_quota(core, id, pool, &quota);
        query_usage(core, id, pool, &usage);
        const struct account *account = query_account(core, id);
        must(account != NULL);
        must(account->depth > 0);
        shares->links[at] = (struct shares_link){id, account->parent, SHARES_NONE, SHARES_NONE};
        shares->views[at].index = at;
        shares->views[at].order = id.v;
        shares->views[at].depth = account->depth - 1;
        shares->held[at] = usage.allocated;
        shares_quota_fill(&quota, &shares->views[at]);
        shares_usage_fill(core, &usage, &shares->views[at]);
        for (uint32_t dim = 0; dim < shares->pool.dims; dim++) {
            claims[at].weight[dim] = quota.weight[dim];
            claims[at].used[dim] = factor > 0 ? history_used(core, id, pool, dim) : 0;
            claims[at].demand.at[dim] = shares_demand(&shares->pool, &usage, dim);
        }
    }
    links_fill(shares);
    bounds_fill(shares);
    struct division division = {.shares = shares,
                                .claims = claims,
                                .siblings = arena_new(arena, struct fairshare, count),
                                .factor = factor};
    arena_init(&division.arena);
    tree_divide(&division);
    arena_done(&division.arena);
    return shares;
}

/* ---- shares that are only shown ---- */

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

/* Shares of a pool from the caches, current. */
static const struct shares *cache_shares(const struct core *core, pool_id pool)
{
    struct share_tree *tree = share_tree_open(core, pool);
    return tree != NULL ? share_tree_shares(tree) : cache_ask(core->shares, core, pool);
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
        return share_at(cache_shares(core, pool), account, dim);
    }
    struct arena arena;
    arena_init(&arena);
    const int64_t share = share_at(shares_compute(core, pool, &arena), account, dim);
    arena_done(&arena);
    return share;
}

/* ---- shares that add up ---- */

/* What an account shows as its share. */
struct shown_share {
    int64_t can; /* the account's share; of a department at most what the accounts below can use */
    int64_t below; /* sum of `can` over the children */
    int64_t given; /* sum of `can` over the children that were served already */
    int64_t gets;
};

/* The account that follows in the order of parents before children; SHARES_NONE: none. */
static uint32_t account_after(const struct shares *shares, uint32_t at)
{
    if (shares->links[at].child_first != SHARES_NONE) {
        return shares->links[at].child_first;
    }
    while (shares->links[at].sibling_next == SHARES_NONE) {
        if (shares->views[at].parent == NULL) {
            return SHARES_NONE;
        }
        at = shares->views[at].parent->index;
    }
    return shares->links[at].sibling_next;
}

/* The part of `can` when siblings that can use `all->below` divide `all->gets`. The parts of all siblings make exactly `all->gets`. */
static int64_t part_of(struct shown_share *all, int64_t can)
{
    const __int128 before = (__int128)all->given * all->gets / all->below;
    all->given += can;
    return (int64_t)((__int128)all->given * all->gets / all->below - before);
}

/* Fills `shown` by the index of the view. `top` stands for the whole pool. False: some share is unlimited, so nothing is divided. */
static bool shown_fill(const struct shares *shares, uint32_t dim, uint32_t *order,
                       struct shown_share *shown, struct shown_share *top)
{
    uint32_t count = 0;
    for (uint32_t at = shares->top_first; at != SHARES_NONE; at = account_after(shares, at)) {
        must(count < shares->count);
        if (shares->views[at].share.at[dim] == VECTOR_UNLIMITED) {
            return false;
        }
        order[count++] = at;
    }
    for (uint32_t i = count; i > 0; i--) {
        const struct account_view *view = &shares->views[order[i - 1]];
        struct shown_share *own = &shown[view->index];
        const bool leaf = shares->links[view->index].child_first == SHARES_NONE;
        own->can = leaf || view->share.at[dim] < own->below ? view->share.at[dim] : own->below;
        struct shown_share *above = view->parent != NULL ? &shown[view->parent->index] : top;
        above->below = i64_add(above->below, own->can);
    }
    top->gets = shares->pool.total.at[dim];
    for (uint32_t i = 0; i < count; i++) {
        const struct account_view *view = &shares->views[order[i]];
        struct shown_share *own = &shown[view->index];
        struct shown_share *above = view->parent != NULL ? &shown[view->parent->index] : top;
        own->gets = above->below <= above->gets ? own->can : part_of(above, own->can);
    }
    return true;
}

int64_t shares_shown(const struct core *core, account_id account, pool_id pool, uint32_t dim)
{
    struct arena arena;
    must(dim < query_dim_count(core));
    if (query_pool(core, pool) == NULL) {
        return 0;
    }
    arena_init(&arena);
    const struct shares *shares =
        core->shares != NULL ? cache_shares(core, pool) : shares_compute(core, pool, &arena);
    const struct account_view *view = shares_view(shares, account);
    int64_t share = view != NULL ? view->share.at[dim] : 0;
    struct shown_share top = {0};
    struct shown_share *shown = arena_new(&arena, struct shown_share, shares->count + 1);
    uint32_t *order = arena_new(&arena, uint32_t, shares->count + 1);
    if (view != NULL && shown_fill(shares, dim, order, shown, &top)) {
        share = shown[view->index].gets;
    }
    arena_done(&arena);
    return share;
}
