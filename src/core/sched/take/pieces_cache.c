/* pieces_cache.c - makes the pieces of running tasks when a search asks for them, each once in a pass; compares pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/hash.h"
#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/spec.h"
#include "core/model/vector.h"
#include "core/sched/take/pieces_internal.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <stdlib.h>

enum { CACHE_ROOM_FIRST = 64 };

/* All pieces of a gang are in one entry, under this index. Each instance of any other task has its own entry. */
enum { GANG_INDEX = UINT32_MAX };

const struct instance *pieces_cache_next(const struct core *core, const struct piece *piece,
                                         const struct instance *after)
{
    must(after == NULL || after->task.v == piece->task->id.v);
    if (piece->members != NULL) {
        uint32_t at = 0;
        while (after != NULL && at < piece->count && piece->members[at] <= after->index) {
            at++;
        }
        return at < piece->count ? query_instance(core, piece->task->id, piece->members[at]) : NULL;
    }
    if (!piece->whole) {
        return after == NULL ? query_instance(core, piece->task->id, piece->index) : NULL;
    }
    for (uint32_t i = after == NULL ? 0 : after->index + 1; i <= piece->index; i++) {
        const struct instance *instance = query_instance(core, piece->task->id, i);
        if (instance_stays(instance)) {
            return instance;
        }
    }
    return NULL;
}

/* ---- making pieces ---- */

static void attempt_set(struct piece_entry *entry)
{
    int64_t most_ms = 0;
    for (uint32_t i = 0; i < entry->count; i++) {
        most_ms = entry->first[i].age_ms > most_ms ? entry->first[i].age_ms : most_ms;
    }
    for (uint32_t i = 0; i < entry->count; i++) {
        entry->first[i].attempt_ms = most_ms;
    }
}

/* Makes the pieces of the instance's gang, or of the instance alone. The instance stays. */
static void entry_fill(const struct piece_cache *cache, const struct account_view *account,
                       const struct instance *instance, struct piece_entry *entry)
{
    const struct task *task = query_task(cache->core, instance->task);
    if (task->gang) {
        entry->first = pieces_cut_gang(cache, account, task, &entry->count);
        must(entry->count > 0);
        attempt_set(entry);
        return;
    }
    entry->first = arena_new(cache->arena, struct piece, 1);
    entry->count = 1;
    *entry->first = (struct piece){.task = task, .account = account, .index = instance->index};
    pieces_cut_add(cache, instance, entry->first);
    attempt_set(entry);
}

/* ---- the table of entries ---- */

/* The position of the entry of this task and index; if there is none, the position of the free entry for it. */
static uint32_t entry_index(const struct piece_cache *cache, uint64_t task, uint32_t index)
{
    must(cache->count < cache->room); /* the walk ends at a free entry */
    uint32_t at = (uint32_t)hash_u64(task << 20 ^ index) & (cache->room - 1);
    while (cache->at[at].task != 0 &&
           (cache->at[at].task != task || cache->at[at].index != index)) {
        at = (at + 1) & (cache->room - 1);
    }
    return at;
}

static void cache_grow(struct piece_cache *cache)
{
    const struct piece_entry *old = cache->at;
    const uint32_t old_room = cache->room;
    cache->room = old_room == 0 ? CACHE_ROOM_FIRST : old_room * 2;
    cache->at = arena_new(cache->arena, struct piece_entry, cache->room);
    for (uint32_t i = 0; i < old_room; i++) {
        if (old[i].task != 0) {
            cache->at[entry_index(cache, old[i].task, old[i].index)] = old[i];
        }
    }
    must(cache->count * 2 <= cache->room);
}

struct piece_entry *pieces_cache_get(struct piece_cache *cache, const struct account_view *account,
                                     const struct instance *instance)
{
    const struct task *task = query_task(cache->core, instance->task);
    must(task != NULL);
    const uint32_t index = task->gang ? GANG_INDEX : instance->index;
    if ((cache->count + 1) * 2 > cache->room) {
        cache_grow(cache);
    }
    struct piece_entry *entry = &cache->at[entry_index(cache, task->id.v, index)];
    if (entry->task == 0) {
        *entry = (struct piece_entry){.task = task->id.v, .index = index};
        cache->count++;
        if (task->preemptible && instance_stays(instance) &&
            !(task->gang && task->stopping_count > 0)) {
            entry_fill(cache, account, instance, entry);
        }
    }
    return entry;
}

struct piece *pieces_cache_gang(const struct piece_cache *cache, struct piece *piece,
                                uint32_t *ret_count)
{
    *ret_count = 1;
    if (!piece->task->gang) {
        return piece;
    }
    const struct piece_entry *entry = &cache->at[entry_index(cache, piece->task->id.v, GANG_INDEX)];
    must(entry->task == piece->task->id.v); /* the piece is from this cache */
    *ret_count = entry->count;
    return entry->first;
}

/* Must another piece of the entry, not taken yet, leave before piece `i`? */
static bool entry_before(const struct piece_entry *entry, uint32_t i)
{
    must(i < entry->count);
    for (uint32_t j = 0; j < i; j++) {
        if (!entry->first[j].taken && pieces_cut_before(&entry->first[j], &entry->first[i])) {
            return true;
        }
    }
    return false;
}

struct piece *pieces_cache_of(struct piece_cache *cache, const struct account_view *account,
                              const struct instance *instance)
{
    const struct piece_entry *entry = pieces_cache_get(cache, account, instance);
    for (uint32_t i = 0; i < entry->count; i++) {
        struct piece *piece = &entry->first[i];
        must(piece->task->id.v == instance->task.v);
        if (piece->whole || piece->index == instance->index ||
            pieces_cut_has(piece, instance->index)) {
            return entry_before(entry, i) ? NULL : piece;
        }
    }
    return NULL;
}

/* ---- comparing pieces ---- */

/* The piece of the younger task leaves first. Of one task, pieces above a minimum leave first, then by their place, then the highest
 * instance. Never 0 for two different pieces. */
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
    if (a->place != b->place) {
        return a->place < b->place ? -1 : 1;
    }
    return a->index > b->index ? -1 : a->index < b->index;
}

/* The lower priority leaves first; of one priority, pieces above a minimum. */
static int by_importance(const struct piece *a, const struct piece *b)
{
    if (a->task->priority != b->task->priority) {
        return a->task->priority < b->task->priority ? -1 : 1;
    }
    return (int)b->extra - (int)a->extra;
}

uint64_t pieces_cache_parts(const struct piece *piece, int64_t need_milli)
{
    const int64_t all = piece->amounts.at[DIM_SLOTS];
    must(!piece->whole || piece->task->active_count > 0);
    const int64_t held = piece->members != NULL ? piece->each_milli
                         : piece->whole         ? all / piece->task->active_count
                                                : all;
    if (need_milli <= held) {
        return 1;
    }
    return (uint64_t)(held > 0 ? (need_milli + held - 1) / held : need_milli);
}

int pieces_cache_compare(enum pool_victims by, int64_t need_milli, const struct piece *a,
                         const struct piece *b)
{
    const int importance = by_importance(a, b);
    if (importance != 0) {
        return importance;
    }
    const uint64_t parts_a = pieces_cache_parts(a, need_milli);
    const uint64_t parts_b = pieces_cache_parts(b, need_milli);
    if (parts_a != parts_b) {
        return parts_a < parts_b ? -1 : 1;
    }
    if (by == VICTIMS_LEAST_LOSS && a->loss != b->loss) {
        return a->loss < b->loss ? -1 : 1;
    }
    return by_age(a, b);
}
