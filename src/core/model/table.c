/* table.c - copy-on-write rows; see the drawing in table.h.
 *
 * Surprising: a row of a shared chunk may be read through any copy at any time, so a write looks at
 * two counts on its way down, the page's and the chunk's; a count of one means that this table alone
 * can reach it, and no other thread can gain a reference except through this table.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/table.h"

#include "base/mem.h"
#include "base/must.h"

struct chunk {
    uint32_t refs;
    uint32_t pad;
    uint64_t live; /* a bit per row */
    unsigned char rows[];
};

struct table_page {
    uint32_t refs;
    uint32_t chunk_count; /* not NULL */
    struct chunk *chunks[TABLE_PAGE_CHUNKS];
};

/* Where a row is. */
struct place {
    uint64_t page;
    uint32_t chunk;
    uint32_t row;
};

static struct place place_of(const struct table *table, uint64_t id)
{
    uint64_t chunk = id / table->rows_per_chunk;
    return (struct place){.page = chunk / TABLE_PAGE_CHUNKS,
                          .chunk = (uint32_t)(chunk % TABLE_PAGE_CHUNKS),
                          .row = (uint32_t)(id % table->rows_per_chunk)};
}

void table_init(struct table *table, size_t row_size, uint32_t rows_per_chunk,
                const struct table_hooks *hooks)
{
    must(row_size > 0);
    must(rows_per_chunk > 0);
    must(rows_per_chunk <= TABLE_CHUNK_ROWS_MAX);
    must((rows_per_chunk & (rows_per_chunk - 1)) == 0);
    *table = (struct table){.row_size = row_size, .rows_per_chunk = rows_per_chunk};
    if (hooks != NULL) {
        table->hooks = *hooks;
    }
}

static void rows_visit(const struct table *table, struct chunk *chunk, void (*visit)(void *row))
{
    if (visit == NULL) {
        return;
    }
    for (uint64_t live = chunk->live; live != 0; live &= live - 1) {
        visit(chunk->rows + (size_t)__builtin_ctzll(live) * table->row_size);
    }
}

static void chunk_unref(const struct table *table, struct chunk *chunk)
{
    if (__atomic_fetch_sub(&chunk->refs, 1, __ATOMIC_ACQ_REL) == 1) {
        rows_visit(table, chunk, table->hooks.row_unref);
        free(chunk);
    }
}

static void page_unref(const struct table *table, struct table_page *page)
{
    if (__atomic_fetch_sub(&page->refs, 1, __ATOMIC_ACQ_REL) != 1) {
        return;
    }
    for (uint32_t i = 0; i < TABLE_PAGE_CHUNKS; i++) {
        if (page->chunks[i] != NULL) {
            chunk_unref(table, page->chunks[i]);
        }
    }
    free(page);
}

void table_done(struct table *table)
{
    for (size_t i = 0; i < table->page_count; i++) {
        page_unref(table, table->root[i].page);
    }
    free(table->root);
    table->root = NULL;
    table->page_count = 0;
    table->page_room = 0;
    table->count = 0;
}

void table_copy(struct table *to, const struct table *from)
{
    *to = *from;
    to->page_room = from->page_count;
    to->root = NULL;
    if (from->page_count == 0) {
        return;
    }
    to->root = xmemdup(from->root, from->page_count * sizeof *from->root);
    for (size_t i = 0; i < to->page_count; i++) {
        (void)__atomic_fetch_add(&to->root[i].page->refs, 1, __ATOMIC_RELAXED);
    }
}

/* How many pages have a lower number. The newest page is asked for most. */
static size_t root_find(const struct table *table, uint64_t number)
{
    size_t low = 0;
    size_t high = table->page_count;
    if (high > 0 && table->root[high - 1].number == number) {
        return high - 1;
    }
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

static struct chunk *chunk_find(const struct table *table, struct place place)
{
    size_t at = root_find(table, place.page);
    if (at == table->page_count || table->root[at].number != place.page) {
        return NULL;
    }
    return table->root[at].page->chunks[place.chunk];
}

const void *table_get(const struct table *table, uint64_t id)
{
    struct place place = place_of(table, id);
    const struct chunk *chunk = chunk_find(table, place);
    if (chunk == NULL || (chunk->live >> place.row & 1) == 0) {
        return NULL;
    }
    return chunk->rows + (size_t)place.row * table->row_size;
}

static struct table_page *page_new(void)
{
    struct table_page *page = xcalloc(1, sizeof *page);
    page->refs = 1;
    return page;
}

/* The root's entry for a page, made when there is none. */
static struct table_slot *root_slot(struct table *table, uint64_t number)
{
    size_t at = root_find(table, number);
    if (at < table->page_count && table->root[at].number == number) {
        return &table->root[at];
    }
    if (table->page_count == table->page_room) {
        table->page_room = table->page_room > 0 ? table->page_room * 2 : 4;
        table->root = xrealloc(table->root, table->page_room, sizeof *table->root);
    }
    struct table_slot *slot = &table->root[at];
    memmove(slot + 1, slot, (table->page_count - at) * sizeof *slot);
    table->page_count++;
    *slot = (struct table_slot){number, page_new()};
    return slot;
}

/* The page of this entry, not shared with anybody. */
static struct table_page *page_own(const struct table *table, struct table_slot *slot)
{
    struct table_page *page = slot->page;
    if (__atomic_load_n(&page->refs, __ATOMIC_ACQUIRE) == 1) {
        return page;
    }
    struct table_page *copy = xmemdup(page, sizeof *page);
    copy->refs = 1;
    for (uint32_t i = 0; i < TABLE_PAGE_CHUNKS; i++) {
        if (copy->chunks[i] != NULL) {
            (void)__atomic_fetch_add(&copy->chunks[i]->refs, 1, __ATOMIC_RELAXED);
        }
    }
    page_unref(table, page);
    slot->page = copy;
    return copy;
}

static struct chunk *chunk_own(const struct table *table, struct table_page *page, uint32_t index)
{
    size_t size = sizeof(struct chunk) + table->row_size * table->rows_per_chunk;
    struct chunk *chunk = page->chunks[index];
    if (chunk == NULL) {
        chunk = xcalloc(1, size);
        chunk->refs = 1;
        page->chunk_count++;
    } else if (__atomic_load_n(&chunk->refs, __ATOMIC_ACQUIRE) > 1) {
        struct chunk *copy = xmemdup(chunk, size);
        copy->refs = 1;
        rows_visit(table, copy, table->hooks.row_ref);
        chunk_unref(table, chunk);
        chunk = copy;
    }
    page->chunks[index] = chunk;
    return chunk;
}

void *table_edit(struct table *table, uint64_t id)
{
    struct place place = place_of(table, id);
    const struct chunk *found = chunk_find(table, place);
    if (found == NULL || (found->live >> place.row & 1) == 0) {
        return NULL;
    }
    struct table_page *page = page_own(table, root_slot(table, place.page));
    struct chunk *chunk = chunk_own(table, page, place.chunk);
    return chunk->rows + (size_t)place.row * table->row_size;
}

void *table_put(struct table *table, uint64_t id)
{
    must(id > 0);
    struct place place = place_of(table, id);
    struct table_page *page = page_own(table, root_slot(table, place.page));
    struct chunk *chunk = chunk_own(table, page, place.chunk);
    must((chunk->live >> place.row & 1) == 0);
    chunk->live |= (uint64_t)1 << place.row;
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
    struct place place = place_of(table, id);
    must(table_get(table, id) != NULL);
    struct table_slot *slot = root_slot(table, place.page);
    struct table_page *page = page_own(table, slot);
    struct chunk *chunk = chunk_own(table, page, place.chunk);
    if (table->hooks.row_unref != NULL) {
        table->hooks.row_unref(chunk->rows + (size_t)place.row * table->row_size);
    }
    chunk->live &= ~((uint64_t)1 << place.row);
    table->count--;
    if (chunk->live != 0) {
        return;
    }
    chunk_unref(table, chunk);
    page->chunks[place.chunk] = NULL;
    if (--page->chunk_count == 0) {
        page_unref(table, page);
        size_t behind = table->page_count - (size_t)(slot - table->root) - 1;
        memmove(slot, slot + 1, behind * sizeof *slot);
        table->page_count--;
    }
}

/* The first live row of a page from `place` on; 0: none. */
static uint64_t page_next(const struct table *table, const struct table_slot *slot,
                          struct place place)
{
    uint64_t first = slot->number * TABLE_PAGE_CHUNKS;
    for (uint32_t i = place.chunk; i < TABLE_PAGE_CHUNKS; i++) {
        const struct chunk *chunk = slot->page->chunks[i];
        uint32_t row = i == place.chunk ? place.row : 0;
        uint64_t live = chunk != NULL ? chunk->live >> row : 0;
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
    struct place place = place_of(table, after + 1);
    for (size_t at = root_find(table, place.page); at < table->page_count; at++) {
        const struct table_slot *slot = &table->root[at];
        uint64_t id =
            page_next(table, slot, slot->number == place.page ? place : (struct place){0});
        if (id != 0) {
            return id;
        }
    }
    return 0;
}

/* The last live row of a page up to `place`; 0: none. */
static uint64_t page_prev(const struct table *table, const struct table_slot *slot,
                          struct place place)
{
    uint64_t first = slot->number * TABLE_PAGE_CHUNKS;
    for (uint32_t i = place.chunk + 1; i-- > 0;) {
        const struct chunk *chunk = slot->page->chunks[i];
        uint32_t row = i == place.chunk ? place.row : table->rows_per_chunk - 1;
        uint64_t live = chunk != NULL ? chunk->live << (63 - row) : 0;
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
    struct place place = place_of(table, before - 1);
    const struct place end = {.chunk = TABLE_PAGE_CHUNKS - 1, .row = table->rows_per_chunk - 1};
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
