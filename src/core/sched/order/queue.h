/* queue.h - the waiting tasks of one project in a pool, in order. Tasks that are equal for the scheduler form a lane. The queue
 * merges the lanes of the project and looks at the first task of each lane only.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/oindex.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/trail.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a pass has learned about a shape. The note holds for the tasks of all projects. */
struct shape_note {
    shape_id shape;
    uint32_t missed_from;  /* the smallest number of instances that found no place; 0: not known */
    uint32_t unmoved_from; /* the smallest number for which consolidation failed; 0: not known */
    bool unproven;         /* the search that missed did not look at everything */
    size_t left_at;        /* one instance found no room beside leaving ones, with so many decisions
                              in the trial, plus one; 0: not known */
    bool plain;            /* each task takes one instance at a time, and all are alike */
    bool amounts_known;    /* `amounts` and `plain` are known */
    struct vector amounts; /* of one instance, as turns_amounts() counts with SLOTS_MOST */
    struct trail trail;
};

/* The notes of a pass, by shape. */
struct shape_notes {
    struct arena *arena;
    struct shape_note **at; /* a hash table with open addressing; NULL: an unused entry */
    uint32_t room;
    uint32_t count;
};

/* The note of a shape. The function adds an empty note if the shape has none. */
struct shape_note *queue_notes_get(struct shape_notes *notes, shape_id shape);

/* One lane of the queue, and how far the pass has come with the lane's first task. */
struct lane {
    struct okey key;         /* the key of the first task in ORDER_ACCOUNT_QUEUE */
    struct shape_note *note; /* of the lane's shape */
    bool bounded;            /* the last search had to obey bounds of accounts on cpu or memory */
    bool alone;              /* a gang that grew in this pass: the lane has no other task */
    uint32_t index;          /* the first instance of the first task that may still get a place */
    uint32_t added;          /* instances of the first task that this pass has placed */
};

/* Lanes in a binary heap. The lane at[0] has the first task of the queue. The order is priority, stage of growth, rank, id.
 * With `by_rank` the order is rank, id. */
struct queue {
    const struct core *core;
    struct arena *arena;
    bool by_rank;
    struct lane *at;
    uint32_t count;
    uint32_t room;
};

/* Adds all lanes of one project to the queue. `*key` is the key of the project's first task in ORDER_ACCOUNT_QUEUE. On return
 * `*key` is the key of the first task of the pool's next project. False: the pool has no other project with waiting tasks.
 * queue_fill_walk() goes on with a walk that has just given `*key`. */
bool queue_fill(struct queue *queue, struct shape_notes *notes, struct okey *key);
bool queue_fill_walk(struct queue *queue, struct shape_notes *notes, struct oindex_walk *walk,
                     struct okey *key);

/* The first lane of the queue, and the first task of that lane. The queue must not be empty. */
struct lane *queue_lane(const struct queue *queue);
const struct task *queue_first(const struct queue *queue);

/* Is the task with key `a` ahead of the task with key `b`? Both are keys of ORDER_ACCOUNT_QUEUE. Their accounts do not count. */
bool queue_ahead(const struct okey *a, const struct okey *b, bool by_rank);

/* queue_advance() removes the first task and goes on with the next task of the lane. queue_drop() removes the whole first lane. */
void queue_advance(struct queue *queue);
void queue_drop(struct queue *queue);

/* The first task is a gang that grew by lane->added instances and has more instances to place. The function puts the task back
 * into the queue at the place that belongs to its new `stage` of growth. */
void queue_again(struct queue *queue, uint32_t stage);
