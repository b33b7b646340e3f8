/* change_task.c - opening and closing task rows.
 *
 * A task stands in its pool's queue when an instance of the task waits and may start: task_may_queue(). The
 * task state follows from the instances: state_derive().
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/form.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/restart.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/capacity.h"
#include "core/state/change.h"
#include "core/state/fallback.h"
#include "core/state/gang.h"
#include "core/state/key.h"
#include "core/state/lengths.h"
#include "core/state/life.h"
#include "core/state/query.h"
#include "core/state/shares_cache.h"
#include "core/state/state.h"

static bool task_may_queue(const struct core *core, const struct task *task)
{
    if (task->waiting_count == 0 || task->depends_left > 0 || task->kill_asked ||
        task->pause_asked || task->pool_next.v != 0 || task->hold_until_ms > 0 ||
        task->turned_away) {
        return false;
    }
    if (task->state != TASK_PENDING && task->state != TASK_STARTING &&
        task->state != TASK_RUNNING && task->state != TASK_STOPPING) {
        return false;
    }
    if (task->gang && task->stopping_count > 0) {
        return false; /* a gang waits until its stopping instances have ended (P2) */
    }
    return pool_has_tasks(query_pool(core, task->pool));
}

static enum task_state state_derive(const struct core *core, const struct task *task)
{
    enum task_state state = task->state;
    if (task->active_count == 0) {
        if (state == TASK_STAGED || task_state_ended(state)) {
            return state;
        }
        if (task->pause_asked) {
            return TASK_PAUSED;
        }
        return pool_has_tasks(query_pool(core, task->pool)) && !task->turned_away
                   ? TASK_PENDING
                   : TASK_UNAVAILABLE;
    }
    if (task->stopping_count > 0) {
        return TASK_STOPPING;
    }
    return task->starting_count > 0 ? TASK_STARTING : TASK_RUNNING;
}

void change_task_mark(const struct core *core, const struct task *task, struct task_mark *ret)
{
    *ret = (struct task_mark){.queued = task->queued,
                              .active = task->active_count > 0,
                              .overtaken = task->overtaken,
                              .pool = task->pool,
                              .hold_until_ms = task->hold_until_ms,
                              .state = task->state,
                              .queue = key_queue(task),
                              .account_queue = key_account_queue(task),
                              .account_running = key_account_running(task)};
    change_usage_wants(core, task, &ret->wants);
    struct okey checked_key;
    ret->service = key_service(task, &ret->service_key);
    ret->successor = key_successor(task, &ret->successor_key);
    ret->checked = key_checked(task, &checked_key);
    ret->stale = gang_stale_key(core, task, &ret->stale_key);
}

void change_task_mark_new(const struct core *core, const struct task *task, struct task_mark *ret)
{
    change_task_mark(core, task, ret);
    ret->stale = false;
    ret->service = false;
    ret->successor = false;
    ret->checked = false;
    ret->queued = false;
    ret->active = false;
    ret->overtaken = false;
    ret->hold_until_ms = 0;
    ret->state = TASK_STATE_COUNT;
    ret->wants = (struct usage_wants){0};
}

struct task *change_task_open(struct core *core, task_id id, struct task_mark *ret)
{
    struct task *task = table_edit(&core->tasks, id.v);
    must(task != NULL);
    change_task_mark(core, task, ret);
    return task;
}

/* A task that leaves the queue loses its reservation. */
static void holder_leave(struct core *core, struct pool *pool, task_id task)
{
    if (!pool_has_reserved(pool, task)) {
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v != task.v) {
            pool->reserved[kept++] = pool->reserved[i];
        }
    }
    for (uint32_t i = kept; i < pool->reserved_count; i++) {
        pool->reserved[i] = (struct reservation){0};
    }
    pool->reserved_count = (uint8_t)kept;
    change_pool_due(core, pool->id);
}

static void queue_leave(struct core *core, const struct task *task, const struct task_mark *mark)
{
    must(oindex_remove(&core->orders[ORDER_QUEUE], mark->queue));
    must(oindex_remove(&core->orders[ORDER_ACCOUNT_QUEUE], mark->account_queue));
    struct pool *pool = change_pool_edit(core, mark->pool);
    must(pool->pending_count > 0);
    pool->pending_count--;
    /* else the task only changes its place */
    if (!task->queued || task->pool.v != mark->pool.v) {
        holder_leave(core, pool, task->id);
    }
}

static void queue_join(struct core *core, const struct task *task)
{
    must(oindex_insert(&core->orders[ORDER_QUEUE], key_queue(task)));
    must(oindex_insert(&core->orders[ORDER_ACCOUNT_QUEUE], key_account_queue(task)));
    change_pool_edit(core, task->pool)->pending_count++;
    change_pool_due(core, task->pool);
}

/* Moves the task's instances in ORDER_ACCOUNT_LOSS after a change of the task's priority. */
static void loss_update(struct core *core, const struct task *task, const struct task_mark *mark)
{
    struct oindex *order = &core->orders[ORDER_ACCOUNT_LOSS];
    struct task old = *task;
    old.priority = (uint32_t)~mark->account_running.at[1];
    for (uint32_t i = 0; i < task->instance_count && old.priority != task->priority; i++) {
        const struct instance *instance = query_instance_row(core, task->instance_first + i);
        if (instance_stays(instance)) {
            must(oindex_remove(order, key_account_loss(&old, instance)));
            must(oindex_insert(order, key_account_loss(task, instance)));
            shares_cache_touch(core->shares, ACCOUNT_KEY(task->pool, task->account));
        }
    }
}

/* Updates the order of the tasks that hold places, by account. */
static void running_update(struct core *core, const struct task *task, const struct task_mark *mark)
{
    struct oindex *order = &core->orders[ORDER_ACCOUNT_RUNNING];
    struct okey key = key_account_running(task);
    bool active = task->active_count > 0;
    if (active == mark->active && oindex_key_compare(key, mark->account_running) == 0) {
        return;
    }
    must(!mark->active || oindex_remove(order, mark->account_running));
    must(!active || oindex_insert(order, key));
    if (active && mark->active) {
        loss_update(core, task, mark);
    }
}

/* Changes the number of the pool's tasks that hold places. A closing pool is closed when this number is 0, so the life of such a
 * pool is looked at again. */
static void running_add(struct core *core, pool_id id, int sign)
{
    struct pool *pool = change_pool_edit(core, id);
    pool->running_count = (uint32_t)((int64_t)pool->running_count + sign);
    if (pool->life.phase != PHASE_OPEN) {
        life_update(core, id);
    }
}

static void counts_update(struct core *core, const struct task *task, const struct task_mark *mark)
{
    bool active = task->active_count > 0;
    if (active && !mark->active) {
        running_add(core, task->pool, 1);
    } else if (!active && mark->active) {
        running_add(core, mark->pool, -1);
    }
    if (task->overtaken || mark->overtaken) {
        change_pool_edit(core, task->pool)->overtaken_count += task->overtaken;
        struct pool *before = change_pool_edit(core, mark->pool);
        must(before->overtaken_count >= mark->overtaken);
        before->overtaken_count -= mark->overtaken;
    }
    if (task->state == mark->state) {
        return;
    }
    core->task_counts[task->state]++;
    if (mark->state < TASK_STATE_COUNT) {
        must(core->task_counts[mark->state] > 0);
        core->task_counts[mark->state]--;
    }
}

/* Are the promised places too few for the gang's minimum? A gang that breaks while one of its instances is
 * moved has too few. */
static bool claims_too_few(const struct core *core, const struct task *task)
{
    return task->gang && task->queued && gang_claims_short(core, task);
}

static void stale_update(struct core *core, struct task *task, const struct task_mark *mark)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    struct okey key;
    gang_stale_update(core, task);
    const bool stale = gang_stale_key(core, task, &key);
    if (stale == mark->stale && (!stale || oindex_key_compare(key, mark->stale_key) == 0)) {
        return;
    }
    must(!mark->stale || oindex_remove(order, mark->stale_key));
    must(!stale || oindex_insert(order, key));
}

/* Moves a key in an order: `was` and `is` say whether the order has the key, before the change and after it. */
static void key_move(struct oindex *order, bool was, struct okey before, bool is, struct okey after)
{
    if (is == was && (!is || oindex_key_compare(after, before) == 0)) {
        return;
    }
    must(!was || oindex_remove(order, before));
    must(!is || oindex_insert(order, after));
}

/* Updates the orders in which services are found by name and by the first task that they replaced. */
static void service_update(struct core *core, const struct task *task, const struct task_mark *mark)
{
    struct okey key;
    bool is = key_service(task, &key);
    key_move(&core->orders[ORDER_SERVICE], mark->service, mark->service_key, is, key);
    is = key_successor(task, &key);
    key_move(&core->orders[ORDER_SUCCESSOR], mark->successor, mark->successor_key, is, key);
}

static void checked_update(struct core *core, const struct task *task, const struct task_mark *mark)
{
    struct oindex *order = &core->orders[ORDER_CHECKED];
    struct okey key;
    const bool checked = key_checked(task, &key);
    if (checked != mark->checked) {
        must(checked ? oindex_insert(order, key) : oindex_remove(order, key));
    }
}

/* Keeps the end of the task's back-off in ORDER_DEADLINE. A task without a waiting instance does not back off. */
static void hold_update(struct core *core, struct task *task, const struct task_mark *mark)
{
    struct oindex *order = &core->orders[ORDER_DEADLINE];
    if (task->waiting_count == 0 || task_state_ended(task->state)) {
        task->hold_until_ms = 0;
    }
    if (task->hold_until_ms == mark->hold_until_ms) {
        return;
    }
    must(mark->hold_until_ms == 0 || oindex_remove(order, key_hold(task->id, mark->hold_until_ms)));
    must(task->hold_until_ms == 0 || oindex_insert(order, key_hold(task->id, task->hold_until_ms)));
}

void change_task_queue_update(struct core *core, const struct task *task,
                              const struct task_mark *mark)
{
    change_usage_want(core, task, mark);
    if (task->queued == mark->queued) {
        bool moved = oindex_key_compare(key_queue(task), mark->queue) != 0 ||
                     oindex_key_compare(key_account_queue(task), mark->account_queue) != 0;
        if (!task->queued || !moved) {
            return;
        }
    }
    if (mark->queued) {
        queue_leave(core, task, mark);
    }
    if (task->queued) {
        queue_join(core, task);
    }
}

void change_task_close(struct core *core, struct task *task, const struct task_mark *mark)
{
    gang_count(core, task);
    task->state = (uint8_t)state_derive(core, task);
    hold_update(core, task, mark);
    task->queued = task_may_queue(core, task);
    task->by_length = pool_by_length(query_pool(core, task->pool));
    task->reserved = task->reserved && task->queued && task->pool.v == mark->pool.v;
    task->overtaken = task->overtaken && task->active_count > 0;
    if (task->claimed_count + task->moving_count > 0 &&
        (!task_keeps_claims(task) || claims_too_few(core, task))) {
        change_claim_drop_all(core, task);
    }
    counts_update(core, task, mark);
    stale_update(core, task, mark);
    service_update(core, task, mark);
    checked_update(core, task, mark);
    running_update(core, task, mark);
    change_task_queue_update(core, task, mark);
    fallback_close(core, task);
}

void change_task_pool_set(struct core *core, struct task *task, pool_id to)
{
    must(task->active_count == 0);
    change_claim_drop_all(core, task);
    struct arena arena;
    arena_init(&arena);
    const struct shape *shape = query_task_shape(core, task->shape);
    const struct request request = shape->request;
    const struct form *form = shape_form(shape);
    form = form != NULL ? arena_dup(&arena, form, form_size(form)) : NULL; /* the shape may go */
    change_shape_drop(core, task->shape);
    must(change_pool_edit(core, task->pool)->task_count > 0);
    change_pool_edit(core, task->pool)->task_count--;
    task->pool = to;
    task->shape = change_shape_take(core, to, task_gang_size(task), &request, form);
    change_pool_edit(core, to)->task_count++;
    arena_done(&arena);
}

struct instance *change_task_instance(struct core *core, const struct task *task, uint32_t index)
{
    must(index < task->instance_count);
    struct instance *instance = table_edit(&core->instances, task->instance_first + index);
    must(instance != NULL);
    return instance;
}

void change_task_waiting_from(const struct core *core, struct task *task, uint32_t from)
{
    while (from < task->instance_count &&
           query_instance_row(core, task->instance_first + from)->state != INSTANCE_WAITING) {
        from++;
    }
    task->waiting_from = from;
}

void change_task_give_up(struct core *core, struct task *task, enum end_cause cause, int64_t now_ms)
{
    const uint32_t first = task->held_count > 0 ? 0 : task->waiting_from;
    for (uint32_t i = first; i < task->instance_count && task->waiting_count + task->held_count > 0;
         i++) {
        const uint8_t state = query_instance_row(core, task->instance_first + i)->state;
        if (state != INSTANCE_WAITING && state != INSTANCE_HELD) {
            continue;
        }
        struct instance *instance = change_task_instance(core, task, i);
        instance->state = INSTANCE_ENDED;
        instance->cause = (uint8_t)cause;
        instance->ended_ms = now_ms;
        task->waiting_count -= state == INSTANCE_WAITING;
        task->held_count -= state == INSTANCE_HELD;
        task->ended_count++;
    }
    must(task->waiting_count == 0);
    must(task->held_count == 0);
    task->waiting_from = task->instance_count;
}

/* ---- deadlines ---- */

static bool deadline_key(const struct task *task, const struct instance *instance, struct okey *ret)
{
    if (instance->state == INSTANCE_RUNNING && task->time_limit_ms > 0) {
        *ret = (struct okey){{(uint64_t)(instance->started_ms + task->time_limit_ms),
                              DEADLINE_TIME_LIMIT, task->id.v, instance->index}};
        return true;
    }
    if (instance->state == INSTANCE_STOPPING && instance->stop_deadline_ms > 0) {
        *ret = (struct okey){{(uint64_t)(instance->stop_deadline_ms + STOP_SLACK_MS), DEADLINE_STOP,
                              task->id.v, instance->index}};
        return true;
    }
    return false;
}

void change_task_deadline_put(struct core *core, const struct task *task,
                              const struct instance *instance)
{
    struct okey key;
    if (deadline_key(task, instance, &key)) {
        must(oindex_insert(&core->orders[ORDER_DEADLINE], key));
    }
}

void change_task_deadline_drop(struct core *core, const struct task *task,
                               const struct instance *instance)
{
    struct okey key;
    if (deadline_key(task, instance, &key)) {
        must(oindex_remove(&core->orders[ORDER_DEADLINE], key));
    }
}

void change_task_end_moved(struct core *core, const struct instance *instance)
{
    if (core->capacity != NULL) {
        capacity_ends_changed(core->capacity, instance->node);
    }
}

void change_task_ends_moved(struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
        change_task_end_moved(core, query_instance_row(core, task->instance_first + i));
    }
}

void change_task_spec_set(const struct core *core, struct task *task, const struct task_spec *spec,
                          struct str bytes)
{
    blob_unref(task->spec);
    if (bytes.len > 0) {
        task->spec = blob_new(bytes.p, bytes.len);
    } else {
        struct buf text;
        buf_init(&text, TASK_SPEC_STORED_MAX);
        spec_codec_task_encode(spec, &text);
        must(!text.full);
        task->spec = blob_new(text.data, text.len);
        buf_done(&text);
    }
    task->name_hash = lengths_name_hash(spec->name != NULL ? spec->name : "");
    task->network = query_network_said(core, spec->network);
    task->kind = (uint8_t)spec->kind;
    task->service_hash =
        spec->kind == TASK_SERVICE ? key_name_hash(spec->name != NULL ? spec->name : "") : 0;
    task->array_first = spec->array_first;
    task->gang = spec->gang;
    task->preemptible = spec->preemptible;
    task->repeatable = spec->repeatable;
    task->priority = spec->priority;
    task->max_retries = spec->max_retries;
    task->max_losses = spec->max_losses;
    task->restart = (uint8_t)restart_of(spec);
    task->max_restarts = spec->max_restarts;
    task->restart_delay_ms = spec->restart_delay_ms;
    task->checked = spec->health != NULL && spec->health[0] != '\0';
    task->time_limit_ms = spec->time_limit_ms;
    task->grace_ms = spec->grace_ms;
    task->stale_grace_ms = spec->stale_grace_ms;
    task->preemption_delay_ms = spec->preemption_delay_ms;
}
