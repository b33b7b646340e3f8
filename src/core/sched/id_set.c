/* id_set.c - a set of ids within one pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/id_set.h"

#include "base/hash.h"
#include "base/must.h"

enum { ROOM_FIRST = 32 };

static uint32_t set_index(const struct id_set *set, uint64_t id)
{
    uint32_t at = (uint32_t)hash_u64(id) & (set->room - 1);
    while (set->at[at] != 0 && set->at[at] != id) {
        at = (at + 1) & (set->room - 1);
    }
    return at;
}

static void set_grow(struct id_set *set, struct arena *arena)
{
    const struct id_set old = *set;
    set->room = old.room == 0 ? ROOM_FIRST : old.room * 2;
    set->at = arena_new(arena, uint64_t, set->room);
    for (uint32_t i = 0; i < old.room; i++) {
        if (old.at[i] != 0) {
            set->at[set_index(set, old.at[i])] = old.at[i];
        }
    }
}

void id_set_add(struct id_set *set, struct arena *arena, uint64_t id)
{
    must(id != 0);
    if ((set->count + 1) * 2 > set->room) {
        set_grow(set, arena);
    }
    const uint32_t at = set_index(set, id);
    set->count += set->at[at] == 0;
    set->at[at] = id;
}

bool id_set_has(const struct id_set *set, uint64_t id)
{
    return set->count > 0 && set->at[set_index(set, id)] != 0;
}
