/* query_task.c - reading tasks, instances, queues and deadlines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/state.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/spec_codec.h"

const struct task *query_task(const struct core *core, task_id id)
{
    return table_get(&core->tasks, id.v);
}

const struct task *query_task_next(const struct core *core, task_id after)
{
    uint64_t id = table_next(&core->tasks, after.v);
    return id != 0 ? query_task(core, (task_id){id}) : NULL;
}

const struct task *query_task_prev(const struct core *core, task_id before)
{
    uint64_t id = table_prev(&core->tasks, before.v != 0 ? before.v : UINT64_MAX);
    return id != 0 ? query_task(core, (task_id){id}) : NULL;
}

task_id query_task_last(const struct core *core)
{
    return (task_id){core->tasks.last};
}

void query_task_spec(const struct core *core, task_id id, struct arena *arena,
                     struct task_spec *ret)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    struct bytes_reader in;
    struct str bytes = blob_bytes(task->spec);
    bytes_reader_init(&in, bytes.p, bytes.len);
    spec_codec_task_decode(&in, arena, ret);
    must(bytes_reader_ok(&in));
    /* Edits change the row; only texts are written back to the blob. */
    ret->priority = task->priority;
    ret->max_retries = task->max_retries;
    ret->time_limit_ms = task->time_limit_ms;
    ret->grace_ms = task->grace_ms;
}

const struct instance *query_instance_row(const struct core *core, uint64_t row)
{
    const struct instance *instance = table_get(&core->instances, row);
    must(instance != NULL);
    return instance;
}

const struct instance *query_instance(const struct core *core, task_id id, uint32_t index)
{
    const struct task *task = query_task(core, id);
    if (task == NULL || index >= task->instance_count) {
        return NULL;
    }
    return query_instance_row(core, task->instance_first + index);
}

bool instance_active(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING ||
           instance->state == INSTANCE_STOPPING;
}

int64_t instance_unsaved_ms(const struct instance *instance)
{
    return instance->checkpoint_ms > 0 ? instance->checkpoint_ms : instance->allocated_ms;
}

bool instance_stays(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
}

const struct instance *query_instance_live(const struct core *core, struct attempt_key key)
{
    const struct instance *instance = query_instance(core, key.task, key.index);
    if (instance == NULL || instance->attempt != key.attempt || !instance_active(instance)) {
        return NULL;
    }
    return instance;
}

bool instance_failed(enum end_cause cause, int32_t exit_code)
{
    return cause == END_TIME_LIMIT || cause == END_SPAWN || (cause == END_EXIT && exit_code != 0);
}

uint32_t task_gang_size(const struct task *task)
{
    return task->gang ? task->min_count : 1;
}

bool gang_doomed(const struct task *task)
{
    return task->gang && task->failed_count + task->unknown_count > 0;
}

uint32_t task_grown(const struct task *task)
{
    return task->active_count - task->stopping_count + task->ended_count;
}

uint32_t task_stage(const struct task *task)
{
    if (!task->gang || gang_lacks(task)) {
        return 0;
    }
    return task_grown(task) <= task->min_count ? 1 : 2;
}

uint32_t task_chunk(const struct task *task)
{
    return task->gang && !task->by_groups && gang_lacks(task) ? task->min_count - task_grown(task)
                                                              : 1;
}

bool task_promised(const struct task *task)
{
    return task->claimed_count > 0 && (task->gang || task->claimed_count == task->waiting_count);
}

const struct shape *query_task_shape(const struct core *core, shape_id id)
{
    return table_get(&core->shapes, id.v);
}

const struct request *query_task_request(const struct core *core, const struct task *task,
                                         uint32_t index)
{
    const struct shape *shape = query_task_shape(core, task->shape);
    const struct form *form = shape_form(shape);
    return form_grouped(form) ? &form_leaf(form, index)->request : &shape->request;
}

static task_id order_next(const struct oindex *order, struct okey after)
{
    struct okey key;
    if (!oindex_next(order, after, &key) || key.at[0] != after.at[0]) {
        return (task_id){0};
    }
    return (task_id){key.at[3]};
}

task_id query_queue_next(const struct core *core, pool_id pool, task_id after)
{
    struct okey key = {{pool.v, 0, 0, 0}};
    if (after.v != 0) {
        const struct task *task = query_task(core, after);
        if (task == NULL || task->pool.v != pool.v) {
            return (task_id){0};
        }
        key = key_queue(task);
    }
    return order_next(&core->orders[ORDER_QUEUE], key);
}

uint32_t query_queue_position(const struct core *core, task_id id, uint32_t max)
{
    const struct task *task = query_task(core, id);
    if (task == NULL || !task->queued) {
        return 0;
    }
    const struct oindex *queue = &core->orders[ORDER_QUEUE];
    struct okey key = key_queue(task);
    uint32_t position = 1;
    while (position < max && oindex_prev(queue, key, &key) && key.at[0] == task->pool.v) {
        position++;
    }
    return position;
}

uint64_t query_task_count(const struct core *core, enum task_state state)
{
    must((unsigned)state < TASK_STATE_COUNT);
    return core->task_counts[state];
}

enum task_state query_task_outcome(const struct core *core, task_id id)
{
    static const enum task_state outcomes[4] = {TASK_COMPLETED, TASK_FAILED, TASK_KILLED,
                                                TASK_UNKNOWN};
    if (id.v == 0 || id.v > core->tasks.last || query_task(core, id) != NULL) {
        return TASK_PENDING;
    }
    const struct outcome_row *row = table_get(&core->outcomes, id.v / OUTCOMES_PER_ROW + 1);
    return outcomes[row != NULL ? row->bits >> id.v % OUTCOMES_PER_ROW * 2 & 3 : 0];
}

/* ---- what is due ---- */

int64_t query_deadline(const struct core *core)
{
    int64_t earliest = INT64_MAX;
    uint64_t row = table_next(&core->keys, 0);
    if (row != 0) {
        earliest =
            ((const struct submit_key *)table_get(&core->keys, row))->time_ms + SUBMIT_KEY_MS;
    }
    struct okey key = {{0}};
    if (oindex_from(&core->orders[ORDER_DEADLINE], key, &key) && (int64_t)key.at[0] < earliest) {
        earliest = (int64_t)key.at[0];
    }
    return earliest;
}

int64_t task_overtaken_ms(const struct task *task)
{
    enum { PART_LIMITED = 8, PART_LEARNED = 2 };
    if (task == NULL || !task->by_length) {
        return 0;
    }
    return task->expect_ms / (task->time_limit_ms > 0 ? PART_LIMITED : PART_LEARNED);
}

bool pool_by_length(const struct pool *pool)
{
    return pool != NULL && pool->order == QUEUE_SHORT_FIRST && pool->policy != POLICY_FIFO;
}

bool pool_has_reserved(const struct pool *pool, task_id task)
{
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v == task.v) {
            return true;
        }
    }
    return false;
}

int64_t pool_patience_ms(const struct pool *pool)
{
    if (pool->blocked_task.v == 0 || pool_has_reserved(pool, pool->blocked_task)) {
        return INT64_MAX;
    }
    return i64_add(i64_add(pool->blocked_since_ms, pool->patience_ms), pool->blocked_more_ms);
}

bool query_pass_due(const struct core *core, int64_t now_ms, pool_id *ret)
{
    /* Every pool takes its turn: those behind the last one first. */
    const struct pool *first = NULL;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        bool patience_over = pool_patience_ms(pool) <= now_ms;
        bool wakes = pool->wake_ms != 0 && pool->wake_ms <= now_ms;
        if (!pool->due && !patience_over && !wakes) {
            continue;
        }
        if (pool->id.v > core->due_last.v) {
            *ret = pool->id;
            return true;
        }
        first = first != NULL ? first : pool;
    }
    if (first == NULL) {
        return false;
    }
    *ret = first->id;
    return true;
}
