/* table.c - copy-on-write rows; see the drawing in table.h.
 *
 * Surprising: any copy of the table may read a row of a shared chunk at any time. So a write checks three
 * reference counts on its way down, the root's, the page's and the chunk's. A count of one means that only this table
 * can reach the root, page or chunk. Then no other thread can gain a reference except through this table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/table.h"

#include "base/mem.h"
#include "base/must.h"

#include <stdalign.h>
#include <string.h>

struct table_chunk {
    uint32_t refs;
    alignas(max_align_t) unsigned char rows[];
};

/* The bits of the live rows stand beside the pointer, so that a look-up reads only the row from the chunk. */
struct chunk_slot {
    struct table_chunk *chunk; /* NULL: the chunk has no live row */
    uint64_t live;             /* a bit for each live row */
};

/* The pages of a table and of its copies, until one of them is written to. */
struct table_root {
    uint32_t refs;
    struct table_slot slots[];
};

struct table_page {
    uint32_t refs;
    uint32_t chunk_count; /* chunks that exist */
    struct chunk_slot slots[TABLE_PAGE_CHUNKS];
};

/* Page, chunk and row within the chunk of a row number. */
struct table_place {
    uint64_t page;
    uint32_t chunk;
    uint32_t row;
};

static struct table_place place_of(const struct table *table, uint64_t id)
{
    const uint64_t chunk = id >> table->row_bits;
    return (struct table_place){.page = chunk / TABLE_PAGE_CHUNKS,
                                .chunk = (uint32_t)(chunk % TABLE_PAGE_CHUNKS),
                                .row = (uint32_t)(id & (table->rows_per_chunk - 1))};
}

void table_init(struct table *table, size_t row_size, uint32_t rows_per_chunk,
                const struct table_hooks *hooks)
{
    must(row_size > 0);
    must(rows_per_chunk > 0);
    must(rows_per_chunk <= TABLE_CHUNK_ROWS_MAX);
    must((rows_per_chunk & (rows_per_chunk - 1)) == 0);
    *table = (struct table){.row_size = row_size,
                            .rows_per_chunk = rows_per_chunk,
                            .row_bits = (uint32_t)__builtin_ctz(rows_per_chunk)};
    if (hooks != NULL) {
        table->hooks = *hooks;
    }
}

static void rows_visit(const struct table *table, const struct chunk_slot *slot,
                       void (*visit)(void *row))
{
    if (visit == NULL) {
        return;
    }
    for (uint64_t live = slot->live; live != 0; live &= live - 1) {
        visit(slot->chunk->rows + (size_t)__builtin_ctzll(live) * table->row_size);
    }
}

static void chunk_unref(const struct table *table, const struct chunk_slot *slot)
{
    if (__atomic_fetch_sub(&slot->chunk->refs, 1, __ATOMIC_ACQ_REL) == 1) {
        rows_visit(table, slot, table->hooks.row_unref);
        free(slot->chunk);
    }
}

static void page_unref(const struct table *table, struct table_page *page)
{
    if (__atomic_fetch_sub(&page->refs, 1, __ATOMIC_ACQ_REL) != 1) {
        return;
    }
    for (uint32_t i = 0; i < TABLE_PAGE_CHUNKS; i++) {
        if (page->slots[i].chunk != NULL) {
            chunk_unref(table, &page->slots[i]);
        }
    }
    free(page);
}

static struct table_root *root_of(const struct table *table)
{
    return (struct table_root *)(void *)((char *)table->root - offsetof(struct table_root, slots));
}

/* Memory for a root of `room` pages, that only one table has. `old` is a root of that table, or NULL. */
static struct table_slot *root_room(struct table_root *old, size_t room)
{
    struct table_root *root = xrealloc(old, 1, sizeof *root + room * sizeof root->slots[0]);
    root->refs = 1;
    return root->slots;
}

static void root_unref(const struct table *table)
{
    if (table->root == NULL ||
        __atomic_fetch_sub(&root_of(table)->refs, 1, __ATOMIC_ACQ_REL) != 1) {
        return;
    }
    for (size_t i = 0; i < table->page_count; i++) {
        page_unref(table, table->root[i].page);
    }
    free(root_of(table));
}

/* Makes the root one that only this table has: a root that copies share is copied first. Called before each write. */
static void root_own(struct table *table)
{
    if (table->root == NULL || __atomic_load_n(&root_of(table)->refs, __ATOMIC_ACQUIRE) == 1) {
        return;
    }
    struct table_slot *own = root_room(NULL, table->page_count);
    memcpy(own, table->root, table->page_count * sizeof *own);
    for (size_t i = 0; i < table->page_count; i++) {
        (void)__atomic_fetch_add(&own[i].page->refs, 1, __ATOMIC_RELAXED);
    }
    root_unref(table);
    table->root = own;
    table->page_room = table->page_count;
}

void table_done(struct table *table)
{
    root_unref(table);
    table->root = NULL;
    table->page_count = 0;
    table->page_room = 0;
    table->count = 0;
}

void table_copy(struct table *to, const struct table *from)
{
    *to = *from;
    if (to->root != NULL) {
        (void)__atomic_fetch_add(&root_of(to)->refs, 1, __ATOMIC_RELAXED);
    }
}

/* The number of pages in the root with a number below `number`. */
static size_t root_find(const struct table *table, uint64_t number)
{
    size_t low = 0;
    size_t high = table->page_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (table->root[middle].number < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The page with this number, or NULL. The newest page is tried first, because most look-ups are for rows of
 * the newest page. */
static const struct table_page *page_find(const struct table *table, uint64_t number)
{
    if (table->page_count == 0) {
        return NULL;
    }
    const struct table_slot *newest = &table->root[table->page_count - 1];
    if (newest->number == number) {
        return newest->page;
    }
    const size_t at = root_find(table, number);
    return at < table->page_count && table->root[at].number == number ? table->root[at].page : NULL;
}

const void *table_get(const struct table *table, uint64_t id)
{
    const struct table_place place = place_of(table, id);
    const struct table_page *page = page_find(table, place.page);
    if (page == NULL || (page->slots[place.chunk].live >> place.row & 1) == 0) {
        return NULL;
    }
    return page->slots[place.chunk].chunk->rows + (size_t)place.row * table->row_size;
}

static struct table_page *page_new(void)
{
    struct table_page *page = xcalloc(1, sizeof *page);
    page->refs = 1;
    return page;
}

/* The root's entry for a page. A missing entry is made, with an empty page. */
static struct table_slot *root_slot(struct table *table, uint64_t number)
{
    root_own(table);
    size_t at = root_find(table, number);
    if (at < table->page_count && table->root[at].number == number) {
        return &table->root[at];
    }
    if (table->page_count == table->page_room) {
        table->page_room = table->page_room > 0 ? table->page_room * 2 : 4;
        table->root = root_room(table->root != NULL ? root_of(table) : NULL, table->page_room);
    }
    struct table_slot *slot = &table->root[at];
    memmove(slot + 1, slot, (table->page_count - at) * sizeof *slot);
    table->page_count++;
    *slot = (struct table_slot){number, page_new()};
    return slot;
}

/* The page of this entry, for writing. A shared page is copied first. */
static struct table_page *page_own(const struct table *table, struct table_slot *slot)
{
    struct table_page *page = slot->page;
    if (__atomic_load_n(&page->refs, __ATOMIC_ACQUIRE) == 1) {
        return page;
    }
    struct table_page *copy = xmemdup(page, sizeof *page);
    copy->refs = 1;
    for (uint32_t i = 0; i < TABLE_PAGE_CHUNKS; i++) {
        if (copy->slots[i].chunk != NULL) {
            (void)__atomic_fetch_add(&copy->slots[i].chunk->refs, 1, __ATOMIC_RELAXED);
        }
    }
    page_unref(table, page);
    slot->page = copy;
    return copy;
}

/* The chunk `index` of a page that is not shared, for writing. A missing chunk is made, a shared chunk is
 * copied. */
static struct table_chunk *chunk_own(const struct table *table, struct table_page *page,
                                     uint32_t index)
{
    const size_t size = sizeof(struct table_chunk) + table->row_size * table->rows_per_chunk;
    struct chunk_slot *slot = &page->slots[index];
    if (slot->chunk == NULL) {
        slot->chunk = xcalloc(1, size);
        slot->chunk->refs = 1;
        page->chunk_count++;
    } else if (__atomic_load_n(&slot->chunk->refs, __ATOMIC_ACQUIRE) > 1) {
        const struct chunk_slot copy = {xmemdup(slot->chunk, size), slot->live};
        copy.chunk->refs = 1;
        rows_visit(table, &copy, table->hooks.row_ref);
        chunk_unref(table, slot);
        *slot = copy;
    }
    return slot->chunk;
}

void *table_edit(struct table *table, uint64_t id)
{
    if (table_get(table, id) == NULL) {
        return NULL;
    }
    const struct table_place place = place_of(table, id);
    struct table_page *page = page_own(table, root_slot(table, place.page));
    struct table_chunk *chunk = chunk_own(table, page, place.chunk);
    return chunk->rows + (size_t)place.row * table->row_size;
}

void *table_put(struct table *table, uint64_t id)
{
    must(id > 0);
    struct table_place place = place_of(table, id);
    struct table_page *page = page_own(table, root_slot(table, place.page));
    struct table_chunk *chunk = chunk_own(table, page, place.chunk);
    uint64_t *live = &page->slots[place.chunk].live;
    must((*live >> place.row & 1) == 0);
    *live |= (uint64_t)1 << place.row;
    table->count++;
    if (id > table->last) {
        table->last = id;
    }
    return memset(chunk->rows + (size_t)place.row * table->row_size, 0, table->row_size);
}

void *table_add(struct table *table)
{
    return table_put(table, table->last + 1);
}

void table_remove(struct table *table, uint64_t id)
{
    struct table_place place = place_of(table, id);
    must(table_get(table, id) != NULL);
    struct table_slot *slot = root_slot(table, place.page);
    struct table_page *page = page_own(table, slot);
    struct table_chunk *chunk = chunk_own(table, page, place.chunk);
    if (table->hooks.row_unref != NULL) {
        table->hooks.row_unref(chunk->rows + (size_t)place.row * table->row_size);
    }
    struct chunk_slot *rows = &page->slots[place.chunk];
    rows->live &= ~((uint64_t)1 << place.row);
    table->count--;
    if (rows->live != 0) {
        return;
    }
    chunk_unref(table, rows);
    rows->chunk = NULL;
    if (--page->chunk_count == 0) {
        page_unref(table, page);
        size_t behind = table->page_count - (size_t)(slot - table->root) - 1;
        memmove(slot, slot + 1, behind * sizeof *slot);
        table->page_count--;
    }
}

/* The first live row of a page from `place` on; 0: none. */
static uint64_t page_next(const struct table *table, const struct table_slot *slot,
                          struct table_place place)
{
    uint64_t first = slot->number * TABLE_PAGE_CHUNKS;
    for (uint32_t i = place.chunk; i < TABLE_PAGE_CHUNKS; i++) {
        const uint32_t row = i == place.chunk ? place.row : 0;
        const uint64_t live = slot->page->slots[i].live >> row;
        if (live != 0) {
            return (first + i) * table->rows_per_chunk + row + (uint64_t)__builtin_ctzll(live);
        }
    }
    return 0;
}

uint64_t table_next(const struct table *table, uint64_t after)
{
    if (after >= table->last) {
        return 0;
    }
    struct table_place place = place_of(table, after + 1);
    for (size_t at = root_find(table, place.page); at < table->page_count; at++) {
        const struct table_slot *slot = &table->root[at];
        uint64_t id =
            page_next(table, slot, slot->number == place.page ? place : (struct table_place){0});
        if (id != 0) {
            return id;
        }
    }
    return 0;
}

/* The last live row of a page up to `place`; 0: none. */
static uint64_t page_prev(const struct table *table, const struct table_slot *slot,
                          struct table_place place)
{
    uint64_t first = slot->number * TABLE_PAGE_CHUNKS;
    for (uint32_t i = place.chunk + 1; i-- > 0;) {
        const uint32_t row = i == place.chunk ? place.row : table->rows_per_chunk - 1;
        const uint64_t live = slot->page->slots[i].live << (63 - row);
        if (live != 0) {
            return (first + i) * table->rows_per_chunk + row - (uint64_t)__builtin_clzll(live);
        }
    }
    return 0;
}

uint64_t table_prev(const struct table *table, uint64_t before)
{
    if (before == 0) {
        return 0;
    }
    struct table_place place = place_of(table, before - 1);
    const struct table_place end = {.chunk = TABLE_PAGE_CHUNKS - 1,
                                    .row = table->rows_per_chunk - 1};
    size_t at = root_find(table, place.page);
    at += at < table->page_count && table->root[at].number == place.page;
    while (at-- > 0) {
        const struct table_slot *slot = &table->root[at];
        uint64_t id = page_prev(table, slot, slot->number == place.page ? place : end);
        if (id != 0) {
            return id;
        }
    }
    return 0;
}
