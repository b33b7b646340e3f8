/* pieces.c - pieces of running tasks, sorted as far as they are asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/pieces.h"

#include "core/core_internal.h"

enum { PIECES_FIRST = 16 };

static bool stays(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
}

const struct instance *piece_next(const struct core *core, const struct piece *piece,
                                  const struct instance *after)
{
    if (!piece->whole) {
        return after == NULL ? core_instance(core, piece->task->id, piece->index) : NULL;
    }
    for (uint32_t i = after == NULL ? 0 : after->index + 1; i <= piece->index; i++) {
        const struct instance *instance = core_instance(core, piece->task->id, i);
        if (stays(instance)) {
            return instance;
        }
    }
    return NULL;
}

static void piece_add(struct pieces *pieces, const struct piece *piece)
{
    if (pieces->count == pieces->room) {
        pieces->room = pieces->room == 0 ? PIECES_FIRST : pieces->room * 2;
        struct piece *grown = arena_new(pieces->arena, struct piece, pieces->room);
        for (uint32_t i = 0; i < pieces->count; i++) {
            grown[i] = pieces->at[i];
        }
        pieces->at = grown;
    }
    pieces->at[pieces->count++] = *piece;
    const int64_t slots = piece->amounts.at[DIM_SLOTS];
    pieces->slots_max = slots > pieces->slots_max ? slots : pieces->slots_max;
}

static void piece_count(const struct pieces *pieces, const struct instance *instance,
                        struct piece *piece)
{
    const struct core *core = pieces->core;
    const int64_t since_ms =
        instance->state == INSTANCE_RUNNING ? instance->started_ms : instance->allocated_ms;
    const int64_t ran_ms = pieces->now_ms > since_ms ? pieces->now_ms - since_ms : 0;
    const int64_t held = instance->slots_milli > 0 ? instance->slots_milli : instance->cpu_milli;
    struct vector amounts;
    core_grant_vector(core, instance_request(core, instance), instance->slots_milli,
                      instance->cpu_milli, instance->memory_bytes, &amounts);
    vector_add(&piece->amounts, &amounts);
    piece->loss += (unsigned __int128)(held + 1) * (uint64_t)(ran_ms + EVICTION_COST_MS);
    piece->since_ms = since_ms > piece->since_ms ? since_ms : piece->since_ms;
}

/* Instances above the minimum are pieces by themselves, the highest first; what is left of a gang is one. */
void pieces_add(struct pieces *pieces, const struct account_view *account, const struct task *task)
{
    const uint32_t grown = task_grown(task);
    const uint32_t extra = task->gang && grown > task->min_count ? grown - task->min_count : 0;
    uint32_t left = task->active_count - task->stopping_count;
    const uint32_t least = task->gang && extra < left ? left - extra : 0;
    struct piece whole = {.task = task, .account = account, .whole = true};
    unsigned __int128 loss =
        0; /* those above the minimum go one after the other, whatever each would lose */
    for (uint32_t i = task->instance_count; i > 0 && left > 0; i--) {
        const struct instance *instance = core_instance(pieces->core, task->id, i - 1);
        if (!stays(instance)) {
            continue;
        }
        if (left > least) {
            struct piece one = {.task = task, .account = account, .index = i - 1};
            one.extra = task->gang;
            piece_count(pieces, instance, &one);
            loss = task->gang && loss > one.loss ? loss : one.loss;
            one.loss = loss;
            piece_add(pieces, &one);
            left--;
            continue;
        }
        whole.index = whole.index < i - 1 ? i - 1 : whole.index;
        piece_count(pieces, instance, &whole);
        left--;
    }
    if (least > 0) {
        piece_add(pieces, &whole);
    }
}

/* Who goes first: less important, above a minimum, younger. Never 0 for two pieces. */
static int by_age(const struct piece *a, const struct piece *b)
{
    if (a->task->rank != b->task->rank) {
        return a->task->rank > b->task->rank ? -1 : 1;
    }
    if (a->task->id.v != b->task->id.v) {
        return a->task->id.v > b->task->id.v ? -1 : 1;
    }
    if (a->whole != b->whole) {
        return (int)a->whole - (int)b->whole;
    }
    return a->index > b->index ? -1 : a->index < b->index;
}

static int by_importance(const struct piece *a, const struct piece *b)
{
    if (a->task->priority != b->task->priority) {
        return a->task->priority < b->task->priority ? -1 : 1;
    }
    return (int)b->extra - (int)a->extra;
}

int pieces_compare(enum pool_victims by, const struct piece *a, const struct piece *b)
{
    const int importance = by_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    if (by == VICTIMS_LEAST_LOSS && a->loss != b->loss) {
        return a->loss < b->loss ? -1 : 1;
    }
    return by_age(a, b);
}

/* ---- the order ---- */

static bool heap_before(const struct pieces *pieces, uint32_t a, uint32_t b)
{
    return pieces_compare(pieces->by, &pieces->at[pieces->heap[a]], &pieces->at[pieces->heap[b]]) <
           0;
}

static void sink(struct pieces *pieces, uint32_t from)
{
    const uint32_t count = pieces->count - pieces->sorted;
    uint32_t at = from;
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            least = heap_before(pieces, child, least) ? child : least;
        }
        if (least == at) {
            return;
        }
        const uint32_t moved = pieces->heap[at];
        pieces->heap[at] = pieces->heap[least];
        pieces->heap[least] = moved;
        at = least;
    }
}

static void heap_make(struct pieces *pieces)
{
    pieces->heap = arena_new(pieces->arena, uint32_t, pieces->count);
    pieces->order = arena_new(pieces->arena, struct piece *, pieces->count);
    for (uint32_t i = 0; i < pieces->count; i++) {
        pieces->heap[i] = i;
    }
    for (uint32_t i = pieces->count / 2; i > 0; i--) {
        sink(pieces, i - 1);
    }
}

struct piece *pieces_get(struct pieces *pieces, uint32_t place)
{
    if (place >= pieces->count) {
        return NULL;
    }
    if (pieces->heap == NULL) {
        heap_make(pieces);
    }
    while (pieces->sorted <= place) {
        pieces->order[pieces->sorted++] = &pieces->at[pieces->heap[0]];
        pieces->heap[0] = pieces->heap[pieces->count - pieces->sorted];
        sink(pieces, 0);
    }
    return pieces->order[place];
}
