/* queue.c - the lanes of a project, merged in a binary heap, and the notes of what a pass has learned about each shape.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/queue.h"

#include "base/hash.h"
#include "base/heap.h"
#include "base/must.h"
#include "core/state/key.h"
#include "core/state/query.h"

enum { LANES_FIRST = 2, NOTES_FIRST = 32, LANE_STAGE_MASK = 3, LANE_STEPS_MAX = 8 };

/* ---- notes ---- */

static uint32_t note_index(const struct shape_notes *notes, shape_id shape)
{
    uint32_t at = (uint32_t)hash_u64(shape.v) & (notes->room - 1);
    while (notes->at[at] != NULL && notes->at[at]->shape.v != shape.v) {
        at = (at + 1) & (notes->room - 1);
    }
    return at;
}

static void notes_grow(struct shape_notes *notes)
{
    struct shape_note **old = notes->at;
    const uint32_t old_room = notes->room;
    notes->room = old_room == 0 ? NOTES_FIRST : old_room * 2;
    must((notes->room & (notes->room - 1)) == 0); /* note_index() masks with room - 1 */
    notes->at = arena_new(notes->arena, struct shape_note *, notes->room);
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i] != NULL) {
            notes->at[note_index(notes, old[i]->shape)] = old[i];
        }
    }
}

struct shape_note *queue_notes_get(struct shape_notes *notes, shape_id shape)
{
    if ((notes->count + 1) * 2 > notes->room) {
        notes_grow(notes);
    }
    const uint32_t at = note_index(notes, shape);
    if (notes->at[at] == NULL) {
        notes->at[at] = arena_new(notes->arena, struct shape_note, 1);
        notes->at[at]->shape = shape;
        notes->count++;
        must(notes->count < notes->room); /* an unused entry ends every search of note_index() */
    }
    return notes->at[at];
}

/* ---- the merge ---- */

bool queue_ahead(const struct okey *a, const struct okey *b, bool by_rank)
{
    const uint64_t first_a = a->at[1] & LANE_PRIORITY_MASK;
    const uint64_t first_b = b->at[1] & LANE_PRIORITY_MASK;
    const uint64_t stage_a = a->at[1] >> LANE_STAGE_SHIFT & LANE_STAGE_MASK;
    const uint64_t stage_b = b->at[1] >> LANE_STAGE_SHIFT & LANE_STAGE_MASK;
    if (!by_rank && first_a != first_b) {
        return first_a < first_b;
    }
    if (!by_rank && stage_a != stage_b) {
        return stage_a < stage_b;
    }
    return a->at[2] != b->at[2] ? a->at[2] < b->at[2] : a->at[3] < b->at[3];
}

static void sink(struct queue *queue, uint32_t from)
{
    must(from == 0 || from < queue->count);
#define LANE_AHEAD(a, b) queue_ahead(&(a)->key, &(b)->key, queue->by_rank)
    HEAP_SINK(queue->at, queue->count, from, LANE_AHEAD);
}

static void lane_add(struct queue *queue, struct shape_note *note, struct okey key)
{
    must(note->shape.v == key.at[1] >> 32);
    if (queue->count == queue->room) {
        queue->room = queue->room == 0 ? LANES_FIRST : queue->room * 2;
        struct lane *grown = arena_new(queue->arena, struct lane, queue->room);
        for (uint32_t i = 0; i < queue->count; i++) {
            grown[i] = queue->at[i];
        }
        queue->at = grown;
    }
    queue->at[queue->count++] = (struct lane){.key = key, .note = note};
}

/* The first key of the next lane behind `*key`, which the walk has just given. Short lanes are walked through, because that is cheaper
 * than a search. False: there is none. */
static bool lane_skip(struct oindex_walk *walk, const struct oindex *order, struct okey *key)
{
    const struct okey from = *key;
    for (uint32_t i = 0; i < LANE_STEPS_MAX; i++) {
        if (!oindex_walk_next(walk, key)) {
            return false;
        }
        if (key->at[0] != from.at[0] || key->at[1] != from.at[1]) {
            return true;
        }
    }
    return oindex_walk_from(walk, order, (struct okey){{from.at[0], from.at[1] + 1, 0, 0}}, key);
}

bool queue_fill_walk(struct queue *queue, struct shape_notes *notes, struct oindex_walk *walk,
                     struct okey *key)
{
    const struct oindex *order = &queue->core->orders[ORDER_ACCOUNT_QUEUE];
    const uint64_t account = key->at[0];
    must(queue->count == 0); /* a queue has the lanes of one project */
    bool more = true;
    while (more && key->at[0] == account) {
        lane_add(queue, queue_notes_get(notes, (shape_id){(uint32_t)(key->at[1] >> 32)}), *key);
        more = lane_skip(walk, order, key);
    }
    for (uint32_t i = queue->count / 2; i > 0; i--) {
        sink(queue, i - 1);
    }
    return more && key->at[0] >> 32 == account >> 32;
}

bool queue_fill(struct queue *queue, struct shape_notes *notes, struct okey *key)
{
    struct oindex_walk walk;
    must(oindex_walk_from(&walk, &queue->core->orders[ORDER_ACCOUNT_QUEUE], *key, key));
    return queue_fill_walk(queue, notes, &walk, key);
}

struct lane *queue_lane(const struct queue *queue)
{
    must(queue->count > 0);
    return &queue->at[0];
}

const struct task *queue_first(const struct queue *queue)
{
    const struct okey *key = &queue_lane(queue)->key;
    const pool_id pool = {(uint32_t)(key->at[0] >> 32)};
    const struct task *task = query_task_in(queue->core, pool, (task_id){key->at[3]});
    must(task != NULL);
    must(task->waiting_count > 0);
    return task;
}

void queue_drop(struct queue *queue)
{
    must(queue->count > 0);
    queue->at[0] = queue->at[--queue->count];
    sink(queue, 0);
}

void queue_advance(struct queue *queue)
{
    struct lane *lane = queue_lane(queue);
    struct okey next;
    if (lane->alone || !oindex_next(&queue->core->orders[ORDER_ACCOUNT_QUEUE], lane->key, &next) ||
        next.at[0] != lane->key.at[0] || next.at[1] != lane->key.at[1]) {
        queue_drop(queue);
        return;
    }
    must(queue_ahead(&lane->key, &next, queue->by_rank)); /* a lane is sorted */
    *lane = (struct lane){.key = next, .note = lane->note};
    sink(queue, 0);
}

void queue_again(struct queue *queue, uint32_t stage)
{
    must(stage <= LANE_STAGE_MASK);
    struct lane again = *queue_lane(queue);
    const uint64_t mask = (uint64_t)LANE_STAGE_MASK << LANE_STAGE_SHIFT;
    again.key.at[1] = (again.key.at[1] & ~mask) | (uint64_t)stage << LANE_STAGE_SHIFT;
    again.alone = true;
    queue_advance(queue);
    lane_add(queue, again.note, again.key);
    queue->at[queue->count - 1] = again;
    for (uint32_t i = queue->count / 2; i > 0; i--) {
        sink(queue, i - 1);
    }
}
