/* heap.c - the min-heap with stable entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include "base/must.h"
#include "base/vec.h"

void heap_done(struct heap *heap)
{
    vec_done(heap);
}

static bool before(const struct heap_entry *a, const struct heap_entry *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void put(struct heap *heap, size_t index, struct heap_entry *entry)
{
    heap->at[index] = entry;
    entry->place = index + 1;
}

/* Move `entry` from the hole at `index` to where it belongs, up or down. */
static void settle(struct heap *heap, size_t index, struct heap_entry *entry)
{
    while (index > 0 && before(entry, heap->at[(index - 1) / 2])) {
        put(heap, index, heap->at[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    for (size_t child = 2 * index + 1; child < heap->count; child = 2 * index + 1) {
        if (child + 1 < heap->count && before(heap->at[child + 1], heap->at[child])) {
            child++;
        }
        if (!before(heap->at[child], entry)) {
            break;
        }
        put(heap, index, heap->at[child]);
        index = child;
    }
    put(heap, index, entry);
}

void heap_set(struct heap *heap, struct heap_entry *entry, int64_t key)
{
    entry->key = key;
    entry->order = heap->order_next++;
    if (entry->place == 0) {
        vec_push(heap, entry);
        entry->place = heap->count;
    }
    must(heap->at[entry->place - 1] == entry);
    settle(heap, entry->place - 1, entry);
}

void heap_remove(struct heap *heap, struct heap_entry *entry)
{
    if (entry->place == 0) {
        return;
    }
    must(heap->at[entry->place - 1] == entry);
    size_t hole = entry->place - 1;
    entry->place = 0;
    struct heap_entry *last = heap->at[--heap->count];
    if (last != entry) {
        settle(heap, hole, last);
    }
}

struct heap_entry *heap_first(const struct heap *heap)
{
    return heap->count > 0 ? heap->at[0] : NULL;
}

bool heap_has(const struct heap_entry *entry)
{
    return entry->place != 0;
}
