/* queue.c - merges the queues of a pool's shapes by priority (high first), rank, id.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/queue.h"

#include "base/must.h"
#include "core/core_internal.h"

shape_id queue_shape(const struct core *core, pool_id pool, shape_id after, struct okey *ret_head)
{
    const struct okey from = {{SHAPE_KEY(pool, after) + 1, 0, 0, 0}};
    struct okey key;
    if (!oindex_from(&core->orders[ORDER_SHAPE], from, &key) || key.at[0] >> 32 != pool.v) {
        return (shape_id){0};
    }
    *ret_head = key;
    return (shape_id){(uint32_t)key.at[0]};
}

/* Does task `a` come before task `b`? The first number is the shape and has no say. */
static bool before(const struct queue_shape *a, const struct queue_shape *b)
{
    for (int i = 1; i < 4; i++) {
        if (a->key.at[i] != b->key.at[i]) {
            return a->key.at[i] < b->key.at[i];
        }
    }
    return false;
}

static void sink(struct queue *queue, uint32_t from)
{
    uint32_t at = from;
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < queue->count; child++) {
            least = before(&queue->at[child], &queue->at[least]) ? child : least;
        }
        if (least == at) {
            return;
        }
        const struct queue_shape moved = queue->at[at];
        queue->at[at] = queue->at[least];
        queue->at[least] = moved;
        at = least;
    }
}

void queue_init(struct queue *queue, const struct core *core, pool_id pool, struct arena *arena)
{
    *queue = (struct queue){.core = core};
    struct okey head;
    uint32_t room = 0;
    for (shape_id at = queue_shape(core, pool, (shape_id){0}, &head); at.v != 0;
         at = queue_shape(core, pool, at, &head)) {
        if (queue->count == room) {
            room = room == 0 ? 32 : room * 2;
            struct queue_shape *grown = arena_new(arena, struct queue_shape, room);
            for (uint32_t i = 0; i < queue->count; i++) {
                grown[i] = queue->at[i];
            }
            queue->at = grown;
        }
        queue->at[queue->count++] = (struct queue_shape){.key = head};
    }
    for (uint32_t i = queue->count / 2; i > 0; i--) {
        sink(queue, i - 1);
    }
}

const struct task *queue_first(const struct queue *queue)
{
    if (queue->count == 0) {
        return NULL;
    }
    const struct task *task = core_task(queue->core, (task_id){queue->at[0].key.at[3]});
    must(task != NULL);
    must(task->waiting_count > 0);
    return task;
}

void queue_drop_shape(struct queue *queue)
{
    must(queue->count > 0);
    queue->at[0] = queue->at[--queue->count];
    sink(queue, 0);
}

void queue_advance(struct queue *queue)
{
    must(queue->count > 0);
    struct okey next;
    if (!oindex_next(&queue->core->orders[ORDER_SHAPE], queue->at[0].key, &next) ||
        next.at[0] != queue->at[0].key.at[0]) {
        queue_drop_shape(queue);
        return;
    }
    queue->at[0].key = next;
    sink(queue, 0);
}
