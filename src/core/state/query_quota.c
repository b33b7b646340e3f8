/* query_quota.c - quotas with their defaults.
 *
 * A guarantee of slots that nobody set is computed: for `default` it is the rest (design.md section 5),
 * for another department what the accounts below it are guaranteed together, for another project 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/model/account.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

static const struct quota_row *quota_row(const struct core *core, account_id account, pool_id pool)
{
    return table_get(&core->quotas, ACCOUNT_KEY(pool, account));
}

static bool row_mentions(const struct quota_row *row, uint32_t resource)
{
    for (uint32_t i = 0; row != NULL && i < row->term_count; i++) {
        if (row->terms[i].resource.v == resource) {
            return true;
        }
    }
    return false;
}

bool query_quota_dims_fit(const struct core *core, const struct quota_row *now,
                          const struct quota_row *next)
{
    uint32_t count = DIM_NAMED_FIRST;
    for (uint32_t i = RESOURCE_NAMED_FIRST; i < core->resource_count; i++) {
        uint32_t mentions = core->quota_mentions[i] - row_mentions(now, i);
        count += mentions > 0 || row_mentions(next, i);
    }
    return count <= QUOTA_DIMS_MAX;
}

/* The guarantee of slots as it was set. */
static int64_t slots_set(const struct core *core, account_id account, pool_id pool)
{
    const struct quota_row *row = quota_row(core, account, pool);
    bool set = row != NULL && row->term_count > 0 && row->terms[0].resource.v == RESOURCE_SLOTS;
    return set ? row->terms[0].guaranteed : QUOTA_UNSET;
}

static bool has_rest(account_id account)
{
    return account.v == ACCOUNT_DEFAULT_DEPARTMENT.v || account.v == ACCOUNT_DEFAULT_PROJECT.v;
}

static int64_t guarantees_add(int64_t sum, int64_t more)
{
    if (sum == QUOTA_UNLIMITED || more == QUOTA_UNLIMITED) {
        return QUOTA_UNLIMITED;
    }
    return sum + more < QUOTA_SUM_MAX ? sum + more : QUOTA_SUM_MAX;
}

/* What the accounts below one are guaranteed together, those aside that get the rest. Each level is
 * walked by a cursor of its own: the tree is not deeper than ACCOUNT_DEPTH_MAX. */
static int64_t slots_below(const struct core *core, account_id top, pool_id pool)
{
    account_id path[ACCOUNT_DEPTH_MAX + 1] = {top};
    account_id after[ACCOUNT_DEPTH_MAX + 1] = {{0}};
    int64_t sum = 0;
    for (int level = 0; level >= 0;) {
        const struct account *child = query_account_child_next(core, path[level], after[level]);
        if (child == NULL) {
            level--;
            continue;
        }
        after[level] = child->id;
        int64_t set = slots_set(core, child->id, pool);
        if (set != QUOTA_UNSET) {
            sum = guarantees_add(sum, set);
        } else if (child->kind == ACCOUNT_DEPARTMENT && !has_rest(child->id)) {
            must(level < ACCOUNT_DEPTH_MAX);
            level++;
            path[level] = child->id;
            after[level] = (account_id){0};
        }
    }
    return sum;
}

static int64_t minus(int64_t whole, int64_t part)
{
    return part == QUOTA_UNLIMITED || part > whole ? 0 : whole - part;
}

/* What nobody else is guaranteed, of the pool's full size. */
static int64_t slots_rest(const struct core *core, account_id account, pool_id pool)
{
    const struct pool *row = query_pool(core, pool);
    int64_t size = row != NULL ? row->slots_milli : 0;
    int64_t department = slots_set(core, ACCOUNT_DEFAULT_DEPARTMENT, pool);
    if (department == QUOTA_UNSET) {
        department = minus(size, slots_below(core, (account_id){0}, pool));
    } else if (department == QUOTA_UNLIMITED) {
        department = size;
    }
    if (account.v == ACCOUNT_DEFAULT_DEPARTMENT.v) {
        return department;
    }
    return minus(department, slots_below(core, ACCOUNT_DEFAULT_DEPARTMENT, pool));
}

static int64_t slots_computed(const struct core *core, account_id account, pool_id pool)
{
    if (has_rest(account)) {
        return slots_rest(core, account, pool);
    }
    return slots_below(core, account, pool);
}

static void terms_fill(const struct core *core, const struct quota_row *row, struct quota *ret)
{
    for (uint32_t i = 0; i < row->term_count; i++) {
        const struct quota_term *term = &row->terms[i];
        uint32_t dim;
        must(query_dim_of(core, term->resource, &dim));
        if (term->guaranteed != QUOTA_UNSET) {
            ret->guaranteed.at[dim] = term->guaranteed;
        }
        ret->limit.at[dim] = term->limit;
        ret->weight[dim] = term->weight;
    }
    ret->rank = row->rank;
    ret->preempt_min_runtime_ms = row->preempt_min_runtime_ms;
    ret->reclaim_min_runtime_ms = row->reclaim_min_runtime_ms;
}

/* Has nobody set the guarantee? `row` may be NULL. */
static bool row_computes(const struct quota_row *row, resource_id resource)
{
    for (uint32_t i = 0; row != NULL && i < row->term_count; i++) {
        if (row->terms[i].resource.v == resource.v) {
            return row->terms[i].guaranteed == QUOTA_UNSET;
        }
    }
    return true;
}

void query_quota(const struct core *core, account_id account, pool_id pool, struct quota *ret)
{
    *ret = (struct quota){.rank = QUOTA_RANK_DEFAULT,
                          .preempt_min_runtime_ms = QUOTA_INHERIT,
                          .reclaim_min_runtime_ms = QUOTA_INHERIT};
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        ret->guaranteed.at[dim] = QUOTA_UNLIMITED;
        ret->limit.at[dim] = QUOTA_UNLIMITED;
        ret->weight[dim] = QUOTA_WEIGHT_DEFAULT;
    }
    const struct quota_row *row = quota_row(core, account, pool);
    if (row_computes(row, (resource_id){RESOURCE_SLOTS})) {
        ret->guaranteed.at[DIM_SLOTS] = slots_computed(core, account, pool);
    }
    if (row != NULL) {
        terms_fill(core, row, ret);
    }
}

bool query_quota_computed(const struct core *core, account_id account, pool_id pool,
                          resource_id resource)
{
    return row_computes(quota_row(core, account, pool), resource);
}

bool query_quota_next(const struct core *core, account_id *account, pool_id *pool)
{
    uint64_t key = ACCOUNT_KEY(*pool, *account);
    do {
        key = table_next(&core->quotas, key);
        *pool = (pool_id){(uint32_t)(key >> 32)};
    } while (key != 0 && query_pool(core, *pool) == NULL);
    *account = (account_id){(uint32_t)key};
    return key != 0;
}

void query_quota_spec(const struct core *core, account_id account, pool_id pool,
                      struct arena *arena, struct quota_spec *ret)
{
    *ret = (struct quota_spec){.rank = QUOTA_RANK_DEFAULT,
                               .preempt_min_runtime_ms = QUOTA_INHERIT,
                               .reclaim_min_runtime_ms = QUOTA_INHERIT};
    const struct quota_row *row = quota_row(core, account, pool);
    if (row == NULL) {
        return;
    }
    struct quota_amount *amounts = arena_new(arena, struct quota_amount, row->term_count);
    for (uint32_t i = 0; i < row->term_count; i++) {
        const struct quota_term *term = &row->terms[i];
        amounts[i] = (struct quota_amount){.resource = query_resource_name(core, term->resource),
                                           .guaranteed = term->guaranteed,
                                           .limit = term->limit,
                                           .weight = term->weight};
    }
    ret->amounts = amounts;
    ret->amount_count = row->term_count;
    ret->rank = row->rank;
    ret->preempt_min_runtime_ms = row->preempt_min_runtime_ms;
    ret->reclaim_min_runtime_ms = row->reclaim_min_runtime_ms;
}
