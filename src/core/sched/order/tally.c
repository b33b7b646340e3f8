/* tally.c - the amounts of accounts within a trial, from the project up to its top account.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/tally.h"

#include "base/must.h"
#include "core/model/claim.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/sched/order/share_tree.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* Adds without wrapping. Sums of the state are at most QUOTA_SUM_MAX, and a sum of a trial at most twice as much. */
static int64_t sum_held(int64_t sum, int64_t more)
{
    const int64_t most = 2 * QUOTA_SUM_MAX;
    int64_t result;
    return __builtin_add_overflow(sum, more, &result) || result > most ? most : result;
}

static void vector_move(struct vector *sum, const struct vector *amounts, int sign)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        sum->at[dim] = sum_held(sum->at[dim], sign * amounts->at[dim]);
    }
}

static struct account_view *leaf_of(const struct tally *tally, const struct task *task,
                                    enum view view)
{
    const struct account_view *later = shares_view(tally->shares, task->account);
    must(later != NULL);
    must(later->index < tally->shares->count);
    return view == VIEW_LATER ? &tally->shares->views[later->index] : &tally->now[later->index];
}

struct account_view *tally_view(const struct tally *tally, const struct task *task)
{
    return leaf_of(tally, task, VIEW_LATER);
}

/* A share tree reads again what a trial wrote to. */
static void note_wrote(const struct tally *tally, uint32_t index)
{
    if (tally->shares->tree != NULL) {
        share_tree_wrote(tally->shares->tree, index);
    }
}

static void path_move(struct tally *tally, const struct task *task, enum view view,
                      const struct vector *amounts, int sign)
{
    must(sign == 1 || sign == -1);
    struct account_view *views = view == VIEW_LATER ? tally->shares->views : tally->now;
    const struct account_view *at = leaf_of(tally, task, view);
    for (; at != NULL; at = at->parent) {
        note_wrote(tally, at->index);
        if (view == VIEW_LATER) {
            tally->written[tally->writes++ % TALLY_WRITTEN_MAX] = at->index;
        }
        vector_move(&views[at->index].allocated, amounts, sign);
        views[at->index].changes++;
        if (view == VIEW_LATER && tally->shares->rich != NULL) {
            tally->shares->rich[at->index] =
                account_above_right(&tally->shares->pool, at, &at->allocated) != 0;
        }
        if (!task->preemptible) {
            vector_move(&views[at->index].fixed, amounts, sign);
        }
    }
}

void tally_move(struct tally *tally, const struct task *task, enum view view,
                const struct vector *amounts, int sign)
{
    path_move(tally, task, view, amounts, sign);
    user_cap_move(&tally->users, task->user, view, sign * amounts->at[DIM_SLOTS]);
}

bool tally_user_capped(const struct tally *tally, const struct task *task, enum view view,
                       const struct vector *request)
{
    const int64_t left = user_cap_left(&tally->users, task->user, view);
    return left != VECTOR_UNLIMITED && request->at[DIM_SLOTS] > 0 && request->at[DIM_SLOTS] > left;
}

/* Subtracts the leaving non-preemptible instances of a node from `fixed` in VIEW_LATER. shares.c has already subtracted all leaving
 * instances from `allocated`. */
static void fixed_leave(struct tally *tally, uint64_t node)
{
    const struct core *core = tally->core;
    struct okey key = {{node, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_ON_NODE], key, &key) && key.at[0] == node) {
        const struct instance *instance = query_instance_row(core, key.at[3]);
        const struct task *task = query_task(core, instance->task);
        must(task != NULL);
        if (instance->state != INSTANCE_STOPPING || task->preemptible) {
            continue;
        }
        struct vector amounts;
        query_dim_grant(core, query_instance_request(core, instance), instance->slots_milli,
                        instance->cpu_milli, instance->memory_bytes, &amounts);
        for (const struct account_view *at = leaf_of(tally, task, VIEW_LATER); at != NULL;
             at = at->parent) {
            note_wrote(tally, at->index);
            vector_move(&tally->shares->views[at->index].fixed, &amounts, -1);
        }
    }
}

/* Adds the claims of the pool to VIEW_LATER, and subtracts what leaves from `fixed` there. */
static void claims_load(struct tally *tally, pool_id pool)
{
    const struct core *core = tally->core;
    struct okey at = {{pool.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_NODE_CHANGING], at, &at) && at.at[0] == pool.v) {
        if (query_node(core, (node_id){(uint32_t)at.at[1]})->leaving_count > 0) {
            fixed_leave(tally, at.at[1]);
        }
        struct okey key = {{at.at[1], 0, 0, 0}};
        while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == at.at[1]) {
            const struct task *task = query_task(core, (task_id){key.at[1]});
            const struct claim *claim = table_get(&core->claims, key.at[3]);
            must(task != NULL);
            must(claim != NULL);
            struct vector amounts;
            query_dim_grant(core, query_task_request(core, task, (uint32_t)key.at[2]),
                            claim->slots_milli, claim->cpu_milli, claim->memory_bytes, &amounts);
            path_move(tally, task, VIEW_LATER, &amounts, 1);
        }
    }
}

static struct account_view *now_copy(const struct shares *shares, struct arena *arena)
{
    struct account_view *all = arena_new(arena, struct account_view, shares->count);
    for (uint32_t at = 0; at < shares->count; at++) {
        struct account_view *now = &all[at];
        *now = shares->views[at];
        must(now->index == at);
        now->allocated = shares->held[at];
        now->parent = now->parent == NULL ? NULL : &all[now->parent->index];
    }
    return all;
}

void tally_init(struct tally *tally, const struct core *core, pool_id pool, struct shares *shares,
                struct arena *arena)
{
    *tally = (struct tally){
        .core = core, .shares = shares, .slots_full = query_pool(core, pool)->slots_milli};
    tally->now = shares->tree != NULL ? share_tree_now(shares->tree) : now_copy(shares, arena);
    if (shares->tree != NULL) {
        share_tree_borrow(shares->tree);
    }
    claims_load(tally, pool);
    user_cap_init(&tally->users, core, pool, arena);
}

void tally_done(struct tally *tally)
{
    if (tally->shares->tree != NULL) {
        share_tree_return(tally->shares->tree);
    }
}

/* The guarantee as the bound of non-preemptible work. A guarantee of all slots of the pool bounds nothing. */
static int64_t guarantee_bound(const struct tally *tally, const struct account_view *account,
                               uint32_t dim)
{
    const int64_t guaranteed = account->guaranteed.at[dim];
    return dim == DIM_SLOTS && guaranteed >= tally->slots_full ? VECTOR_UNLIMITED : guaranteed;
}

static struct gate_result gates_at(const struct tally *tally, const struct task *task,
                                   enum view view, const struct vector *request)
{
    const struct account_pool *pool = &tally->shares->pool;
    const struct account_view *leaf = leaf_of(tally, task, view);
    if (!leaf->bound && task->preemptible) {
        return (struct gate_result){.gate = GATE_OPEN};
    }
    const struct gate_result limit = gates_limit(pool, leaf, request);
    if (limit.gate != GATE_OPEN || task->preemptible) {
        return limit;
    }
    must(limit.account == NULL); /* no limit forbids the request; only guarantees still may */
    for (const struct account_view *at = leaf; at != NULL; at = at->parent) {
        uint32_t dims = gates_guarantee_at(pool, at, request);
        for (uint32_t dim = 0; dim < pool->dims; dim++) {
            dims &= guarantee_bound(tally, at, dim) == VECTOR_UNLIMITED ? ~(1u << dim) : ~0u;
        }
        if (dims != 0) {
            return (struct gate_result){GATE_GUARANTEE, at, dims};
        }
    }
    return limit;
}

struct gate_result tally_gate(const struct tally *tally, const struct task *task, enum view view,
                              const struct vector *request)
{
    if (view == VIEW_NOW) {
        const struct gate_result now = gates_at(tally, task, VIEW_NOW, request);
        if (now.gate != GATE_OPEN) {
            return now;
        }
    }
    return gates_at(tally, task, VIEW_LATER, request);
}

bool tally_unbounded(const struct tally *tally, const struct task *task)
{
    return task->preemptible && !leaf_of(tally, task, VIEW_LATER)->bound &&
           tally->users.slots_max == 0;
}

bool tally_over_limit(const struct tally *tally, uint32_t index, enum view view,
                      const struct vector *request)
{
    must(index < tally->shares->count);
    const struct account_pool *pool = &tally->shares->pool;
    return gates_limit_at(pool, &tally->shares->views[index], request) != 0 ||
           (view == VIEW_NOW && gates_limit_at(pool, &tally->now[index], request) != 0);
}

static int64_t left_of(int64_t left, int64_t bound, int64_t held)
{
    if (bound == VECTOR_UNLIMITED) {
        return left;
    }
    const int64_t more = bound > held ? bound - held : 0;
    return left == VECTOR_UNLIMITED || more < left ? more : left;
}

static void path_left(const struct tally *tally, const struct task *task, enum view view,
                      struct vector *ret)
{
    const struct account_view *leaf = leaf_of(tally, task, view);
    must(tally->shares->pool.dims <= QUOTA_DIMS_MAX);
    if (!leaf->bound && task->preemptible) {
        return;
    }
    for (const struct account_view *at = leaf; at != NULL; at = at->parent) {
        for (uint32_t dim = 0; dim < tally->shares->pool.dims; dim++) {
            ret->at[dim] = left_of(ret->at[dim], at->limit.at[dim], at->allocated.at[dim]);
            if (!task->preemptible) {
                const int64_t bound = guarantee_bound(tally, at, dim);
                ret->at[dim] = left_of(ret->at[dim], bound, at->fixed.at[dim]);
            }
        }
    }
}

bool tally_left(const struct tally *tally, const struct task *task, enum view view,
                struct vector *ret)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        ret->at[dim] = VECTOR_UNLIMITED;
    }
    path_left(tally, task, VIEW_LATER, ret);
    if (view == VIEW_NOW) {
        path_left(tally, task, VIEW_NOW, ret);
    }
    const int64_t user = user_cap_left(&tally->users, task->user, view);
    if (user != VECTOR_UNLIMITED) {
        must(user >= 0);
        ret->at[DIM_SLOTS] = left_of(ret->at[DIM_SLOTS], user, 0);
    }
    bool bound = false;
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        bound |= ret->at[dim] != VECTOR_UNLIMITED;
    }
    return bound;
}
