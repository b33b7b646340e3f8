/* heap.c - the min-heap with stable entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include "base/must.h"
#include "base/vec.h"

void heap_done(struct heap *heap)
{
    vec_done(heap);
}

/* Children per slot. Four children are neighbours in memory, and the heap has half as many levels
 * as with two. */
enum { CHILDREN = 4 };

static bool before(const struct heap_slot *a, const struct heap_slot *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

static void put(struct heap *heap, size_t index, struct heap_slot slot)
{
    heap->at[index] = slot;
    slot.entry->place = index + 1;
}

/* The least of the children of a slot that has children. */
static size_t child_least(const struct heap *heap, size_t index)
{
    const size_t first = CHILDREN * index + 1;
    const size_t end = heap->count < first + CHILDREN ? heap->count : first + CHILDREN;
    size_t least = first;
    for (size_t child = first + 1; child < end; child++) {
        least = before(&heap->at[child], &heap->at[least]) ? child : least;
    }
    return least;
}

/* Moves `slot` from the hole at `index` to its place, up or down. */
static void settle(struct heap *heap, size_t index, struct heap_slot slot)
{
    while (index > 0 && before(&slot, &heap->at[(index - 1) / CHILDREN])) {
        put(heap, index, heap->at[(index - 1) / CHILDREN]);
        index = (index - 1) / CHILDREN;
    }
    while (CHILDREN * index + 1 < heap->count) {
        const size_t child = child_least(heap, index);
        if (!before(&heap->at[child], &slot)) {
            break;
        }
        put(heap, index, heap->at[child]);
        index = child;
    }
    put(heap, index, slot);
}

void heap_set(struct heap *heap, struct heap_entry *entry, int64_t key)
{
    const struct heap_slot slot = {key, heap->order_next++, entry};
    entry->key = key;
    entry->order = slot.order;
    if (entry->place == 0) {
        vec_push(heap, slot);
        entry->place = heap->count;
    }
    must(heap->at[entry->place - 1].entry == entry);
    settle(heap, entry->place - 1, slot);
}

void heap_remove(struct heap *heap, struct heap_entry *entry)
{
    if (entry->place == 0) {
        return;
    }
    must(heap->at[entry->place - 1].entry == entry);
    size_t hole = entry->place - 1;
    entry->place = 0;
    const struct heap_slot last = heap->at[--heap->count];
    if (last.entry != entry) {
        settle(heap, hole, last);
    }
}

struct heap_entry *heap_first(const struct heap *heap)
{
    return heap->count > 0 ? heap->at[0].entry : NULL;
}

bool heap_has(const struct heap_entry *entry)
{
    return entry->place != 0;
}
