/* fallback.c - see fallback.h.
 *
 * The entry of the i-th pool of a task has number ENTRY(task, i). An entry is equal to the task's own row, apart from
 * what belongs to its pool: pool, shape, `reserved` and `by_length`. So reading a state makes the same entries again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/fallback.h"

#include "core/state/access.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/form.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/elastic.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

#define ENTRY(task, index) ((task).v * TASK_POOLS_MAX + (index))

const struct fallback *fallback_of(const struct core *core, const struct task *task)
{
    return task->listed ? table_get(&core->fallbacks, task->id.v) : NULL;
}

uint32_t fallback_next(const struct core *core, const struct fallback *list)
{
    uint32_t next = list->opened;
    while (next < list->count && !pool_has_tasks(query_pool(core, list->pools[next]))) {
        next++;
    }
    return next;
}

/* The index of the pool in the list; list->count: the list does not have the pool. */
static uint32_t index_of(const struct fallback *list, pool_id pool)
{
    uint32_t at = 0;
    while (at < list->count && list->pools[at].v != pool.v) {
        at++;
    }
    return at;
}

pool_id fallback_last(const struct core *core, const struct fallback *list)
{
    for (uint32_t i = list->opened; i > 0; i--) {
        const struct pool *pool = query_pool(core, list->pools[i - 1]);
        if (pool != NULL && !pool->deleted && pool->life.phase == PHASE_OPEN) {
            return pool->id;
        }
    }
    return list->pools[list->opened - 1];
}

bool fallback_grows(const struct core *core, const struct task *task, pool_id pool)
{
    const struct fallback *list = fallback_of(core, task);
    return list == NULL || fallback_last(core, list).v == pool.v;
}

bool fallback_names(const struct core *core, const struct task *task, pool_id pool)
{
    const struct fallback *list = fallback_of(core, task);
    return task->pool.v == pool.v || (list != NULL && index_of(list, pool) < list->count);
}

const struct task *fallback_entry_next(const struct core *core, uint64_t *number)
{
    *number = table_next(&core->entries, *number);
    return *number != 0 ? table_get(&core->entries, *number) : NULL;
}

const struct task *fallback_entry(const struct core *core, const struct task *task, pool_id pool)
{
    const struct fallback *list = fallback_of(core, task);
    const uint32_t at = list != NULL ? index_of(list, pool) : 0;
    return list != NULL && at < list->count ? table_get(&core->entries, ENTRY(task->id, at)) : NULL;
}

struct task *fallback_row_edit(struct core *core, pool_id pool, task_id id)
{
    const struct task *row = query_task_in(core, pool, id);
    must(row != NULL);
    if (row->pool.v == query_task(core, id)->pool.v) {
        return table_edit(&core->tasks, id.v);
    }
    const struct fallback *list = table_get(&core->fallbacks, id.v);
    return table_edit(&core->entries, ENTRY(id, index_of(list, pool)));
}

/* ---- entries ---- */

/* What the entry added to the demand of its accounts. Every instance of a task with groups waits while the task has
 * entries; the instances may have changed since. */
static void entry_mark(const struct core *core, const struct task *entry, struct task_mark *ret)
{
    change_task_mark(core, entry, ret);
    const struct form *form = shape_form(query_task_shape(core, entry->shape));
    for (uint32_t i = 0; ret->wants.grouped && i < form->group_count; i++) {
        const struct form_group *leaf = &form->groups[i];
        ret->wants.waiting[i] = (uint16_t)(leaf->below == 0 ? leaf->count : 0);
    }
}

static struct task *entry_make(struct core *core, const struct task *task, uint64_t number,
                               pool_id pool, struct task_mark *ret)
{
    const struct shape *shape = query_task_shape(core, task->shape);
    const struct request request = shape->request;
    const struct form *form = shape_form(shape);
    struct arena arena;
    arena_init(&arena);
    form = form != NULL ? arena_dup(&arena, form, form_size(form)) : NULL;
    struct task *entry = table_put(&core->entries, number);
    *entry = *task;
    entry->spec = NULL;
    entry->pool = pool;
    entry->reserved = 0;
    entry->shape = change_shape_take(core, pool, task_gang_size(task), &request, form);
    change_task_mark_new(core, entry, ret);
    arena_done(&arena);
    return entry;
}

/* Makes the entry equal to the task. */
static void entry_copy(const struct core *core, const struct task *task, struct task *entry)
{
    const struct task own = *entry;
    *entry = *task;
    entry->spec = NULL;
    entry->pool = own.pool;
    entry->shape = own.shape;
    entry->reserved = own.reserved;
    entry->by_length = pool_by_length(query_pool(core, own.pool));
}

/* Makes, updates or removes the entry of one pool. */
static void entry_close(struct core *core, const struct task *task, uint32_t index, pool_id pool,
                        bool stands)
{
    const uint64_t number = ENTRY(task->id, index);
    struct task *entry = table_edit(&core->entries, number);
    struct task_mark mark;
    if (entry != NULL) {
        entry_mark(core, entry, &mark);
    } else if (stands) {
        entry = entry_make(core, task, number, pool, &mark);
    } else {
        return;
    }
    if (stands) {
        entry_copy(core, task, entry);
    } else {
        entry->queued = 0;
        entry->reserved = 0;
    }
    change_task_queue_update(core, entry, &mark);
    if (!stands) {
        change_shape_drop(core, entry->shape);
        table_remove(&core->entries, number);
    }
}

/* ---- the row of the pools ---- */

/* May the task stand in the queues of several pools? */
static bool may_stand(const struct core *core, const struct task *task)
{
    if (!task->queued || task->active_count > 0 || task->claimed_count > 0) {
        return false;
    }
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    return !form_grouped(form) || task->waiting_count == task->instance_count;
}

static struct okey asks_key(const struct fallback *list, task_id task)
{
    return (struct okey){{list->asks.v, task.v, 0, 0}};
}

static struct okey deadline_key(const struct fallback *list, task_id task)
{
    return (struct okey){{(uint64_t)list->deadline_ms, DEADLINE_FALLBACK, task.v, 0}};
}

/* Says when and by which pool's pass the next pool opens. */
static void conditions_update(struct core *core, task_id task, struct fallback *list, bool stands)
{
    const bool more = stands && fallback_next(core, list) < list->count;
    const bool asks = more && (list->on & FALLBACK_ON_NO_CAPACITY) != 0;
    const pool_id pool = {asks ? fallback_last(core, list).v : 0};
    const int64_t deadline_ms = more && list->after_ms > 0 ? list->since_ms + list->after_ms : 0;
    if (pool.v != list->asks.v) {
        must(list->asks.v == 0 ||
             oindex_remove(&core->orders[ORDER_FALLBACK], asks_key(list, task)));
        list->asks = pool;
        must(pool.v == 0 || oindex_insert(&core->orders[ORDER_FALLBACK], asks_key(list, task)));
        if (pool.v != 0 && query_pool(core, pool) != NULL) {
            change_pool_due(core, pool); /* the next pass asks whether the pool has no capacity */
        }
    }
    if (deadline_ms != list->deadline_ms) {
        struct oindex *order = &core->orders[ORDER_DEADLINE];
        must(list->deadline_ms == 0 || oindex_remove(order, deadline_key(list, task)));
        list->deadline_ms = deadline_ms;
        must(deadline_ms == 0 || oindex_insert(order, deadline_key(list, task)));
    }
}

static void list_close(struct core *core, const struct task *task, struct fallback *list,
                       bool stands)
{
    for (uint32_t i = 0; i < list->opened; i++) {
        const pool_id pool = list->pools[i];
        entry_close(core, task, i, pool,
                    stands && pool.v != task->pool.v && pool_has_tasks(query_pool(core, pool)));
    }
    conditions_update(core, task->id, list, stands);
}

void fallback_close(struct core *core, const struct task *task)
{
    if (!task->listed) {
        return;
    }
    struct fallback *list = table_edit(&core->fallbacks, task->id.v);
    must(list != NULL);
    const bool waits = task->queued && task->active_count == 0;
    if (waits && !list->waits) {
        list->since_ms = core->time_ms;
    }
    list->waits = waits;
    list_close(core, task, list, may_stand(core, task));
}

void fallback_withdraw(struct core *core, const struct task *task)
{
    if (task->listed) {
        list_close(core, task, table_edit(&core->fallbacks, task->id.v), false);
    }
}

void fallback_forget(struct core *core, struct task *task)
{
    if (task->listed) {
        fallback_withdraw(core, task);
        table_remove(&core->fallbacks, task->id.v);
        task->listed = 0;
    }
}

static void conditions_of(struct fallback *list, const struct task_spec *spec)
{
    const bool said = spec->fallback_after_ms > 0 || spec->fallback_on != 0;
    list->after_ms = spec->fallback_after_ms;
    list->on = (uint8_t)(said ? spec->fallback_on : FALLBACK_ON_NO_CAPACITY);
}

void fallback_conditions_set(struct core *core, const struct task *task,
                             const struct task_spec *spec)
{
    if (task->listed) {
        conditions_of(table_edit(&core->fallbacks, task->id.v), spec);
    }
}

/* The pools that the spec names and that accept the task. */
static void pools_of(const struct core *core, const struct task *task, const struct task_spec *spec,
                     struct fallback *ret)
{
    for (uint32_t i = 0; i < spec->pool_count; i++) {
        const struct pool *pool = query_pool_named(core, spec->pools[i]);
        struct reason reason;
        if (pool != NULL && access_admits(core, pool, spec->kind, task->account, &reason) &&
            index_of(ret, pool->id) == ret->count) {
            must(ret->count < TASK_POOLS_MAX);
            ret->pools[ret->count++] = pool->id;
        }
    }
}

void fallback_set(struct core *core, struct task *task, const struct task_spec *spec)
{
    const pool_id home = task->pool_next.v != 0 ? task->pool_next : task->pool;
    struct fallback list = {.since_ms = core->time_ms};
    fallback_forget(core, task);
    pools_of(core, task, spec, &list);
    const uint32_t at = index_of(&list, home);
    if (list.count < 2 || at == list.count) {
        return;
    }
    conditions_of(&list, spec);
    list.opened = (uint8_t)(at + 1);
    for (uint32_t i = 0; i <= at; i++) {
        list.opened_ms[i] = core->time_ms;
        list.why[i] = i == 0 ? FALLBACK_FIRST : FALLBACK_IMPOSSIBLE;
    }
    *(struct fallback *)table_put(&core->fallbacks, task->id.v) = list;
    task->listed = 1;
}

void fallback_admit(struct core *core, struct task *task)
{
    struct arena arena;
    struct task_spec spec;
    struct fallback list = {0};
    if (!task->listed) {
        return;
    }
    arena_init(&arena);
    query_task_spec(core, task->id, &arena, &spec);
    pools_of(core, task, &spec, &list);
    const bool home = list.count == 0 || index_of(&list, task->pool) < list.count;
    if (!home && task->active_count == 0 && task->pool_next.v == 0) {
        fallback_forget(core, task);
        change_task_pool_set(core, task, list.pools[0]);
    }
    fallback_set(core, task, &spec);
    arena_done(&arena);
}

/* The pool that was asked for nodes for a task need not bring up these nodes any more. */
static void surplus_note(struct core *core, pool_id id)
{
    const struct pool *pool = query_pool(core, id);
    if (pool != NULL && elastic_pool(pool) && pool->launch_starting > 0) {
        change_pool_edit(core, id)->surplus = 1;
        change_pool_due(core, id);
    }
}

void fallback_open(struct core *core, struct task *task, pool_id pool, enum fallback_why why)
{
    must(task->listed);
    struct fallback *list = table_edit(&core->fallbacks, task->id.v);
    const uint32_t at = index_of(list, pool);
    must(at >= list->opened);
    must(at < list->count);
    surplus_note(core, list->pools[list->opened - 1]);
    for (uint32_t i = list->opened; i <= at; i++) {
        list->opened_ms[i] = core->time_ms;
        list->why[i] = (uint8_t)why;
    }
    list->opened = (uint8_t)(at + 1);
    list->since_ms = core->time_ms;
}

void fallback_settle(struct core *core, struct task *task, pool_id pool)
{
    if (!task->listed) {
        return;
    }
    struct fallback *list = table_edit(&core->fallbacks, task->id.v);
    const uint32_t at = index_of(list, pool);
    const pool_id last = list->pools[list->opened - 1];
    if (task->active_count == 0 && last.v != pool.v) {
        surplus_note(core, last);
    }
    if (pool.v != task->pool.v) {
        must(at < list->opened);
        entry_close(core, task, at, pool, false);
        change_task_pool_set(core, task, pool);
    }
}

void fallback_pool_gone(struct core *core, struct task *task)
{
    if (!task->listed || pool_has_tasks(query_pool(core, task->pool)) || task->active_count > 0) {
        return;
    }
    struct fallback *list = table_edit(&core->fallbacks, task->id.v);
    uint32_t at = 0;
    while (at < list->count && !pool_has_tasks(query_pool(core, list->pools[at]))) {
        at++;
    }
    if (at == list->count) {
        return;
    }
    if (at >= list->opened) {
        fallback_open(core, task, list->pools[at], FALLBACK_POOL_GONE);
    }
    entry_close(core, task, at, list->pools[at], false);
    change_task_pool_set(core, task, list->pools[at]);
}
