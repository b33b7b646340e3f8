/* state_codec_task.c - the tasks of a stored state with their instances.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/blob.h"
#include "core/state/depends.h"
#include "core/model/form_grow.h"
#include "core/state/gang.h"
#include "core/model/account.h"
#include "core/model/length.h"
#include "core/model/node.h"
#include "core/model/spec_codec.h"
#include "core/state/change.h"
#include "core/state/lengths.h"
#include "core/state/ports.h"
#include "core/state/state_codec.h"

/* The first number of a stored instance. An instance that waits for its first attempt is only INSTANCE_FRESH.
 * Any other instance is INSTANCE_STATE_FIRST + its state, then its fields. */
enum { INSTANCE_FRESH = 0, INSTANCE_STATE_FIRST = 1 };

/* How a task state is stored: STATE_DERIVED where it follows from the instances, else STATE_FIRST + the
 * state. */
enum { STATE_DERIVED = 0, STATE_FIRST = 1 };

#define INSTANCE_TIME(member, ...) STATE_TIME(struct instance, member, __VA_ARGS__)
static const struct record_field instance_fields[] = {
    STATE_ANY(struct instance, attempt),
    STATE_BELOW(struct instance, node, nodes),
    STATE_ANY(struct instance, incarnation),
    STATE_ANY(struct instance, devices),
    STATE_FIELD(struct instance, MILLI, slots_milli, 0, INT64_MAX),
    STATE_FIELD(struct instance, MILLI, cpu_milli, 0, INT64_MAX),
    STATE_FIELD(struct instance, MEMORY, memory_bytes, 0, INT64_MAX),
    INSTANCE_TIME(allocated_ms),
    INSTANCE_TIME(started_ms),
    INSTANCE_TIME(ended_ms),
    INSTANCE_TIME(stop_deadline_ms),
    STATE_ANY(struct instance, retries),
    STATE_FIELD(struct instance, INT, exit_code, INT32_MIN, INT32_MAX),
    STATE_FIELD(struct instance, UINT, cause, 0, END_CAUSE_COUNT - 1),
    STATE_YES(struct instance, workdir_missed, .since = STATE_VERSION_ACCOUNTS),
    INSTANCE_TIME(checkpoint_ms, .since = STATE_VERSION_CHECKPOINT),
    STATE_FIELD(struct instance, MS, cpu_ms, 0, INT64_MAX, .since = STATE_VERSION_GROWTH),
    STATE_FIELD(struct instance, MEMORY, memory_peak_bytes, 0, INT64_MAX,
                .since = STATE_VERSION_GROWTH),
    STATE_ANY(struct instance, losses, .since = STATE_VERSION_LOSSES),
    INSTANCE_TIME(losses_since_ms, .since = STATE_VERSION_LOSSES),
    STATE_ANY(struct instance, restarts, .since = STATE_VERSION_RESTARTS),
    STATE_FIELD(struct instance, UINT, master_port, 0, PORTS_MASTER_LAST,
                .since = STATE_VERSION_PORTS),
    STATE_FIELD(struct instance, UINT, health, 0, SERVICE_HEALTH_COUNT - 1,
                .since = STATE_VERSION_HEALTH),
};
static const struct record_table instance_table = RECORD_TABLE(struct instance, instance_fields);

static void instance_put(const struct instance *instance, struct buf *out)
{
    if (instance->state == INSTANCE_WAITING && instance->attempt == 0) {
        bytes_put_u64(out, INSTANCE_FRESH);
        return;
    }
    bytes_put_u64(out, INSTANCE_STATE_FIRST + (uint64_t)instance->state);
    record_write(&instance_table, instance, out);
}

static void instance_get(struct state_reader *r, struct instance *ret)
{
    const enum instance_state last =
        r->version < STATE_VERSION_ROLLOUTS ? INSTANCE_ENDED : INSTANCE_HELD;
    uint64_t form = bytes_get_max(&r->in, INSTANCE_STATE_FIRST + (uint64_t)last);
    if (form == INSTANCE_FRESH) {
        ret->state = INSTANCE_WAITING;
        return;
    }
    ret->state = (uint8_t)(form - INSTANCE_STATE_FIRST);
    state_codec_read(r, &instance_table, ret);
    if (ret->attempt == 0 && ret->state != INSTANCE_ENDED && ret->state != INSTANCE_HELD) {
        codec_bad(&r->in);
    }
}

/* Would change_node_allocate() succeed, without an overflow and without giving a device out twice? */
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
        wraps = wraps || (((instance->devices & ~node->devices_out) >> i & 1) != 0 &&
                          node->device_free[i] < each);
    }
    return !wraps;
}

static bool instance_hold(struct state_reader *r, const struct task *task,
                          const struct instance *instance)
{
    struct core *core = r->core;
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
    node->overhang = 1; /* an overhang is allowed here; closing finds out whether there is one */
    change_node_close(core, node, &before);
    change_usage_allocate(core, task, instance, 1);
    change_task_deadline_put(core, task, instance);
    return true;
}

/* Sets running_ms and ran_ms for versions that do not store them. running_ms is the earliest start of an
 * attempt that is active now. */
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
        task->unknown_count += instance_lost((enum end_cause)instance->cause);
        return;
    case INSTANCE_HELD:
        task->held_count++;
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

static bool instances_get(struct state_reader *r, struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && !r->in.bad; i++) {
        struct instance *instance = table_put(&r->core->instances, task->instance_first + i);
        instance->task = task->id;
        instance->index = i;
        instance_get(r, instance);
        if (r->in.bad) {
            return false;
        }
        instance_count(task, instance);
        if (r->version < STATE_VERSION_RAN) {
            spell_reckon(task, instance);
        }
        if (instance_active(instance) &&
            (task_state_ended(task->state) || !instance_hold(r, task, instance))) {
            return false;
        }
    }
    change_task_waiting_from(r->core, task, 0);
    if (task->running_ms > 0 && task->active_count == task->starting_count) {
        return false; /* running_ms is set, but no instance runs */
    }
    return !r->in.bad;
}

static void task_state_put(const void *object, struct buf *out)
{
    const struct task *task = object;
    const bool ended = task_state_ended(task->state);
    const bool stored = task->state == TASK_STAGED || task->pause_asked || ended;
    const enum task_state state = task->pause_asked && !ended ? TASK_PAUSED : task->state;
    bytes_put_u64(out, stored ? STATE_FIRST + (uint64_t)state : STATE_DERIVED);
}

static void task_state_get(struct bytes_reader *in, struct arena *arena, void *object)
{
    (void)arena;
    struct task *task = object;
    const uint64_t state = bytes_get_max(in, STATE_FIRST + (uint64_t)TASK_UNKNOWN);
    task->state = state == STATE_DERIVED ? TASK_PENDING : (uint8_t)(state - STATE_FIRST);
    task->pause_asked = task->state == TASK_PAUSED;
    if (state != STATE_DERIVED && task->state != TASK_STAGED && task->state != TASK_PAUSED &&
        !task_state_ended(task->state)) {
        codec_bad(in);
    }
}

#define TASK_FIELD(kind, member, least, most, ...)                                                 \
    STATE_FIELD(struct task, kind, member, least, most, __VA_ARGS__)
#define TASK_ANY(member, ...) STATE_ANY(struct task, member, __VA_ARGS__)
#define TASK_BELOW(member, rows, ...) STATE_BELOW(struct task, member, rows, __VA_ARGS__)
#define TASK_TIME(member, ...) STATE_TIME(struct task, member, __VA_ARGS__)
static const struct record_field task_fields[] = {
    TASK_BELOW(instance_first, instances),
    TASK_BELOW(pool, pools),
    TASK_BELOW(account, accounts, .since = STATE_VERSION_ACCOUNTS,
               .before = ACCOUNT_DEFAULT_PROJECT_NUMBER),
    TASK_BELOW(shape, shapes),
    TASK_FIELD(UINT, priority, PRIORITY_MIN, PRIORITY_MAX),
    TASK_FIELD(UINT, max_retries, 0, RETRIES_MAX),
    TASK_FIELD(INT, rank, -RANK_FRONT, STATE_ROW_MAX),
    TASK_TIME(submitted_ms),
    TASK_TIME(queued_ms),
    TASK_TIME(started_ms),
    TASK_TIME(ended_ms),
    TASK_TIME(evicted_ms, .since = STATE_VERSION_ACCOUNTS),
    TASK_TIME(stale_ms, .since = STATE_VERSION_STALE),
    TASK_TIME(running_ms, .since = STATE_VERSION_RAN),
    TASK_TIME(ran_ms, .since = STATE_VERSION_RAN),
    TASK_FIELD(MS, cpu_ms, 0, INT64_MAX, .since = STATE_VERSION_GROWTH),
    TASK_FIELD(MEMORY, memory_peak_bytes, 0, INT64_MAX, .since = STATE_VERSION_GROWTH),
    TASK_TIME(time_limit_ms),
    TASK_TIME(grace_ms),
    TASK_TIME(expect_ms, .since = STATE_VERSION_LENGTHS),
    TASK_FIELD(UINT, expect_from, 0, LENGTH_SOURCE_COUNT - 1, .since = STATE_VERSION_LENGTHS),
    TASK_ANY(retries),
    TASK_ANY(lost_count),
    TASK_ANY(preempted_count),
    TASK_FIELD(INT, exit_code, INT32_MIN, INT32_MAX),
    TASK_FIELD(BOOL, kill_asked, 0, 1),
    {.type = RECORD_OWN, .put = task_state_put, .get = task_state_get},
    TASK_FIELD(UINT, cause, 0, END_CAUSE_COUNT - 1),
    TASK_BELOW(pool_next, pools, .since = STATE_VERSION_ACCOUNTS),
    TASK_ANY(depends_met, .since = STATE_VERSION_ACCOUNTS),
    TASK_TIME(safe_ms, .since = STATE_VERSION_TURNS),
    TASK_FIELD(UINT, releases, 0, TASK_RELEASES_MAX, .since = STATE_VERSION_TURNS),
    TASK_FIELD(BOOL, overtaken, 0, 1, .since = STATE_VERSION_TURNS),
    TASK_TIME(hold_until_ms, .since = STATE_VERSION_LOSSES),
    TASK_ANY(losses, .since = STATE_VERSION_LOSSES),
    TASK_FIELD(BOOL, turned_away, 0, 1, .since = STATE_VERSION_POOLS),
    TASK_ANY(restarts, .since = STATE_VERSION_RESTARTS),
    TASK_BELOW(origin, tasks, .since = STATE_VERSION_ROLLOUTS),
};
static const struct record_table task_table = RECORD_TABLE(struct task, task_fields);

static void task_put(const struct core *core, const void *row, struct buf *out)
{
    const struct task *task = row;
    bytes_put_str(out, blob_bytes(task->spec));
    record_write(&task_table, task, out);
    for (uint32_t i = 0; i < task->instance_count; i++) {
        instance_put(query_instance_row(core, task->instance_first + i), out);
    }
}

/* Finds the dependencies that still bind the task. In version 1 every dependency that had not completed still
 * bound the task. */
static bool depends_get(struct state_reader *r, struct task *task, const struct task_spec *spec)
{
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        uint64_t dependency = spec->depends_on[i];
        const struct task *other = query_task(r->core, (task_id){dependency});
        if (dependency == 0 || dependency >= task->id.v) {
            return false;
        }
        bool met = other == NULL || other->state == TASK_COMPLETED ||
                   task_state_ended(task->state) || depends_twice(spec, i);
        if (r->version == STATE_VERSION_FIRST) {
            task->depends_met |= (uint64_t)met << i;
        }
        if ((task->depends_met >> i & 1) != 0) {
            continue;
        }
        if (other == NULL || task_state_ended(task->state)) {
            return false;
        }
        must(oindex_insert(&r->core->orders[ORDER_DEPENDENT], key_depends(task->id, spec, i)));
        task->depends_left++;
    }
    return spec->depends_count == TASK_DEPENDS_MAX || task->depends_met >> spec->depends_count == 0;
}

/* Do the members of a task agree with each other? */
static bool task_sound(const struct task *task)
{
    if (task_state_ended(task->state)) {
        return task->active_count == 0 && task->waiting_count == 0 && task->held_count == 0 &&
               task->pool_next.v == 0 && task->hold_until_ms == 0;
    }
    if (task->kill_asked && task->waiting_count + task->held_count > 0) {
        return false;
    }
    if ((task->stale_ms > 0) != (task_gang_may_wait(task) && task_gang_broken(task))) {
        return false;
    }
    if (task->pool_next.v != 0 && (task->active_count == 0 || task->pool_next.v == task->pool.v)) {
        return false;
    }
    if ((task->overtaken && task->active_count == 0) ||
        (task->hold_until_ms > 0 && task->waiting_count == 0)) {
        return false;
    }
    return task->state != TASK_STAGED || task->active_count == 0;
}

/* Reads the blob of a task, and sets the members of the row that repeat it. */
static bool task_spec_get(struct state_reader *r, struct task *task, struct task_spec *ret)
{
    struct str bytes =
        bytes_get_str(&r->in, r->in.plain ? TASK_SPEC_BYTES_MAX : TASK_SPEC_STORED_MAX);
    struct bytes_reader in;
    bytes_reader_init(&in, bytes.p, bytes.len);
    in.plain = r->in.plain;
    spec_codec_task_decode(&in, &r->arena, ret);
    if (!bytes_reader_ok(&in)) {
        return false;
    }
    change_task_spec_set(r->core, task, ret,
                         (struct str){0}); /* the blob in the form of the newest version */
    task->instance_count = ret->instances;
    task->min_count = ret->gang && ret->min_instances > 0 ? ret->min_instances : ret->instances;
    return true;
}

/* Do row and blob agree? Before STATE_VERSION_GROWTH an edit changed the row alone: for such a state the blob
 * is updated from the row. */
static bool edits_settled(const struct state_reader *r, struct task *task, struct task_spec *spec)
{
    if (spec->priority == task->priority && spec->max_retries == task->max_retries &&
        spec->time_limit_ms == task->time_limit_ms && spec->grace_ms == task->grace_ms) {
        return true;
    }
    spec->priority = task->priority;
    spec->max_retries = task->max_retries;
    spec->time_limit_ms = task->time_limit_ms;
    spec->grace_ms = task->grace_ms;
    change_task_spec_set(r->core, task, spec, (struct str){0});
    return r->version < STATE_VERSION_GROWTH;
}

static bool task_get(struct state_reader *r, uint64_t id, const void *read)
{
    (void)read; /* the spec comes before the fields */
    struct core *core = r->core;
    struct task *task = table_put(&core->tasks, id);
    struct task_spec spec;
    task->id.v = id;
    if (!task_spec_get(r, task, &spec)) {
        return false;
    }
    state_codec_read(r, &task_table, task);
    if (task->instance_first <= r->instance_end || !edits_settled(r, task, &spec)) {
        return false;
    }
    r->instance_end = task->instance_first + task->instance_count - 1;
    struct shape *shape = table_edit(&core->shapes, task->shape.v);
    /* The project of an ended task may have been deleted. */
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
    if (r->in.bad || r->instance_end > r->head.instances.last || shape == NULL ||
        shape->pool.v != task->pool.v || shape->gang_size != task_gang_size(task) ||
        !instances_get(r, task) || !depends_get(r, task, &spec)) {
        return false;
    }
    gang_count(core, task);
    if (!task_sound(task)) {
        return false;
    }
    shape->task_count++;
    if (r->version < STATE_VERSION_LENGTHS) {
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
    return true;
}

static bool ports_fit(const struct core *core)
{
    bool fit = true;
    for (uint64_t id = table_next(&core->nodes, 0); id != 0 && fit;
         id = table_next(&core->nodes, id)) {
        fit = ports_sound(core, (node_id){(uint32_t)id});
    }
    return fit;
}

static bool tasks_end(struct state_reader *r)
{
    r->core->instances.last = r->head.instances.last;
    if (r->version < STATE_VERSION_POOLS && !state_codec_shapes_used(r)) {
        return false;
    }
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        if (task_state_ended((enum task_state)state)) {
            r->core->task_counts[state] = r->head.task_counts[state];
        }
    }
    return ports_fit(r->core);
}

const struct state_section state_codec_task = {"tasks", STATE_ROWS(tasks, tasks), .put = task_put,
                                               .get = task_get, .end = tasks_end};
