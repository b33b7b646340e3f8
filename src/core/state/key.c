/* key.c - the keys of rows in the orders of the state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/key.h"

#include "base/hash.h"
#include "core/model/instance.h"
#include "core/model/spec.h"
#include "core/state/lengths.h"

#include <string.h>

struct okey key_hold(task_id task, int64_t until_ms)
{
    return (struct okey){{(uint64_t)until_ms, DEADLINE_HOLD, task.v, 0}};
}

struct okey key_depends(task_id task, const struct task_spec *spec, uint32_t i)
{
    uint64_t kind = (spec->depends_any >> i & 1) != 0 ? DEPENDS_ANY : DEPENDS_SUCCESS;
    return (struct okey){{spec->depends_on[i], kind, task.v, i}};
}

struct okey key_rollout(const struct rollout *row, task_id id)
{
    return (struct okey){{(uint64_t)row->until_ms, DEADLINE_ROLLOUT, id.v, 0}};
}

struct okey key_settle(const struct task *task)
{
    return (struct okey){{(uint64_t)task->ended_ms, DEADLINE_SETTLE, task->id.v, 0}};
}

bool key_successor(const struct task *task, struct okey *ret)
{
    *ret = (struct okey){{task->origin.v, ~task->id.v}};
    return task->origin.v != 0 && !task_state_ended((enum task_state)task->state);
}

bool key_service(const struct task *task, struct okey *ret)
{
    *ret = (struct okey){{task->account.v, task->service_hash, ~task->id.v}};
    return task->kind == TASK_SERVICE && !task_state_ended(task->state);
}

bool key_checked(const struct task *task, struct okey *ret)
{
    *ret = (struct okey){{task->id.v}};
    return task->checked && task->active_count > 0;
}

struct okey key_queue(const struct task *task)
{
    return (struct okey){
        {task->pool.v, PRIORITY_KEY(task->priority), RANK_KEY(task->rank), task->id.v}};
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static uint64_t length_key(const struct task *task)
{
    const int64_t expect_ms = task->expect_ms > 0 ? task->expect_ms : LENGTH_UNKNOWN_MS;
    const bool limited = task->time_limit_ms > 0;
    const uint64_t step =
        (limited ? lengths_step(expect_ms) : lengths_class(expect_ms)) + LENGTH_STEP_FRONT;
    return LENGTH_KEY(task->reserved ? 0 : task->rank < 0 ? LENGTH_STEP_FRONT : step, task->rank);
}

struct okey key_account_queue(const struct task *task)
{
    return (struct okey){
        {ACCOUNT_KEY(task->pool, task->account),
         LANE_KEY(task->shape, !task->preemptible, task_stage(task), task->priority),
         task->by_length ? length_key(task) : RANK_KEY(task->rank), task->id.v}};
}

struct okey key_account_running(const struct task *task)
{
    return (struct okey){{ACCOUNT_KEY(task->pool, task->account), PRIORITY_KEY(task->priority),
                          RANK_KEY(task->rank), task->id.v}};
}

struct okey key_node_size(const struct node *node)
{
    return (struct okey){{node->pool.v, ~(uint64_t)node->slots_milli, node->id.v, 0}};
}

/* The part of LOSS_KEY that says what the instance holds, and for a gang how large the gang is. */
static uint64_t loss_class(const struct task *task, const struct instance *instance)
{
    const bool slots = instance->slots_milli > 0;
    const int64_t held = slots ? instance->slots_milli : instance->cpu_milli;
    if (!task->gang) {
        return (slots ? LOSS_SLOTS : LOSS_CPU) + (uint64_t)least(held, LOSS_HELD_MAX);
    }
    uint32_t size = 0;
    while ((uint64_t)1 << size < task->instance_count) {
        size++;
    }
    return LOSS_GANG(task->min_count == task->instance_count, slots,
                     least(held, LOSS_GANG_HELD_MAX), size);
}

struct okey key_account_loss(const struct task *task, const struct instance *instance)
{
    const uint64_t class = loss_class(task, instance);
    return (struct okey){{ACCOUNT_KEY(task->pool, task->account),
                          LOSS_KEY(task->priority, !task->preemptible, class),
                          ~(uint64_t)instance_unsaved_ms(instance),
                          ~(task->instance_first + instance->index)}};
}

struct okey key_account_begun(const struct task *task, const struct instance *instance)
{
    return (struct okey){{ACCOUNT_KEY(task->pool, task->account), (uint64_t)instance->allocated_ms,
                          task->instance_first + instance->index, 0}};
}

uint64_t key_name_hash(const char *name)
{
    return hash_bytes(name, strlen(name));
}

static uint64_t key_half(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

struct okey key_submit(const uint8_t *key, uint64_t row)
{
    return (struct okey){{key_half(key), key_half(key + 8), row, 0}};
}

/* A change of the state is due at once. */
struct okey key_life(pool_id pool)
{
    return (struct okey){{0, DEADLINE_LIFE, pool.v, 0}};
}

struct okey key_delete(pool_id pool, int64_t at_ms)
{
    return (struct okey){{(uint64_t)at_ms, DEADLINE_DELETE, pool.v, 0}};
}
