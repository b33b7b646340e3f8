/* queue.h - the waiting tasks of a pool by shape, and in one order over all shapes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/core.h"
#include "core/model/oindex.h"
#include "core/sched/overlay.h"

/* The next shape of the pool after `after` (0: from the first) for which tasks wait; *ret_head is
 * the key of its first task in ORDER_SHAPE. 0: there is no other. */
shape_id queue_shape(const struct core *core, pool_id pool, shape_id after, struct okey *ret_head);

/* One shape in the merge. */
struct queue_shape {
    struct okey key; /* of its first task, in ORDER_SHAPE */
    struct trail trail;
};

/* A merge of the shapes' queues: at[0] has the first task in the pool's order (a binary heap). */
struct queue {
    const struct core *core;
    struct queue_shape *at; /* one for each shape still in it */
    uint32_t count;
};

void queue_init(struct queue *queue, const struct core *core, pool_id pool, struct arena *arena);

/* The first task; NULL: the queue is empty. */
const struct task *queue_first(const struct queue *queue);

/* Go on behind the first task with the next of its shape, or without this shape. */
void queue_advance(struct queue *queue);
void queue_drop_shape(struct queue *queue);
