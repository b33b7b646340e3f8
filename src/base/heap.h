/* heap.h - a min-heap of pointers. An entry knows its place in the heap, so that any entry can be
 * moved or removed in O(log n). The entry is embedded in the caller's object.
 *
 *   struct timer { struct heap_entry entry; … };   heap_set(&heap, &timer->entry, at_ms);
 *
 * Entries of equal key leave in the order in which they were set.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
    int64_t key;
    uint64_t order; /* breaks ties: the earlier entry first */
    size_t place;   /* 1 + index in the heap; 0: not in the heap */
};

/* A slot repeats the key and order of its entry, because the entries are spread over memory. */
struct heap_slot {
    int64_t key;
    uint64_t order;
    struct heap_entry *entry;
};

struct heap {
    struct heap_slot *at;
    size_t count;
    size_t room;
    uint64_t order_next;
};

/* Frees the array, not the entries. */
void heap_done(struct heap *heap);

/* Adds the entry with this key, or moves it to this key. */
void heap_set(struct heap *heap, struct heap_entry *entry, int64_t key);

/* Removes the entry. Does nothing when the entry is not in the heap. */
void heap_remove(struct heap *heap, struct heap_entry *entry);

/* The entry with the smallest key, or NULL. */
struct heap_entry *heap_first(const struct heap *heap);

bool heap_has(const struct heap_entry *entry);

/* Moves at[from] down in a heap of values until no child comes before it. The `count` values at `at` are of one
 * type, and BEFORE(a, b) says whether the value at `a` comes before the value at `b`. */
#define HEAP_SINK(at, count, from, BEFORE)                                                         \
    do {                                                                                           \
        __typeof__(at) const heap_ = (at);                                                         \
        uint32_t place_ = (from);                                                                  \
        for (;;) {                                                                                 \
            uint32_t first_ = place_;                                                              \
            for (uint32_t child_ = 2 * place_ + 1; child_ <= 2 * place_ + 2 && child_ < (count);   \
                 child_++) {                                                                       \
                first_ = BEFORE(&heap_[child_], &heap_[first_]) ? child_ : first_;                 \
            }                                                                                      \
            if (first_ == place_) {                                                                \
                break;                                                                             \
            }                                                                                      \
            const __typeof__(*heap_) moved_ = heap_[place_];                                       \
            heap_[place_] = heap_[first_];                                                         \
            heap_[first_] = moved_;                                                                \
            place_ = first_;                                                                       \
        }                                                                                          \
    } while (0)
