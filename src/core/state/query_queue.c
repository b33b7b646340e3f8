/* query_queue.c - the waiting tasks of a pool in order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/oindex.h"
#include "core/model/task.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

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
        const struct task *task = query_task_in(core, pool, after);
        if (task == NULL || task->pool.v != pool.v) {
            return (task_id){0};
        }
        key = key_queue(task);
    }
    return order_next(&core->orders[ORDER_QUEUE], key);
}

struct queue_place query_queue_place(const struct task *task)
{
    const struct okey key = key_queue(task);
    return (struct queue_place){{key.at[1], key.at[2], key.at[3]}};
}

task_id query_queue_behind(const struct core *core, pool_id pool, struct queue_place place)
{
    const struct okey key = {{pool.v, place.at[0], place.at[1], place.at[2]}};
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
