/* ranked.h - a sorted list that counts and adds up: entries (key, id), ascending by key and then by id, with the number of the
 * entries up to any key and the sum of their keys. Each operation costs the logarithm of the number of entries.
 *
 *   level 1   head ───────────── 3 entries, sum 9 ─────────────▶ e ─▶ …     each link has the number of entries that it passes and
 *   level 0   head ─▶ a ─▶ c ─▶ e ─▶ …                                     the sum of their keys, the entry it leads to included
 *
 * The list is a skip list. The height of an entry follows from a hash of the entry, so no run differs from another.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { RANKED_HEIGHT_MAX = 7 };
enum { RANKED_NONE = 0 };

struct ranked_link {
    uint32_t to;    /* place of an entry; RANKED_NONE: the end of the list */
    uint32_t count; /* entries that the link passes */
    uint64_t sum;   /* of the keys of these entries, modulo 2^64 */
};

struct ranked_entry {
    int64_t key;
    uint32_t id;
    uint32_t height;
    struct ranked_link links[RANKED_HEIGHT_MAX];
};

/* All bytes 0: an empty list. */
struct ranked {
    struct ranked_entry *at; /* at[0] is the head of all levels */
    uint32_t room;
    uint32_t used;  /* places that were ever used */
    uint32_t spare; /* first place of a chain of unused places; RANKED_NONE: none */
    uint32_t count; /* entries in the list */
};

/* How many entries, and the sum of their keys modulo 2^64. */
struct ranked_sum {
    uint32_t count;
    uint64_t sum;
};

void ranked_done(struct ranked *list);

/* Adds an entry that is not in the list, or removes an entry that is in the list. */
void ranked_add(struct ranked *list, int64_t key, uint32_t id);
void ranked_remove(struct ranked *list, int64_t key, uint32_t id);

/* All entries with a key of at most `key`. */
struct ranked_sum ranked_upto(const struct ranked *list, int64_t key);

/* The place of the first entry whose key is above `key`; the place of the entry with `before` entries in front of it. RANKED_NONE:
 * there is no such entry. list->at[place] is the entry, and links[0].to of an entry is the place of the next entry. */
uint32_t ranked_above(const struct ranked *list, int64_t key);
uint32_t ranked_nth(const struct ranked *list, uint32_t before);
