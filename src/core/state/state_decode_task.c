/* state_decode_task.c - the tasks of a stored state, with their instances.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/account.h"
#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/form_grow.h"
#include "core/model/instance.h"
#include "core/model/length.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/depends.h"
#include "core/state/gang.h"
#include "core/state/key.h"
#include "core/state/lengths.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/state_codec.h"
#include "core/state/state_decode.h"

static void instance_get(struct decode *d, struct instance *ret)
{
    uint64_t form = bytes_get_max(&d->in, INSTANCE_STATE_FIRST + (uint64_t)INSTANCE_ENDED);
    if (form == INSTANCE_FRESH) {
        ret->state = INSTANCE_WAITING;
        return;
    }
    ret->state = (uint8_t)(form - INSTANCE_STATE_FIRST);
    ret->attempt = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    ret->node.v = (uint32_t)bytes_get_max(&d->in, d->core->nodes.last);
    ret->incarnation = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    ret->devices = bytes_get_u64(&d->in);
    ret->slots_milli = codec_get_range(&d->in, 0, INT64_MAX);
    ret->cpu_milli = codec_get_range(&d->in, 0, INT64_MAX);
    ret->memory_bytes = codec_get_range(&d->in, 0, INT64_MAX);
    ret->allocated_ms = state_decode_time(d);
    ret->started_ms = state_decode_time(d);
    ret->ended_ms = state_decode_time(d);
    ret->stop_deadline_ms = state_decode_time(d);
    ret->retries = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    ret->exit_code = (int32_t)codec_get_range(&d->in, INT32_MIN, INT32_MAX);
    ret->cause = (uint8_t)bytes_get_max(&d->in, END_CAUSE_COUNT - 1);
    if (d->version > STATE_VERSION_FIRST) {
        ret->workdir_missed = codec_get_bool(&d->in);
    }
    ret->checkpoint_ms = d->version >= STATE_VERSION_CHECKPOINT ? state_decode_time(d) : 0;
    if (ret->attempt == 0 && ret->state != INSTANCE_ENDED) {
        codec_bad(&d->in);
    }
}

/* Would change_node_allocate() go through without a wrap or a device given out twice? */
static bool node_can_hold(const struct node *node, const struct instance *instance,
                          const struct request *request)
{
    int64_t sum;
    bool wraps = __builtin_sub_overflow(node->slots_free, instance->slots_milli, &sum) ||
                 __builtin_sub_overflow(node->cpu_free, instance->cpu_milli, &sum) ||
                 __builtin_sub_overflow(node->memory_free, instance->memory_bytes, &sum) ||
                 node->instance_count == UINT32_MAX;
    for (uint32_t i = 0; i < request->named_count; i++) {
        int64_t free = node_named_free(node, request->named[i].resource);
        wraps = wraps || __builtin_sub_overflow(free, request->named[i].milli, &sum);
    }
    int64_t each = device_share(instance->slots_milli, instance->devices);
    for (uint32_t i = 0; i < node->device_count; i++) {
        wraps = wraps || ((instance->devices >> i & 1) != 0 && node->device_free[i] < each);
    }
    return !wraps;
}

static bool instance_hold(struct decode *d, const struct task *task,
                          const struct instance *instance)
{
    struct core *core = d->core;
    const struct request *request = query_task_request(core, task, instance->index);
    const struct node *found = query_node(core, instance->node);
    if (found == NULL || found->state == NODE_REMOVED || found->pool.v != task->pool.v ||
        found->incarnation != instance->incarnation || !node_can_hold(found, instance, request)) {
        return false;
    }
    must(oindex_insert(&core->orders[ORDER_ON_NODE],
                       (struct okey){{found->id.v, task->id.v, instance->index,
                                      task->instance_first + instance->index}}));
    struct node before;
    struct node *node = change_node_open(core, found->id, &before);
    change_node_allocate(node, instance, request);
    node->overhang = 1; /* may be; closing looks */
    change_node_close(core, node, &before);
    change_usage_allocate(core, task, instance, 1);
    change_task_deadline_put(core, task, instance);
    return true;
}

/* Versions that do not say since when a task runs: since the first of its present attempts. */
static void spell_reckon(struct task *task, const struct instance *instance)
{
    const bool runs = instance->state == INSTANCE_RUNNING || instance->state == INSTANCE_STOPPING;
    const bool earlier = task->running_ms == 0 || instance->started_ms < task->running_ms;
    if (runs && instance->started_ms > 0 && earlier) {
        task->running_ms = instance->started_ms;
    }
    const bool whole = task_state_ended(task->state) && task->started_ms > 0;
    task->ran_ms =
        whole && task->ended_ms > task->started_ms ? task->ended_ms - task->started_ms : 0;
}

static void instance_count(struct task *task, const struct instance *instance)
{
    switch ((enum instance_state)instance->state) {
    case INSTANCE_WAITING:
        task->waiting_count++;
        return;
    case INSTANCE_ENDED:
        task->ended_count++;
        task->failed_count += instance_failed(instance->cause, instance->exit_code);
        task->unknown_count +=
            instance->cause == END_NODE_LOST || instance->cause == END_NODE_REMOVED;
        return;
    case INSTANCE_STARTING:
        task->starting_count++;
        break;
    case INSTANCE_STOPPING:
        task->stopping_count++;
        break;
    case INSTANCE_RUNNING:
        break;
    }
    task->active_count++;
}

static bool instances_get(struct decode *d, struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && !d->in.bad; i++) {
        struct instance *instance = table_put(&d->core->instances, task->instance_first + i);
        instance->task = task->id;
        instance->index = i;
        instance_get(d, instance);
        if (d->in.bad) {
            return false;
        }
        instance_count(task, instance);
        if (d->version < STATE_VERSION_RAN) {
            spell_reckon(task, instance);
        }
        if (instance_active(instance) &&
            (task_state_ended(task->state) || !instance_hold(d, task, instance))) {
            return false;
        }
    }
    change_task_waiting_from(d->core, task, 0);
    if (task->running_ms > 0 && task->active_count == task->starting_count) {
        return false; /* nothing runs */
    }
    return !d->in.bad;
}

static void task_fields_get(struct decode *d, struct task *task, uint64_t pools)
{
    task->priority = (uint32_t)bytes_get_max(&d->in, PRIORITY_MAX);
    task->max_retries = (uint32_t)bytes_get_max(&d->in, RETRIES_MAX);
    task->rank = codec_get_range(&d->in, -RANK_FRONT, (int64_t)ROW_MAX);
    task->submitted_ms = state_decode_time(d);
    task->queued_ms = state_decode_time(d);
    task->started_ms = state_decode_time(d);
    task->ended_ms = state_decode_time(d);
    task->evicted_ms = d->version > STATE_VERSION_FIRST ? state_decode_time(d) : 0;
    task->stale_ms = d->version >= STATE_VERSION_STALE ? state_decode_time(d) : 0;
    task->running_ms = d->version >= STATE_VERSION_RAN ? state_decode_time(d) : 0;
    task->ran_ms = d->version >= STATE_VERSION_RAN ? state_decode_time(d) : 0;
    task->time_limit_ms = state_decode_time(d);
    task->grace_ms = state_decode_time(d);
    if (d->version >= STATE_VERSION_LENGTHS) {
        task->expect_ms = state_decode_time(d);
        task->expect_from = (uint8_t)bytes_get_max(&d->in, LENGTH_SOURCE_COUNT - 1);
    }
    task->retries = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    task->lost_count = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    task->preempted_count = (uint32_t)bytes_get_max(&d->in, UINT32_MAX);
    task->exit_code = (int32_t)codec_get_range(&d->in, INT32_MIN, INT32_MAX);
    task->kill_asked = (uint32_t)bytes_get_max(&d->in, 1);
    uint64_t state = bytes_get_max(&d->in, STATE_FIRST + (uint64_t)TASK_UNKNOWN);
    task->state = state == STATE_DERIVED ? TASK_PENDING : (uint8_t)(state - STATE_FIRST);
    task->cause = (uint8_t)bytes_get_max(&d->in, END_CAUSE_COUNT - 1);
    task->pause_asked = task->state == TASK_PAUSED;
    if (d->version > STATE_VERSION_FIRST) {
        task->pool_next.v = (uint32_t)bytes_get_max(&d->in, pools);
        task->depends_met = bytes_get_u64(&d->in);
    }
    if (task->priority < PRIORITY_MIN ||
        (state != STATE_DERIVED && task->state != TASK_STAGED && task->state != TASK_PAUSED &&
         !task_state_ended(task->state))) {
        codec_bad(&d->in);
    }
}

/* What still binds it. In version 1 that was all that had not completed. */
static bool depends_get(struct decode *d, struct task *task, const struct task_spec *spec)
{
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        uint64_t dependency = spec->depends_on[i];
        const struct task *other = query_task(d->core, (task_id){dependency});
        if (dependency == 0 || dependency >= task->id.v) {
            return false;
        }
        bool met = other == NULL || other->state == TASK_COMPLETED ||
                   task_state_ended(task->state) || depends_twice(spec, i);
        if (d->version == STATE_VERSION_FIRST) {
            task->depends_met |= (uint64_t)met << i;
        }
        if ((task->depends_met >> i & 1) != 0) {
            continue;
        }
        if (other == NULL || task_state_ended(task->state)) {
            return false;
        }
        must(oindex_insert(&d->core->orders[ORDER_DEPENDENT], key_depends(task->id, spec, i)));
        task->depends_left++;
    }
    return spec->depends_count == TASK_DEPENDS_MAX || task->depends_met >> spec->depends_count == 0;
}

/* Together: what the parts of a row must be to each other. */
static bool task_sound(const struct task *task)
{
    if (task_state_ended(task->state)) {
        return task->active_count == 0 && task->waiting_count == 0 && task->pool_next.v == 0;
    }
    if (task->kill_asked && task->waiting_count > 0) {
        return false;
    }
    if ((task->stale_ms > 0) != (task_gang_may_wait(task) && task_gang_broken(task))) {
        return false;
    }
    if (task->pool_next.v != 0 && (task->active_count == 0 || task->pool_next.v == task->pool.v)) {
        return false;
    }
    return task->state != TASK_STAGED || task->active_count == 0;
}

/* The blob, and what of the row is in it. */
static bool task_spec_get(struct decode *d, struct task *task, struct task_spec *ret)
{
    struct str bytes =
        bytes_get_str(&d->in, d->in.plain ? TASK_SPEC_BYTES_MAX : TASK_SPEC_STORED_MAX);
    struct bytes_reader in;
    bytes_reader_init(&in, bytes.p, bytes.len);
    in.plain = d->in.plain;
    spec_codec_task_decode(&in, &d->arena, ret);
    if (!bytes_reader_ok(&in)) {
        return false;
    }
    change_task_spec_set(task, ret); /* as it is written now */
    task->instance_count = ret->instances;
    task->array_first = ret->array_first;
    task->kind = (uint8_t)ret->kind;
    task->gang = ret->gang;
    task->min_count = ret->gang && ret->min_instances > 0 ? ret->min_instances : ret->instances;
    task->preemptible = ret->preemptible;
    task->repeatable = ret->repeatable;
    change_task_own_set(task, ret);
    return true;
}

static bool task_get(struct decode *d, const struct lasts *lasts, uint64_t id)
{
    struct core *core = d->core;
    struct task *task = table_put(&core->tasks, id);
    struct task_spec spec;
    task->id.v = id;
    if (!task_spec_get(d, task, &spec)) {
        return false;
    }
    task->instance_first = state_decode_row(d, d->instance_end, lasts->instances);
    d->instance_end = task->instance_first + task->instance_count - 1;
    task->pool.v = (uint32_t)bytes_get_max(&d->in, lasts->pools);
    task->account = ACCOUNT_DEFAULT_PROJECT;
    if (d->version > STATE_VERSION_FIRST) {
        task->account.v = (uint32_t)bytes_get_max(&d->in, lasts->accounts);
    }
    task->shape.v = (uint32_t)bytes_get_max(&d->in, lasts->shapes);
    task_fields_get(d, task, lasts->pools);
    struct shape *shape = table_edit(&core->shapes, task->shape.v);
    /* The project of an ended task may be gone. */
    const struct account *project = query_account(core, task->account);
    bool paid =
        task_state_ended(task->state) || (project != NULL && project->kind == ACCOUNT_PROJECT);
    if (!paid || core->instances.count + task->instance_count > PENDING_TASKS_MAX ||
        (shape != NULL && !form_fits(shape_form(shape), &spec))) {
        return false;
    }
    if (shape != NULL && form_grouped(shape_form(shape))) {
        task->min_count = shape->gang_size;
        task->by_groups = form_grow_elastic(shape_form(shape));
    }
    task->user = change_user_take(core, spec.user);
    if (d->in.bad || d->instance_end > lasts->instances || shape == NULL ||
        shape->pool.v != task->pool.v || shape->gang_size != task_gang_size(task) ||
        !instances_get(d, task) || !depends_get(d, task, &spec)) {
        return false;
    }
    gang_count(core, task);
    if (!task_sound(task)) {
        return false;
    }
    shape->task_count++;
    if (d->version < STATE_VERSION_LENGTHS) {
        lengths_expect(core, task);
    }
    if (!task_state_ended(task->state)) {
        change_pool_edit(core, task->pool)->task_count++;
        change_account_count(core, task->account, 1);
    } else {
        must(oindex_insert(&core->orders[ORDER_DEADLINE], key_settle(task)));
    }
    struct task_mark mark;
    change_task_mark_new(core, task, &mark);
    change_task_close(core, task, &mark);
    arena_clear(&d->arena);
    return true;
}

bool state_decode_task(struct decode *d, const struct lasts *lasts)
{
    uint64_t id = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, lasts->tasks);
        if (d->in.bad || !task_get(d, lasts, id)) {
            return false;
        }
    }
    d->core->tasks.last = lasts->tasks;
    d->core->instances.last = lasts->instances;
    for (uint64_t shape = table_next(&d->core->shapes, 0); shape != 0;
         shape = table_next(&d->core->shapes, shape)) {
        if (query_task_shape(d->core, (shape_id){(uint32_t)shape})->task_count == 0) {
            return false;
        }
    }
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        if (task_state_ended((enum task_state)state)) {
            d->core->task_counts[state] = lasts->ended[state];
        }
    }
    return !d->in.bad;
}
