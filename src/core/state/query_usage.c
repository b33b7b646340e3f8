/* query_usage.c - reading usage: what accounts and users hold and want.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/checked.h"
#include "base/must.h"
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/quota.h"
#include "core/model/table.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

int64_t query_usage_slots_wanted(const struct core *core, pool_id pool, const struct usage *usage)
{
    const int64_t by_memory = query_dim_gpu_slots(core, pool, usage->gpu_memory_wanted);
    const int64_t plain = usage->wanted.at[DIM_SLOTS];
    return by_memory < QUOTA_SUM_MAX - plain ? plain + by_memory : QUOTA_SUM_MAX;
}

void query_usage(const struct core *core, account_id account, pool_id pool, struct usage *ret)
{
    *ret = (struct usage){0};
    const struct usage_row *row = table_get(&core->usages, ACCOUNT_KEY(pool, account));
    if (row == NULL) {
        return;
    }
    for (uint32_t dim = 0; dim < core->dim_count; dim++) {
        ret->allocated.at[dim] = vector_sum_shown(&row->allocated[dim]);
        ret->leaving.at[dim] = vector_sum_shown(&row->leaving[dim]);
        ret->fixed.at[dim] = vector_sum_shown(&row->fixed[dim]);
        ret->wanted.at[dim] = vector_sum_shown(&row->wanted[dim]);
    }
    ret->gpu_memory_wanted = vector_sum_shown(&row->gpu_memory_wanted);
    ret->wanted.at[DIM_SLOTS] = query_usage_slots_wanted(core, pool, ret);
    ret->pending_count = row->pending_count;
    ret->running_count = row->running_count;
}

/* An account on the way down the tree, and the sum of the demands of its children so far. */
struct demand_level {
    account_id account;
    account_id child; /* the child that was visited last */
    int64_t below;
};

static int64_t demand_own(const struct core *core, const struct demand_level *level, pool_id pool,
                          uint32_t dim)
{
    struct quota quota;
    struct usage usage;
    query_quota(core, level->account, pool, &quota);
    query_usage(core, level->account, pool, &usage);
    const int64_t limit = quota.limit.at[dim];
    const int64_t wants = level->child.v != 0 ? level->below : quota_demand(&usage, dim);
    const int64_t may = limit != QUOTA_UNLIMITED && limit < wants ? limit : wants;
    return may > usage.allocated.at[dim] ? may : usage.allocated.at[dim];
}

int64_t query_usage_demand(const struct core *core, account_id account, pool_id pool, uint32_t dim)
{
    struct demand_level levels[ACCOUNT_DEPTH_MAX + 1] = {{.account = account}};
    uint32_t depth = 0;
    for (;;) {
        struct demand_level *level = &levels[depth];
        const struct account *child = query_account_child_next(core, level->account, level->child);
        if (child != NULL) {
            level->child = child->id;
            depth++;
            must(depth <= ACCOUNT_DEPTH_MAX);
            levels[depth] = (struct demand_level){.account = child->id};
            continue;
        }
        const int64_t own = demand_own(core, level, pool, dim);
        if (depth == 0) {
            return own;
        }
        depth--;
        levels[depth].below = i64_add(levels[depth].below, own);
    }
}

int64_t query_usage_user_slots(const struct core *core, user_id user, pool_id pool)
{
    const struct user_usage *used = table_get(&core->user_usages, ACCOUNT_KEY(pool, user));
    return used != NULL ? vector_sum_shown(&used->slots) : 0;
}

const char *query_usage_user_name(const struct core *core, user_id id)
{
    const struct user_row *user = table_get(&core->users, id.v);
    return user != NULL ? blob_bytes(user->name).p : "";
}
