/* queue.h - the waiting tasks of one account in a pool, in order: lanes of tasks that are equal to the scheduler, merged.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/ids.h"
#include "core/model/oindex.h"
#include "core/model/task.h"
#include "core/sched/order/trail.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stdint.h>

/* What a pass has learned of a shape, for all accounts. */
struct shape_note {
    shape_id shape;
    uint32_t missed_from; /* so many and more found no place; 0: not known */
    bool unproven;        /* the search was not complete: it might find one when less is free */
    struct trail trail;
};

/* The notes of a pass, by shape. */
struct shape_notes {
    struct arena *arena;
    struct shape_note **at; /* open addressing; NULL: free */
    uint32_t room;
    uint32_t count;
};

struct shape_note *queue_notes_get(struct shape_notes *notes, shape_id shape);

/* One lane in the merge, and how far the pass has come with its first task. */
struct lane {
    struct okey key; /* of its first task, in ORDER_ACCOUNT_QUEUE */
    struct shape_note *note;
    bool bounded;   /* what its accounts may still have of cpu or memory bounds its search */
    bool alone;     /* a gang that has grown in this pass: nobody stands behind it */
    uint32_t index; /* of the first task: instances before it are not to be placed any more */
    uint32_t added; /* instances of it placed in this pass */
};

/* A merge of lanes: at[0] has the first task (a binary heap). Order: priority, how far a gang has grown, rank, id; with
 * `by_rank`: rank, id. */
struct queue {
    const struct core *core;
    struct arena *arena;
    bool by_rank;
    struct lane *at;
    uint32_t count;
    uint32_t room;
};

/* The lanes of the pool's accounts lie one behind the other in ORDER_ACCOUNT_QUEUE: adds those of one account, whose first task
 * has *key; leaves there the key of the first task of the next account. False: there is none. */
bool queue_fill(struct queue *queue, struct shape_notes *notes, struct okey *key);

/* The first lane; its task. The queue must not be empty. */
struct lane *queue_lane(const struct queue *queue);
const struct task *queue_first(const struct queue *queue);

/* Is the task at `a` ahead of the one at `b`? Keys as in ORDER_ACCOUNT_QUEUE; the accounts have no say. */
bool queue_ahead(const struct okey *a, const struct okey *b, bool by_rank);

/* Go on behind the first task with the next of its lane, or without this lane. */
void queue_advance(struct queue *queue);
void queue_drop(struct queue *queue);

/* The first task, a gang, has grown by what lane->added says and has more to place: it stands again where it belongs. */
void queue_again(struct queue *queue, uint32_t stage);
