/* check_account.c - checks accounts, quotas and users: recomputes from the rows what is derived, and
 * compares.
 *
 * K8 the tree of accounts: parents, depths, counts of children and tasks. K9 usage and users' slots are the
 * sums over the tasks. K10 the dimensions are the resources that quotas mention. K12 usage history belongs to
 * existing accounts and pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/check.h"
#include "core/model/account.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static void expect(const struct core *core, uint64_t *counts, enum order order, struct okey key)
{
    must(oindex_has(&core->orders[order], key));
    counts[order]++;
}

static bool is_below(const struct core *core, account_id id, account_id above)
{
    while (id.v != 0 && id.v != above.v) {
        id = query_account(core, id)->parent;
    }
    return id.v != 0;
}

static void check_account(const struct core *core, const struct account *account, uint64_t *counts)
{
    const struct account *parent = query_account(core, account->parent);
    must(account->parent.v == 0 || parent != NULL); /* K8 */
    must(parent == NULL || parent->kind == ACCOUNT_DEPARTMENT);
    must(parent != NULL || account->kind == ACCOUNT_DEPARTMENT);
    must(account->depth == (parent != NULL ? parent->depth + 1 : 1));
    must(account->depth <= ACCOUNT_DEPTH_MAX);
    uint64_t hash = key_name_hash(query_account_name(core, account->id));
    expect(core, counts, ORDER_ACCOUNT_NAME, (struct okey){{hash, account->kind, account->id.v}});
    expect(core, counts, ORDER_ACCOUNT_CHILD, (struct okey){{account->parent.v, account->id.v}});
    uint32_t children = 0;
    for (const struct account *at = query_account_next(core, (account_id){0}); at != NULL;
         at = query_account_next(core, at->id)) {
        children += at->parent.v == account->id.v;
    }
    must(children == account->child_count);
    uint32_t tasks = 0;
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        tasks += !task_state_ended(task->state) && is_below(core, task->account, account->id);
    }
    must(tasks == account->task_count);
}

/* Adds as query_usage() shows sums: a sum above QUOTA_SUM_MAX becomes QUOTA_SUM_MAX. */
static int64_t shown_add(int64_t sum, int64_t amount, int64_t factor)
{
    __int128 whole = (__int128)amount * factor + sum;
    return whole < QUOTA_SUM_MAX ? (int64_t)whole : QUOTA_SUM_MAX;
}

static void vector_add_times(struct vector *sum, const struct vector *amounts, int64_t factor)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        sum->at[dim] = shown_add(sum->at[dim], amounts->at[dim], factor);
    }
}

static void task_tally(const struct core *core, const struct task *task, struct usage *ret,
                       int64_t *ret_slots)
{
    ret->pending_count += task->queued;
    ret->running_count += task->active_count > 0;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance_row(core, task->instance_first + i);
        const struct request *request = query_task_request(core, task, i);
        struct vector amounts;
        if (task->queued && instance->state == INSTANCE_WAITING) {
            query_dim_request(core, request, &amounts);
            vector_add_times(&ret->wanted, &amounts, 1);
            ret->gpu_memory_wanted =
                shown_add(ret->gpu_memory_wanted, resource_gpu_memory(request), 1);
        }
        if (!instance_active(instance)) {
            continue;
        }
        query_dim_grant(core, request, instance->slots_milli, instance->cpu_milli,
                        instance->memory_bytes, &amounts);
        vector_add_times(&ret->allocated, &amounts, 1);
        vector_add_times(&ret->fixed, &amounts, !task->preemptible);
        vector_add_times(&ret->leaving, &amounts, instance->state == INSTANCE_STOPPING);
        *ret_slots = shown_add(*ret_slots, instance->slots_milli, 1);
    }
}

static void check_usage(const struct core *core, account_id account, pool_id pool)
{
    struct usage tally = {0};
    int64_t slots = 0;
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        const struct task *row = query_task_in(core, pool, task->id);
        if (row->pool.v == pool.v && is_below(core, task->account, account)) {
            task_tally(core, row, &tally, &slots);
        }
    }
    struct usage kept;
    query_usage(core, account, pool, &kept);
    tally.wanted.at[DIM_SLOTS] = query_usage_slots_wanted(core, pool, &tally);
    must(memcmp(&kept, &tally, sizeof kept) == 0); /* K9 */
}

static void check_user(const struct core *core, const struct user_row *user, uint64_t *counts)
{
    uint32_t tasks = 0;
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        tasks += task->user.v == user->id.v;
    }
    must(tasks > 0);
    must(tasks == user->task_count);
    for (uint64_t pool = table_next(&core->pools, 0); pool != 0;
         pool = table_next(&core->pools, pool)) {
        struct usage tally = {0};
        int64_t slots = 0;
        for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
             task = query_task_next(core, task->id)) {
            if (task->user.v == user->id.v && task->pool.v == pool) {
                task_tally(core, task, &tally, &slots);
            }
        }
        must(query_usage_user_slots(core, user->id, (pool_id){(uint32_t)pool}) == slots); /* K9 */
    }
    uint64_t hash = key_name_hash(query_usage_user_name(core, user->id));
    expect(core, counts, ORDER_USER_NAME, (struct okey){{hash, user->id.v}});
}

static void check_dims(const struct core *core)
{
    uint32_t mentions[RESOURCES_MAX] = {0};
    for (uint64_t key = table_next(&core->quotas, 0); key != 0;
         key = table_next(&core->quotas, key)) {
        const struct quota_row *row = table_get(&core->quotas, key);
        must(query_account(core, (account_id){(uint32_t)key}) != NULL);
        must(!quota_row_default(row));
        for (uint32_t i = 0; i < row->term_count; i++) {
            mentions[row->terms[i].resource.v]++;
        }
    }
    uint32_t dim = DIM_NAMED_FIRST;
    for (uint32_t i = 0; i < RESOURCES_MAX; i++) {
        must(mentions[i] == core->quota_mentions[i]); /* K10 */
        if (i >= RESOURCE_NAMED_FIRST && mentions[i] > 0) {
            must(dim < QUOTA_DIMS_MAX);
            must(core->dims[dim++].v == i);
        }
    }
    must(dim == core->dim_count);
}

/* K12: usage history belongs to accounts that exist, in pools with usage history. */
static void check_histories(const struct core *core)
{
    for (uint64_t key = table_next(&core->histories, 0); key != 0;
         key = table_next(&core->histories, key)) {
        const struct pool *pool = query_pool(core, (pool_id){(uint32_t)(key >> 32)});
        must(pool != NULL);
        must(pool->history_at_ms > 0);
        must(query_account(core, (account_id){(uint32_t)key}) != NULL);
    }
}

void check_account_all(const struct core *core, uint64_t *counts)
{
    must(query_account(core, ACCOUNT_DEFAULT_PROJECT) != NULL);
    check_histories(core);
    for (const struct account *account = query_account_next(core, (account_id){0}); account != NULL;
         account = query_account_next(core, account->id)) {
        check_account(core, account, counts);
        for (uint64_t pool = table_next(&core->pools, 0); pool != 0;
             pool = table_next(&core->pools, pool)) {
            check_usage(core, account->id, (pool_id){(uint32_t)pool});
        }
    }
    for (uint64_t id = table_next(&core->users, 0); id != 0; id = table_next(&core->users, id)) {
        check_user(core, table_get(&core->users, id), counts);
    }
    for (uint64_t key = table_next(&core->usages, 0); key != 0;
         key = table_next(&core->usages, key)) {
        must(query_account(core, (account_id){(uint32_t)key}) != NULL);
    }
    check_dims(core);
}
