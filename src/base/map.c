/* map.c - open addressing over an insertion-ordered array of entries.
 *
 *   slots:   [ . 2 . 0 1 . ]   index into entries + 1, 0 = free, SLOT_GONE = was used
 *   entries: [ k0 k1 k2 … ]    in order of insertion
 *
 * A removed entry has value NULL until the next rebuild. SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/must.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAP_SLOTS_MIN = 16 };
static const uint32_t SLOT_GONE = UINT32_MAX;

struct entry {
    void *key;
    size_t len;
    uint64_t hash;
    void *value;
};

struct map {
    struct entry *entries;
    size_t entry_count; /* removed entries included */
    size_t entry_room;
    uint32_t *slots;
    size_t slot_count; /* a power of two */
    size_t live;
};

struct map *map_new(void)
{
    struct map *map = xcalloc(1, sizeof *map);
    map->slot_count = MAP_SLOTS_MIN;
    map->slots = xcalloc(map->slot_count, sizeof *map->slots);
    return map;
}

void map_free(struct map *map)
{
    if (map == NULL) {
        return;
    }
    for (size_t i = 0; i < map->entry_count; i++) {
        free(map->entries[i].key);
    }
    free(map->entries);
    free(map->slots);
    free(map);
}

size_t map_count(const struct map *map)
{
    return map->live;
}

/* The slot of `key`, or SIZE_MAX. */
static size_t slot_find(const struct map *map, const void *key, size_t len, uint64_t hash)
{
    size_t mask = map->slot_count - 1;
    for (size_t i = (size_t)hash & mask;; i = (i + 1) & mask) {
        uint32_t slot = map->slots[i];
        if (slot == 0) {
            return SIZE_MAX;
        }
        if (slot == SLOT_GONE) {
            continue;
        }
        const struct entry *entry = &map->entries[slot - 1];
        if (entry->hash == hash && entry->len == len &&
            (len == 0 || memcmp(entry->key, key, len) == 0)) {
            return i;
        }
    }
}

static void slot_fill(struct map *map, uint64_t hash, uint32_t slot)
{
    size_t mask = map->slot_count - 1;
    size_t i = (size_t)hash & mask;
    while (map->slots[i] != 0) {
        i = (i + 1) & mask;
    }
    map->slots[i] = slot;
}

/* Drops removed entries, and makes at least four slots for each entry that is left. */
static void rebuild(struct map *map)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->entry_count; i++) {
        if (map->entries[i].value != NULL) {
            map->entries[kept++] = map->entries[i];
        }
    }
    map->entry_count = kept;
    size_t want = MAP_SLOTS_MIN;
    while (want < kept * 4) {
        want *= 2;
    }
    free(map->slots);
    map->slots = xcalloc(want, sizeof *map->slots);
    map->slot_count = want;
    for (size_t i = 0; i < kept; i++) {
        slot_fill(map, map->entries[i].hash, (uint32_t)i + 1);
    }
}

void *map_get(const struct map *map, const void *key, size_t len)
{
    size_t slot = slot_find(map, key, len, hash_bytes(key, len));
    return slot == SIZE_MAX ? NULL : map->entries[map->slots[slot] - 1].value;
}

void *map_put(struct map *map, const void *key, size_t len, void *value)
{
    must(value != NULL);
    uint64_t hash = hash_bytes(key, len);
    size_t slot = slot_find(map, key, len, hash);
    if (slot != SIZE_MAX) {
        struct entry *entry = &map->entries[map->slots[slot] - 1];
        void *before = entry->value;
        entry->value = value;
        return before;
    }
    if ((map->entry_count + 1) * 2 > map->slot_count) {
        rebuild(map);
    }
    if (map->entry_count == map->entry_room) {
        map->entry_room = map->entry_room < 8 ? 8 : map->entry_room * 2;
        map->entries = xrealloc(map->entries, map->entry_room, sizeof *map->entries);
    }
    must(map->entry_count < UINT32_MAX - 2);
    map->entries[map->entry_count++] = (struct entry){xmemdup(key, len), len, hash, value};
    slot_fill(map, hash, (uint32_t)map->entry_count);
    map->live++;
    return NULL;
}

void *map_remove(struct map *map, const void *key, size_t len)
{
    size_t slot = slot_find(map, key, len, hash_bytes(key, len));
    if (slot == SIZE_MAX) {
        return NULL;
    }
    struct entry *entry = &map->entries[map->slots[slot] - 1];
    void *value = entry->value;
    free(entry->key);
    *entry = (struct entry){0};
    map->slots[slot] = SLOT_GONE;
    map->live--;
    return value;
}

void *map_next(const struct map *map, size_t *cursor)
{
    while (*cursor < map->entry_count) {
        void *value = map->entries[(*cursor)++].value;
        if (value != NULL) {
            return value;
        }
    }
    return NULL;
}
