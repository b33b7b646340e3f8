/* book.c - reads changed accounts from the state, seats them in their levels, and divides the levels that changed, from the top down.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/book.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "core/model/account.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/table.h"
#include "core/sched/order/book_internal.h"
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
static void stale_mark(struct book *book, const struct account_view *parent, uint32_t dim)
{
    struct book_entry *entry = parent == NULL ? &book->top : &book->entries[parent->index];
    if (entry->stale == 0) {
        const uint32_t depth = parent == NULL ? 0 : parent->depth + 1;
        must(depth <= ACCOUNT_DEPTH_MAX);
        vec_push(&book->stale[depth], parent == NULL ? SHARES_NONE : parent->index);
    }
    entry->stale |= 1u << dim;
}

static struct level *levels_of(struct book *book, struct book_entry *entry)
{
    if (entry->levels == NULL) {
        entry->levels = xcalloc(QUOTA_DIMS_MAX, sizeof *entry->levels);
        for (uint32_t dim = 0; dim < book->base.pool.dims; dim++) {
            level_init(&entry->levels[dim], book->base.pool.unit.at[dim]);
        }
    }
    return entry->levels;
}

static void rich_set(struct book *book, const struct account_view *view)
{
    book->shares.rich[view->index] =
        account_above_right(&book->base.pool, view, &view->allocated) != 0;
}

/* Sets the share of a view. Where the share changed, the children are divided anew. */
static void share_set(struct book *book, uint32_t index, uint32_t dim, int64_t share)
{
    struct account_view *view = &book->shares.views[index];
    if (view->share.at[dim] == share) {
        return;
    }
    view->share.at[dim] = share;
    view->changes++;
    account_allocatable_at(view, dim);
    rich_set(book, view);
    book->now[index].share.at[dim] = share;
    book->now[index].allocatable.at[dim] = view->allocatable.at[dim];
    if (book->shares.links[index].child_first != SHARES_NONE) {
        stale_mark(book, view, dim);
    }
}

/* Gives the account its new demand in every dimension. */
static void seats_set(struct book *book, const struct account_view *view, const struct usage *usage)
{
    struct level *levels = levels_of(book, book_tree_above(book, view));
    for (uint32_t dim = 0; dim < book->base.pool.dims; dim++) {
        const struct level_claim claim = {
            .guaranteed = view->guaranteed.at[dim],
            .limit = view->limit.at[dim],
            .demand = usage == NULL ? 0 : shares_demand(&book->base.pool, usage, dim),
            .order = (uint32_t)view->order,
            .weight = book->entries[view->index].weight[dim],
            .rank = view->rank,
        };
        if (level_set(&levels[dim], book->seats[dim], view->index, usage == NULL ? NULL : &claim)) {
            stale_mark(book, view->parent, dim);
        }
    }
}

/* ---- reading the state ---- */

static void now_set(struct book *book, const struct account_view *view)
{
    struct account_view *now = &book->now[view->index];
    *now = *view;
    now->allocated = book->shares.held[view->index];
    now->parent = view->parent == NULL ? NULL : &book->now[view->parent->index];
}

static void view_remove(struct book *book, const struct account_view *view)
{
    seats_set(book, view, NULL);
    book_tree_remove(book, view);
}

static struct account_view *view_add(struct book *book, const struct core *core,
                                     const struct account *account)
{
    struct quota quota;
    query_quota(core, account->id, book->pool, &quota);
    struct account_view *view = book_tree_place(book, account);
    shares_quota_fill(&quota, view);
    account_allocatable(view);
    account_bound(view);
    memcpy(book->entries[view->index].weight, quota.weight, sizeof quota.weight);
    book_tree_link(book, view);
    return view;
}

/* Reads the usage of an account again. */
static void account_read(struct book *book, const struct core *core, account_id id)
{
    struct account_view *view = book_tree_view(book, id);
    struct usage usage;
    if (table_get(&core->usages, ACCOUNT_KEY(book->pool, id)) == NULL) {
        must(view == NULL); /* dirty_remove() came before */
        return;
    }
    query_usage(core, id, book->pool, &usage);
    if (view == NULL) {
        view = view_add(book, core, query_account(core, id));
    }
    shares_usage_fill(core, &usage, view);
    view->changes++;
    rich_set(book, view);
    book->shares.held[view->index] = usage.allocated;
    now_set(book, view);
    seats_set(book, view, &usage);
}

/* Removes the dirty accounts that have no work any more, children before parents. */
static void dirty_remove(struct book *book, const struct core *core)
{
    for (uint32_t depth = ACCOUNT_DEPTH_MAX; depth-- > 0;) {
        for (size_t i = 0; i < book->dirty.count; i++) {
            const account_id id = {book->dirty.at[i]};
            const struct account_view *view = book_tree_view(book, id);
            if (view != NULL && view->depth == depth &&
                table_get(&core->usages, ACCOUNT_KEY(book->pool, id)) == NULL) {
                view_remove(book, view);
            }
        }
    }
}

/* Reads all dirty accounts again, parents before children. */
static void dirty_read(struct book *book, const struct core *core)
{
    dirty_remove(book, core);
    for (uint32_t depth = 1; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        for (size_t i = 0; i < book->dirty.count; i++) {
            const account_id id = {book->dirty.at[i]};
            const struct account *account = query_account(core, id);
            if (account != NULL && account->depth == depth) {
                account_read(book, core, id);
            }
        }
    }
    for (size_t i = 0; i < book->dirty.count; i++) {
        book->accounts.at[book->dirty.at[i]].dirty = false;
    }
    vec_clear(&book->dirty);
}

/* ---- dividing ---- */

/* Divides the share of one account among its children, or the pool among the top accounts. */
static void level_update(struct book *book, uint32_t parent, uint32_t dim)
{
    const bool top = parent == SHARES_NONE;
    const struct account_view *above = top ? NULL : &book->shares.views[parent];
    struct level *levels = levels_of(book, top ? &book->top : &book->entries[parent]);
    vec_clear(&book->changed);
    level_divide(&levels[dim], book->seats[dim],
                 top ? book->base.pool.total.at[dim] : above->share.at[dim], &book->changed);
    for (size_t i = 0; i < book->changed.count; i++) {
        const uint32_t index = book->changed.at[i];
        /* The place of an account that left may belong to another account now. */
        if (book->seats[dim][index].taken && book->shares.views[index].parent == above) {
            share_set(book, index, dim, level_share(&levels[dim], &book->seats[dim][index]));
        }
    }
}

static void stale_divide(struct book *book)
{
    for (uint32_t depth = 0; depth <= ACCOUNT_DEPTH_MAX; depth++) {
        for (size_t i = 0; i < book->stale[depth].count; i++) {
            const uint32_t parent = book->stale[depth].at[i];
            struct book_entry *entry = parent == SHARES_NONE ? &book->top : &book->entries[parent];
            const uint32_t stale = entry->stale;
            entry->stale = 0;
            for (uint32_t dim = 0; dim < book->base.pool.dims; dim++) {
                if ((stale >> dim & 1u) != 0) {
                    level_update(book, parent, dim);
                }
            }
        }
        vec_clear(&book->stale[depth]);
    }
}

/* ---- opening ---- */

static void base_fill(const struct core *core, pool_id pool, struct book_base *ret)
{
    struct okey key = {{pool.v, 0, 0, 0}};
    const bool known = oindex_next(&core->orders[ORDER_GPU_MEMORY], key, &key);
    *ret = (struct book_base){.epoch = core->shares->epoch,
                              .slots_milli = query_pool(core, pool)->slots_milli,
                              .gpu_memory = known && key.at[0] == pool.v ? key.at[1] : 0};
    shares_pool_fill(core, pool, &ret->pool);
}

static bool base_equal(const struct book_base *a, const struct book_base *b)
{
    return a->epoch == b->epoch && a->slots_milli == b->slots_milli &&
           a->gpu_memory == b->gpu_memory && a->pool.dims == b->pool.dims &&
           memcmp(&a->pool.total, &b->pool.total, sizeof a->pool.total) == 0 &&
           memcmp(&a->pool.unit, &b->pool.unit, sizeof a->pool.unit) == 0;
}

/* The number of books of pools before this one; books stand in the order of their pools. */
static size_t books_before(const struct shares_cache *cache, uint64_t pool)
{
    size_t low = 0;
    size_t high = cache->books.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (cache->books.at[middle]->pool.v < pool) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The book of the pool; NULL: there is none yet. */
static struct book *book_at(const struct shares_cache *cache, uint64_t pool)
{
    const size_t at = books_before(cache, pool);
    const bool found = at < cache->books.count && cache->books.at[at]->pool.v == pool;
    return found ? cache->books.at[at] : NULL;
}

/* Hands the changes that the state noted to the books of their pools. */
static void touched_spread(struct shares_cache *cache)
{
    for (size_t i = 0; i < cache->touched.count; i++) {
        const uint64_t key = cache->touched.at[i];
        struct book *book = book_at(cache, key >> 32);
        if (book != NULL) {
            book_tree_touch(book, (uint32_t)key);
        }
    }
    vec_clear(&cache->touched);
}

/* Frees the books of pools that were deleted. */
static void books_sweep(const struct core *core)
{
    struct shares_cache *cache = core->shares;
    size_t kept = 0;
    for (size_t i = 0; i < cache->books.count; i++) {
        if (query_pool(core, cache->books.at[i]->pool) != NULL) {
            cache->books.at[kept++] = cache->books.at[i];
        } else {
            book_tree_free(cache->books.at[i]);
        }
    }
    cache->books.count = kept;
}

static struct book *book_find(const struct core *core, pool_id pool)
{
    struct shares_cache *cache = core->shares;
    struct book *book = book_at(cache, pool.v);
    if (book != NULL) {
        return book;
    }
    books_sweep(core);
    book = book_tree_new(pool);
    cache->book_free = book_tree_free;
    const size_t at = books_before(cache, pool.v);
    vec_push(&cache->books, book);
    memmove(&cache->books.at[at + 1], &cache->books.at[at],
            (cache->books.count - 1 - at) * sizeof cache->books.at[0]);
    cache->books.at[at] = book;
    return book;
}

struct book *book_open(const struct core *core, pool_id pool)
{
    const struct pool *row = query_pool(core, pool);
    if (core->shares == NULL || row == NULL || history_looks_back(row)) {
        return NULL;
    }
    struct book *book = book_find(core, pool);
    if (book->borrowed) {
        return NULL;
    }
    struct book_base base;
    touched_spread(core->shares);
    base_fill(core, pool, &base);
    if (!base_equal(&book->base, &base)) {
        book_tree_clear(book);
        book->base = base;
        book->shares.pool = base.pool;
        for (account_id id = shares_account_next(core, pool, (account_id){0}); id.v != 0;
             id = shares_account_next(core, pool, id)) {
            book_tree_touch(book, id.v);
        }
    }
    dirty_read(book, core);
    stale_divide(book);
    return book;
}

struct account_view *book_view(const struct book *book, account_id account)
{
    return book_tree_view(book, account);
}

struct shares *book_shares(struct book *book)
{
    return &book->shares;
}

struct account_view *book_now(struct book *book)
{
    return book->now;
}

void book_borrow(struct book *book)
{
    must(!book->borrowed);
    book->borrowed = true;
}

void book_return(struct book *book)
{
    must(book->borrowed);
    book->borrowed = false;
}

void book_wrote(struct book *book, uint32_t index)
{
    must(index < book->shares.count);
    book_tree_touch(book, book->shares.links[index].id.v);
}

/* ---- checking ---- */

static bool vectors_equal(const struct vector *a, const struct vector *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void view_check(const struct book *book, const struct shares *reference, uint32_t index)
{
    const struct account_view *wanted = &reference->views[index];
    const struct account_view *view = book_tree_view(book, reference->links[index].id);
    must(view != NULL);
    must((view->parent == NULL) == (wanted->parent == NULL));
    must(view->parent == NULL || view->parent->order == wanted->parent->order);
    must(view->depth == wanted->depth);
    must(view->bound == wanted->bound);
    must(book->shares.rich[view->index] ==
         (account_above_right(&book->base.pool, view, &view->allocated) != 0));
    must(vectors_equal(&view->share, &wanted->share));
    must(vectors_equal(&view->allocatable, &wanted->allocatable));
    must(vectors_equal(&view->guaranteed, &wanted->guaranteed));
    must(vectors_equal(&view->promised, &wanted->promised));
    must(vectors_equal(&view->limit, &wanted->limit));
    must(vectors_equal(&view->allocated, &wanted->allocated));
    must(vectors_equal(&view->fixed, &wanted->fixed));
    must(vectors_equal(&book->now[view->index].allocated, &reference->held[index]));
    must(vectors_equal(&book->now[view->index].allocatable, &wanted->allocatable));
    const uint32_t next = book->shares.links[view->index].sibling_next;
    const uint32_t wanted_next = reference->links[index].sibling_next;
    must((next == SHARES_NONE) == (wanted_next == SHARES_NONE));
    must(next == SHARES_NONE ||
         book->shares.links[next].id.v == reference->links[wanted_next].id.v);
}

void book_check(const struct core *core)
{
    for (size_t i = 0; core->shares != NULL && i < core->shares->books.count; i++) {
        const struct book *book = book_open(core, core->shares->books.at[i]->pool);
        if (book == NULL) {
            continue;
        }
        struct arena arena;
        arena_init(&arena);
        const struct shares *reference = shares_compute(core, book->pool, &arena);
        must(book->shares.count - book->spare.count == reference->count);
        for (uint32_t at = 0; at < reference->count; at++) {
            view_check(book, reference, at);
        }
        arena_done(&arena);
    }
}
