/* query_usage.c - what accounts and users hold and want.
 * SPDX-License-Identifier: Apache-2.0 */
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
