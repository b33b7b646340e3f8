/* ranked.c - a skip list whose links count the entries that they pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/ranked.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"

#include <stdlib.h>

enum { ROOM_FIRST = 16, HEIGHT_BITS = 2 }; /* one of four entries is higher by one level */

void ranked_done(struct ranked *list)
{
    free(list->at);
    *list = (struct ranked){.at = NULL};
}

static uint32_t height_of(int64_t key, uint32_t id)
{
    uint64_t bits = hash_u64((uint64_t)key * 31 + id);
    uint32_t height = 1;
    while (height < RANKED_HEIGHT_MAX && (bits & ((1u << HEIGHT_BITS) - 1)) == 0) {
        height++;
        bits >>= HEIGHT_BITS;
    }
    return height;
}

static uint32_t place_new(struct ranked *list)
{
    if (list->room == 0) {
        list->room = ROOM_FIRST;
        list->used = 1; /* the head */
        list->at = xcalloc(list->room, sizeof *list->at);
    }
    const uint32_t spare = list->spare;
    if (spare != RANKED_NONE) {
        list->spare = list->at[spare].links[0].to;
        return spare;
    }
    if (list->used == list->room) {
        must(list->room <= UINT32_MAX / 2);
        list->room *= 2;
        list->at = xrealloc(list->at, list->room, sizeof *list->at);
    }
    return list->used++;
}

static bool stands_before(const struct ranked_entry *entry, int64_t key, uint32_t id)
{
    return entry->key != key ? entry->key < key : entry->id < id;
}

/* The last places before (key, id) on each level, and how much stands before and at these places. */
struct ranked_path {
    uint32_t place[RANKED_HEIGHT_MAX];
    struct ranked_sum passed[RANKED_HEIGHT_MAX];
};

static void path_find(const struct ranked *list, int64_t key, uint32_t id, struct ranked_path *ret)
{
    uint32_t place = RANKED_NONE;
    struct ranked_sum passed = {0, 0};
    for (uint32_t level = RANKED_HEIGHT_MAX; level-- > 0;) {
        const struct ranked_link *link = &list->at[place].links[level];
        while (link->to != RANKED_NONE && stands_before(&list->at[link->to], key, id)) {
            passed.count += link->count;
            passed.sum += link->sum;
            place = link->to;
            link = &list->at[place].links[level];
        }
        ret->place[level] = place;
        ret->passed[level] = passed;
    }
}

void ranked_add(struct ranked *list, int64_t key, uint32_t id)
{
    const uint32_t place = place_new(list);
    struct ranked_path path;
    path_find(list, key, id, &path);
    const uint32_t next = list->at[path.place[0]].links[0].to;
    must(next == RANKED_NONE || list->at[next].key != key || list->at[next].id != id);
    struct ranked_entry *entry = &list->at[place];
    *entry = (struct ranked_entry){.key = key, .id = id, .height = height_of(key, id)};
    for (uint32_t level = 0; level < RANKED_HEIGHT_MAX; level++) {
        struct ranked_link *link = &list->at[path.place[level]].links[level];
        if (level >= entry->height) {
            link->count++;
            link->sum += (uint64_t)key;
            continue;
        }
        const uint32_t count = path.passed[0].count - path.passed[level].count;
        const uint64_t sum = path.passed[0].sum - path.passed[level].sum;
        entry->links[level] = (struct ranked_link){link->to, link->count - count, link->sum - sum};
        *link = (struct ranked_link){place, count + 1, sum + (uint64_t)key};
    }
    list->count++;
}

void ranked_remove(struct ranked *list, int64_t key, uint32_t id)
{
    must(list->count > 0);
    struct ranked_path path;
    path_find(list, key, id, &path);
    const uint32_t place = list->at[path.place[0]].links[0].to;
    must(place != RANKED_NONE);
    struct ranked_entry *entry = &list->at[place];
    must(entry->key == key);
    must(entry->id == id);
    for (uint32_t level = 0; level < RANKED_HEIGHT_MAX; level++) {
        struct ranked_link *link = &list->at[path.place[level]].links[level];
        if (level < entry->height) {
            const struct ranked_link *over = &entry->links[level];
            *link =
                (struct ranked_link){over->to, link->count + over->count, link->sum + over->sum};
        }
        link->count--;
        link->sum -= (uint64_t)key;
    }
    entry->links[0].to = list->spare;
    list->spare = place;
    list->count--;
}

struct ranked_sum ranked_upto(const struct ranked *list, int64_t key)
{
    struct ranked_sum passed = {0, 0};
    uint32_t place = RANKED_NONE;
    for (uint32_t level = list->count == 0 ? 0 : RANKED_HEIGHT_MAX; level-- > 0;) {
        const struct ranked_link *link = &list->at[place].links[level];
        while (link->to != RANKED_NONE && list->at[link->to].key <= key) {
            passed.count += link->count;
            passed.sum += link->sum;
            place = link->to;
            link = &list->at[place].links[level];
        }
    }
    return passed;
}

uint32_t ranked_above(const struct ranked *list, int64_t key)
{
    uint32_t place = RANKED_NONE;
    if (list->count == 0) {
        return RANKED_NONE;
    }
    for (uint32_t level = RANKED_HEIGHT_MAX; level-- > 0;) {
        uint32_t to = list->at[place].links[level].to;
        while (to != RANKED_NONE && list->at[to].key <= key) {
            place = to;
            to = list->at[place].links[level].to;
        }
    }
    return list->at[place].links[0].to;
}

uint32_t ranked_nth(const struct ranked *list, uint32_t before)
{
    uint32_t place = RANKED_NONE;
    uint32_t passed = 0;
    if (before >= list->count) {
        return RANKED_NONE;
    }
    for (uint32_t level = RANKED_HEIGHT_MAX; level-- > 0;) {
        const struct ranked_link *link = &list->at[place].links[level];
        while (link->to != RANKED_NONE && passed + link->count <= before + 1) {
            passed += link->count;
            place = link->to;
            link = &list->at[place].links[level];
        }
    }
    must(passed == before + 1);
    return place;
}
