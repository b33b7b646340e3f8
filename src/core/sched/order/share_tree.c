/* share_tree.c - reads changed accounts from the state, seats them in their levels, and divides the levels that changed, from the top down.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/share_tree.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "core/model/account.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/table.h"
#include "core/sched/order/share_tree_internal.h"
#include "core/sched/order/level.h"
#include "core/sched/order/shares.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/shares_cache.h"
#include "core/state/state.h"

#include <string.h>

/* ---- seats ---- */

/* The children of `parent` must be divided anew in one dimension. NULL: the top accounts. */
static void stale_mark(struct share_tree *tree, const struct account_view *parent, uint32_t dim)
{
    struct share_tree_entry *entry = parent == NULL ? &tree->top : &tree->entries[parent->index];
    if (entry->stale == 0) {
        const uint32_t depth = parent == NULL ? 0 : parent->depth + 1;
        must(depth <= ACCOUNT_DEPTH_MAX);
        vec_push(&tree->stale[depth], parent == NULL ? SHARES_NONE : parent->index);
    }
    entry->stale |= 1u << dim;
}

static struct level *levels_of(struct share_tree *tree, struct share_tree_entry *entry)
{
    if (entry->levels == NULL) {
        entry->levels = xcalloc(QUOTA_DIMS_MAX, sizeof *entry->levels);
        for (uint32_t dim = 0; dim < tree->base.pool.dims; dim++) {
            level_init(&entry->levels[dim], tree->base.pool.unit.at[dim]);
        }
    }
    return entry->levels;
}

static void rich_set(struct share_tree *tree, const struct account_view *view)
{
    tree->shares.rich[view->index] =
        account_above_right(&tree->base.pool, view, &view->allocated) != 0;
}

/* Sets the share of a view. Where the share changed, the children are divided anew. */
static void share_set(struct share_tree *tree, uint32_t index, uint32_t dim, int64_t share)
{
    struct account_view *view = &tree->shares.views[index];
    if (view->share.at[dim] == share) {
        return;
    }
    view->share.at[dim] = share;
    view->changes++;
    account_allocatable_at(view, dim);
    rich_set(tree, view);
    tree->now[index].share.at[dim] = share;
    tree->now[index].allocatable.at[dim] = view->allocatable.at[dim];
    if (tree->shares.links[index].child_first != SHARES_NONE) {
        stale_mark(tree, view, dim);
    }
}

/* Gives the account its new demand in every dimension. */
static void seats_set(struct share_tree *tree, const struct account_view *view,
                      const struct usage *usage)
{
    struct level *levels = levels_of(tree, share_tree_table_above(tree, view));
    for (uint32_t dim = 0; dim < tree->base.pool.dims; dim++) {
        const struct level_claim claim = {
            .guaranteed = view->guaranteed.at[dim],
            .limit = view->limit.at[dim],
            .demand = usage == NULL ? 0 : shares_demand(&tree->base.pool, usage, dim),
            .order = (uint32_t)view->order,
            .weight = tree->entries[view->index].weight[dim],
            .rank = view->rank,
        };
        if (level_set(&levels[dim], tree->seats[dim], view->index, usage == NULL ? NULL : &claim)) {
            stale_mark(tree, view->parent, dim);
        }
    }
}

/* ---- reading the state ---- */

static void now_set(struct share_tree *tree, const struct account_view *view)
{
    struct account_view *now = &tree->now[view->index];
    *now = *view;
    now->allocated = tree->shares.held[view->index];
    now->parent = view->parent == NULL ? NULL : &tree->now[view->parent->index];
}

static void view_remove(struct share_tree *tree, const struct account_view *view)
{
    seats_set(tree, view, NULL);
    share_tree_table_remove(tree, view);
}

static struct account_view *view_add(struct share_tree *tree, const struct core *core,
                                     const struct account *account)
{
    struct quota quota;
    query_quota(core, account->id, tree->pool, &quota);
    struct account_view *view = share_tree_table_place(tree, account);
    shares_quota_fill(&quota, view);
    account_allocatable(view);
    account_bound(view);
    memcpy(tree->entries[view->index].weight, quota.weight, sizeof quota.weight);
    share_tree_table_link(tree, view);
    return view;
}

/* Reads the usage of an account again. */
static void account_read(struct share_tree *tree, const struct core *core, account_id id)
{
    struct account_view *view = share_tree_table_view(tree, id);
    struct usage usage;
    if (table_get(&core->usages, ACCOUNT_KEY(tree->pool, id)) == NULL) {
        must(view == NULL); /* dirty_remove() came before */
        return;
    }
    query_usage(core, id, tree->pool, &usage);
    if (view == NULL) {
        view = view_add(tree, core, query_account(core, id));
    }
    shares_usage_fill(core, &usage, view);
    view->changes++;
    rich_set(tree, view);
    tree->shares.held[view->index] = usage.allocated;
    now_set(tree, view);
    seats_set(tree, view, &usage);
}

/* Removes the dirty accounts that have no work any more, children before parents. */
static void dirty_remove(struct share_tree *tree, const struct core *core)
{
    for (uint32_t depth = ACCOUNT_DEPTH_MAX; depth-- > 0;) {
        for (size_t i = 0; i < tree->dirty.count; i++) {
            const account_id id = {tree->dirty.at[i]};
            const struct account_view *view = share_tree_table_view(tree, id);
            if (view != NULL && view->depth == depth &&
                table_get(&core->usages, ACCOUNT_KEY(tree->pool, id)) == NULL) {
                view_remove(tree, view);
            }
        }
    }
}

/* Reads all dirty accounts again, parents before children. */
static void dirty_read(struct share_tree *tree, const struct core *core)
{
    dirty_remove(tree, core);
    for (uint32_t depth = 1; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        for (size_t i = 0; i < tree->dirty.count; i++) {
            const account_id id = {tree->dirty.at[i]};
            const struct account *account = query_account(core, id);
            if (account != NULL && account->depth == depth) {
                account_read(tree, core, id);
            }
        }
    }
    for (size_t i = 0; i < tree->dirty.count; i++) {
        tree->accounts.at[tree->dirty.at[i]].dirty = false;
    }
    vec_clear(&tree->dirty);
}

/* ---- dividing ---- */

/* Divides the share of one account among its children, or the pool among the top accounts. */
static void level_update(struct share_tree *tree, uint32_t parent, uint32_t dim)
{
    const bool top = parent == SHARES_NONE;
    const struct account_view *above = top ? NULL : &tree->shares.views[parent];
    struct level *levels = levels_of(tree, top ? &tree->top : &tree->entries[parent]);
    vec_clear(&tree->changed);
    level_divide(&levels[dim], tree->seats[dim],
                 top ? tree->base.pool.total.at[dim] : above->share.at[dim], &tree->changed);
    for (size_t i = 0; i < tree->changed.count; i++) {
        const uint32_t index = tree->changed.at[i];
        /* The place of an account that left may belong to another account now. */
        if (tree->seats[dim][index].taken && tree->shares.views[index].parent == above) {
            share_set(tree, index, dim, level_share(&levels[dim], &tree->seats[dim][index]));
        }
    }
}

static void stale_divide(struct share_tree *tree)
{
    for (uint32_t depth = 0; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        for (size_t i = 0; i < tree->stale[depth].count; i++) {
            const uint32_t parent = tree->stale[depth].at[i];
            struct share_tree_entry *entry =
                parent == SHARES_NONE ? &tree->top : &tree->entries[parent];
            const uint32_t stale = entry->stale;
            entry->stale = 0;
            for (uint32_t dim = 0; dim < tree->base.pool.dims; dim++) {
                if ((stale >> dim & 1u) != 0) {
                    level_update(tree, parent, dim);
                }
            }
        }
        vec_clear(&tree->stale[depth]);
    }
}

/* ---- opening ---- */

static void base_fill(const struct core *core, pool_id pool, struct share_tree_base *ret)
{
    struct okey key = {{pool.v, 0, 0, 0}};
    const bool known = oindex_next(&core->orders[ORDER_GPU_MEMORY], key, &key);
    *ret = (struct share_tree_base){.epoch = core->shares->epoch,
                                    .slots_milli = query_pool(core, pool)->slots_milli,
                                    .gpu_memory = known && key.at[0] == pool.v ? key.at[1] : 0};
    shares_pool_fill(core, pool, &ret->pool);
}

static bool base_equal(const struct share_tree_base *a, const struct share_tree_base *b)
{
    return a->epoch == b->epoch && a->slots_milli == b->slots_milli &&
           a->gpu_memory == b->gpu_memory && a->pool.dims == b->pool.dims &&
           memcmp(&a->pool.total, &b->pool.total, sizeof a->pool.total) == 0 &&
           memcmp(&a->pool.unit, &b->pool.unit, sizeof a->pool.unit) == 0;
}

/* The number of share trees of pools before this one; share trees stand in the order of their pools. */
static size_t trees_before(const struct shares_cache *cache, uint64_t pool)
{
    size_t low = 0;
    size_t high = cache->trees.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cache->trees.at[middle]->pool.v < pool) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The share tree of the pool; NULL: there is none yet. */
static struct share_tree *tree_at(const struct shares_cache *cache, uint64_t pool)
{
    const size_t at = trees_before(cache, pool);
    const bool found = at < cache->trees.count && cache->trees.at[at]->pool.v == pool;
    return found ? cache->trees.at[at] : NULL;
}

/* Hands the changes that the state noted to the share trees of their pools. */
static void touched_spread(struct shares_cache *cache)
{
    for (size_t i = 0; i < cache->touched.count; i++) {
        const uint64_t key = cache->touched.at[i];
        struct share_tree *tree = tree_at(cache, key >> 32);
        if (tree != NULL) {
            share_tree_table_touch(tree, (uint32_t)key);
        }
    }
    vec_clear(&cache->touched);
}

/* Frees the share trees of pools that were deleted. */
static void trees_sweep(const struct core *core)
{
    struct shares_cache *cache = core->shares;
    size_t kept = 0;
    for (size_t i = 0; i < cache->trees.count; i++) {
        if (query_pool(core, cache->trees.at[i]->pool) != NULL) {
            cache->trees.at[kept++] = cache->trees.at[i];
        } else {
            share_tree_table_free(cache->trees.at[i]);
        }
    }
    cache->trees.count = kept;
}

static struct share_tree *tree_find(const struct core *core, pool_id pool)
{
    struct shares_cache *cache = core->shares;
    struct share_tree *tree = tree_at(cache, pool.v);
    if (tree != NULL) {
        return tree;
    }
    trees_sweep(core);
    tree = share_tree_table_new(pool);
    cache->share_tree_free = share_tree_table_free;
    const size_t at = trees_before(cache, pool.v);
    vec_push(&cache->trees, tree);
    memmove(&cache->trees.at[at + 1], &cache->trees.at[at],
            (cache->trees.count - 1 - at) * sizeof cache->trees.at[0]);
    cache->trees.at[at] = tree;
    return tree;
}

struct share_tree *share_tree_open(const struct core *core, pool_id pool)
{
    const struct pool *row = query_pool(core, pool);
    if (core->shares == NULL || row == NULL || history_looks_back(row)) {
        return NULL;
    }
    struct share_tree *tree = tree_find(core, pool);
    if (tree->borrowed) {
        return NULL;
    }
    struct share_tree_base base;
    touched_spread(core->shares);
    base_fill(core, pool, &base);
    if (!base_equal(&tree->base, &base)) {
        share_tree_table_clear(tree);
        tree->base = base;
        tree->shares.pool = base.pool;
        for (account_id id = shares_account_next(core, pool, (account_id){0}); id.v != 0;
             id = shares_account_next(core, pool, id)) {
            share_tree_table_touch(tree, id.v);
        }
    }
    dirty_read(tree, core);
    stale_divide(tree);
    return tree;
}

struct account_view *share_tree_view(const struct share_tree *tree, account_id account)
{
    return share_tree_table_view(tree, account);
}

struct shares *share_tree_shares(struct share_tree *tree)
{
    return &tree->shares;
}

struct account_view *share_tree_now(struct share_tree *tree)
{
    return tree->now;
}

void share_tree_borrow(struct share_tree *tree)
{
    must(!tree->borrowed);
    tree->borrowed = true;
}

void share_tree_return(struct share_tree *tree)
{
    must(tree->borrowed);
    tree->borrowed = false;
}

void share_tree_wrote(struct share_tree *tree, uint32_t index)
{
    must(index < tree->shares.count);
    share_tree_table_touch(tree, tree->shares.links[index].id.v);
}

/* ---- checking ---- */

static bool vectors_equal(const struct vector *a, const struct vector *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void view_check(const struct share_tree *tree, const struct shares *reference,
                       uint32_t index)
{
    const struct account_view *wanted = &reference->views[index];
    const struct account_view *view = share_tree_table_view(tree, reference->links[index].id);
    must(view != NULL);
    must((view->parent == NULL) == (wanted->parent == NULL));
    must(view->parent == NULL || view->parent->order == wanted->parent->order);
    must(view->depth == wanted->depth);
    must(view->bound == wanted->bound);
    must(tree->shares.rich[view->index] ==
         (account_above_right(&tree->base.pool, view, &view->allocated) != 0));
    must(vectors_equal(&view->share, &wanted->share));
    must(vectors_equal(&view->allocatable, &wanted->allocatable));
    must(vectors_equal(&view->guaranteed, &wanted->guaranteed));
    must(vectors_equal(&view->promised, &wanted->promised));
    must(vectors_equal(&view->limit, &wanted->limit));
    must(vectors_equal(&view->allocated, &wanted->allocated));
    must(vectors_equal(&view->fixed, &wanted->fixed));
    must(vectors_equal(&tree->now[view->index].allocated, &reference->held[index]));
    must(vectors_equal(&tree->now[view->index].allocatable, &wanted->allocatable));
    const uint32_t next = tree->shares.links[view->index].sibling_next;
    const uint32_t wanted_next = reference->links[index].sibling_next;
    must((next == SHARES_NONE) == (wanted_next == SHARES_NONE));
    must(next == SHARES_NONE ||
         tree->shares.links[next].id.v == reference->links[wanted_next].id.v);
}

void share_tree_check(const struct core *core)
{
    for (size_t i = 0; core->shares != NULL && i < core->shares->trees.count; i++) {
        const struct share_tree *tree = share_tree_open(core, core->shares->trees.at[i]->pool);
        if (tree == NULL) {
            continue;
        }
        struct arena arena;
        arena_init(&arena);
        const struct shares *reference = shares_compute(core, tree->pool, &arena);
        must(tree->shares.count - tree->spare.count == reference->count);
        for (uint32_t at = 0; at < reference->count; at++) {
            view_check(tree, reference, at);
        }
        arena_done(&arena);
    }
}
