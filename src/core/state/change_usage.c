/* change_usage.c - usage: what accounts and users hold and want. Usage is updated with every change of a task
 * or an instance.
 *
 * What a task holds counts in its project and in every account above. Sums are wide enough for any number of
 * amounts, so nothing can wrap. A row whose members are all 0 is removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/form.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/change.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/shares_cache.h"
#include "core/state/state.h"

#include <string.h>

static void sums_add(struct sum *sums, const struct vector *amounts, int64_t factor)
{
    for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
        if (amounts->at[dim] != 0) {
            vector_sum_add(&sums[dim], amounts->at[dim], factor);
        }
    }
}

static void *row_open(struct table *table, uint64_t key)
{
    void *row = table_edit(table, key);
    return row != NULL ? row : table_put(table, key);
}

static void row_close(struct table *table, uint64_t key, const void *row)
{
    static const struct usage_row zero;
    must(table->row_size <= sizeof zero);
    if (memcmp(row, &zero, table->row_size) == 0) {
        table_remove(table, key);
    }
}

/* A row of an account's usage, to be changed. The caches of shares hear of every change. */
static struct usage_row *usage_open(struct core *core, uint64_t key)
{
    shares_cache_touch(core->shares, key);
    return row_open(&core->usages, key);
}

static void instance_vector(const struct core *core, const struct task *task,
                            const struct instance *instance, struct vector *ret)
{
    query_dim_grant(core, query_task_request(core, task, instance->index), instance->slots_milli,
                    instance->cpu_milli, instance->memory_bytes, ret);
}

static void accounts_hold(struct core *core, const struct task *task,
                          const struct instance *instance, int sign)
{
    struct vector amounts;
    instance_vector(core, task, instance, &amounts);
    for (account_id at = task->account; at.v != 0; at = query_account(core, at)->parent) {
        uint64_t key = ACCOUNT_KEY(task->pool, at);
        struct usage_row *row = usage_open(core, key);
        sums_add(row->allocated, &amounts, sign);
        if (!task->preemptible) {
            sums_add(row->fixed, &amounts, sign);
        }
        if (instance->state == INSTANCE_STOPPING) {
            sums_add(row->leaving, &amounts, sign);
        }
        row_close(&core->usages, key, row);
    }
}

void change_usage_allocate(struct core *core, const struct task *task,
                           const struct instance *instance, int sign)
{
    accounts_hold(core, task, instance, sign);
    if (instance_stays(instance)) {
        struct oindex *order = &core->orders[ORDER_ACCOUNT_LOSS];
        const struct okey loss = key_account_loss(task, instance);
        must(sign > 0 ? oindex_insert(order, loss) : oindex_remove(order, loss));
        struct oindex *begun = &core->orders[ORDER_ACCOUNT_BEGUN];
        const struct okey key = key_account_begun(task, instance);
        must(sign > 0 ? oindex_insert(begun, key) : oindex_remove(begun, key));
    }
    uint64_t key = ACCOUNT_KEY(task->pool, task->user);
    struct user_usage *used = row_open(&core->user_usages, key);
    vector_sum_add(&used->slots, instance->slots_milli, sign);
    row_close(&core->user_usages, key, used);
}

void change_usage_leave(struct core *core, const struct task *task, const struct instance *instance)
{
    must(instance->state == INSTANCE_STOPPING);
    must(oindex_remove(&core->orders[ORDER_ACCOUNT_LOSS], key_account_loss(task, instance)));
    must(oindex_remove(&core->orders[ORDER_ACCOUNT_BEGUN], key_account_begun(task, instance)));
    struct vector amounts;
    instance_vector(core, task, instance, &amounts);
    for (account_id at = task->account; at.v != 0; at = query_account(core, at)->parent) {
        uint64_t key = ACCOUNT_KEY(task->pool, at);
        struct usage_row *row = usage_open(core, key);
        sums_add(row->leaving, &amounts, 1);
        row_close(&core->usages, key, row);
    }
}

/* A change of the demand of accounts: `count` instances with one request, and changes of the counts of tasks. */
struct demand {
    const struct request *request;
    int64_t count;
    int pending;
    int running;
};

static void demand_add(struct core *core, const struct task *task, pool_id pool,
                       const struct demand *demand)
{
    struct vector amounts;
    const int64_t memory = resource_gpu_memory(demand->request);
    query_dim_request(core, demand->request, &amounts);
    for (account_id at = task->account; at.v != 0; at = query_account(core, at)->parent) {
        uint64_t key = ACCOUNT_KEY(pool, at);
        struct usage_row *row = usage_open(core, key);
        sums_add(row->wanted, &amounts, demand->count);
        vector_sum_add(&row->gpu_memory_wanted, memory, demand->count);
        row->pending_count = (uint32_t)((int64_t)row->pending_count + demand->pending);
        row->running_count = (uint32_t)((int64_t)row->running_count + demand->running);
        row_close(&core->usages, key, row);
    }
}

/* Adds what a task wants, and the task itself, to its accounts (sign 1), or subtracts both (sign -1). */
static void wanted_add(struct core *core, const struct task *task, pool_id pool,
                       const struct usage_wants *wants, int sign)
{
    const struct shape *shape = query_task_shape(core, task->shape);
    const struct form *form = shape_form(shape);
    struct demand demand = {&shape->request, sign * (int64_t)wants->instances,
                            sign * wants->pending, sign * wants->running};
    if (!wants->grouped) {
        demand_add(core, task, pool, &demand);
        return;
    }
    for (uint32_t i = 0; i < form->group_count; i++) {
        if (wants->waiting[i] > 0) {
            demand.request = &form->groups[i].request;
            demand.count = sign * (int64_t)wants->waiting[i];
            demand_add(core, task, pool, &demand);
            demand.pending = 0; /* a task with several groups counts once */
            demand.running = 0;
        }
    }
}

void change_usage_wants(const struct core *core, const struct task *task, struct usage_wants *ret)
{
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    ret->instances = task->queued ? task->waiting_count : 0;
    ret->pending = task->queued;
    ret->running = task->active_count > 0;
    ret->grouped = form_grouped(form) && ret->instances > 0;
    for (uint32_t i = 0; ret->grouped && i < form->group_count; i++) {
        const struct form_group *leaf = &form->groups[i];
        uint32_t waiting = 0;
        for (uint32_t at = leaf->first; leaf->below == 0 && at < leaf->first + leaf->count; at++) {
            waiting +=
                query_instance_row(core, task->instance_first + at)->state == INSTANCE_WAITING;
        }
        ret->waiting[i] = (uint16_t)waiting;
    }
}

void change_usage_want(struct core *core, const struct task *task, const struct task_mark *mark)
{
    struct usage_wants wants;
    const struct usage_wants *was = &mark->wants;
    change_usage_wants(core, task, &wants);
    if (task->pool.v == mark->pool.v && wants.instances == was->instances &&
        wants.pending == was->pending && wants.running == was->running && !wants.grouped &&
        !was->grouped) {
        return;
    }
    /* An edit of the request or the project has called change_usage_unwant() before: then `was` is empty. */
    wanted_add(core, task, mark->pool, was, -1);
    wanted_add(core, task, task->pool, &wants, 1);
}

void change_usage_unwant(struct core *core, const struct task *task, struct task_mark *mark)
{
    wanted_add(core, task, mark->pool, &mark->wants, -1);
    mark->wants = (struct usage_wants){.instances = 0};
}

void change_usage_recount(struct core *core)
{
    uint64_t key;
    shares_cache_renew(core->shares);
    while ((key = table_next(&core->usages, 0)) != 0) {
        table_remove(&core->usages, key);
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        struct usage_wants wants;
        change_usage_wants(core, task, &wants);
        wanted_add(core, task, task->pool, &wants, 1);
        for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
            const struct instance *instance = query_instance_row(core, task->instance_first + i);
            if (instance_active(instance)) {
                accounts_hold(core, task, instance, 1);
            }
        }
    }
    uint64_t number = 0;
    for (const struct task *entry = fallback_entry_next(core, &number); entry != NULL;
         entry = fallback_entry_next(core, &number)) {
        struct usage_wants wants;
        change_usage_wants(core, entry, &wants);
        wanted_add(core, entry, entry->pool, &wants, 1);
    }
}

static void sum_carry(struct sum *to, const struct sum *from, int sign)
{
    const __int128 whole =
        ((__int128)to->high << 64 | to->low) + sign * ((__int128)from->high << 64 | from->low);
    *to = (struct sum){(uint64_t)whole, (int64_t)(whole >> 64)};
    must(to->high >= 0);
}

static void usage_add(struct usage_row *to, const struct usage_row *from, int sign)
{
    struct sum *sums[] = {to->allocated, to->leaving, to->fixed, to->wanted};
    const struct sum *more[] = {from->allocated, from->leaving, from->fixed, from->wanted};
    for (unsigned i = 0; i < sizeof sums / sizeof sums[0]; i++) {
        for (uint32_t dim = 0; dim < QUOTA_DIMS_MAX; dim++) {
            sum_carry(&sums[i][dim], &more[i][dim], sign);
        }
    }
    sum_carry(&to->gpu_memory_wanted, &from->gpu_memory_wanted, sign);
    to->pending_count =
        (uint32_t)((int64_t)to->pending_count + sign * (int64_t)from->pending_count);
    to->running_count =
        (uint32_t)((int64_t)to->running_count + sign * (int64_t)from->running_count);
}

void change_usage_carry(struct core *core, account_id id, account_id above, int sign)
{
    for (const struct pool *pool = table_get(&core->pools, table_next(&core->pools, 0));
         pool != NULL; pool = table_get(&core->pools, table_next(&core->pools, pool->id.v))) {
        const struct usage_row *found = table_get(&core->usages, ACCOUNT_KEY(pool->id, id));
        if (found == NULL) {
            continue;
        }
        struct usage_row own = *found;
        for (account_id at = above; at.v != 0; at = query_account(core, at)->parent) {
            uint64_t key = ACCOUNT_KEY(pool->id, at);
            struct usage_row *row = usage_open(core, key);
            usage_add(row, &own, sign);
            row_close(&core->usages, key, row);
        }
    }
}
