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
    uint64_t page; /* from 0, before page_first is taken off */
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
    if (page == NULL || __atomic_fetch_sub(&page->refs, 1, __ATOMIC_ACQ_REL) != 1) {
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
        page_unref(table, table->root[i]);
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
        if (to->root[i] != NULL) {
            (void)__atomic_fetch_add(&to->root[i]->refs, 1, __ATOMIC_RELAXED);
        }
    }
}

static struct chunk *chunk_find(const struct table *table, struct place place)
{
    if (place.page < table->page_first || place.page - table->page_first >= table->page_count) {
        return NULL;
    }
    const struct table_page *page = table->root[place.page - table->page_first];
    return page != NULL ? page->chunks[place.chunk] : NULL;
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

/* The root slot for a page, growing the root at either end. */
static struct table_page **root_slot(struct table *table, uint64_t page)
{
    if (table->page_count == 0) {
        table->page_first = page;
    }
    uint64_t first = page < table->page_first ? page : table->page_first;
    uint64_t end = table->page_first + table->page_count;
    size_t need = (size_t)((page >= end ? page + 1 : end) - first);
    if (need > table->page_room) {
        size_t room = table->page_room * 2 > need ? table->page_room * 2 : need;
        table->root = xrealloc(table->root, room, sizeof *table->root);
        table->page_room = room;
    }
    size_t shift = (size_t)(table->page_first - first);
    if (shift > 0) {
        memmove(table->root + shift, table->root, table->page_count * sizeof *table->root);
        memset(table->root, 0, shift * sizeof *table->root);
    }
    size_t used = table->page_count + shift;
    if (need > used) {
        memset(table->root + used, 0, (need - used) * sizeof *table->root);
    }
    table->page_first = first;
    table->page_count = need;
    return &table->root[page - first];
}

/* The page at this slot, not shared with anybody; made when missing. */
static struct table_page *page_own(const struct table *table, struct table_page **slot)
{
    struct table_page *page = *slot;
    if (page == NULL) {
        page = xcalloc(1, sizeof *page);
        page->refs = 1;
    } else if (__atomic_load_n(&page->refs, __ATOMIC_ACQUIRE) > 1) {
        struct table_page *copy = xmemdup(page, sizeof *page);
        copy->refs = 1;
        for (uint32_t i = 0; i < TABLE_PAGE_CHUNKS; i++) {
            if (copy->chunks[i] != NULL) {
                (void)__atomic_fetch_add(&copy->chunks[i]->refs, 1, __ATOMIC_RELAXED);
            }
        }
        page_unref(table, page);
        page = copy;
    }
    *slot = page;
    return page;
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
    struct table_page *page = page_own(table, &table->root[place.page - table->page_first]);
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

/* Drop empty pages at the front and at the end of the root. */
static void root_trim(struct table *table)
{
    while (table->page_count > 0 && table->root[table->page_count - 1] == NULL) {
        table->page_count--;
    }
    size_t dead = 0;
    while (dead < table->page_count && table->root[dead] == NULL) {
        dead++;
    }
    if (dead > 0) {
        table->page_count -= dead;
        table->page_first += dead;
        memmove(table->root, table->root + dead, table->page_count * sizeof *table->root);
    }
}

void table_remove(struct table *table, uint64_t id)
{
    struct place place = place_of(table, id);
    must(table_get(table, id) != NULL);
    struct table_page **slot = &table->root[place.page - table->page_first];
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
        *slot = NULL;
        root_trim(table);
    }
}

uint64_t table_next(const struct table *table, uint64_t after)
{
    if (after >= table->last || table->page_count == 0) {
        return 0;
    }
    uint64_t id = after + 1;
    uint64_t page_rows = (uint64_t)table->rows_per_chunk * TABLE_PAGE_CHUNKS;
    if (id < table->page_first * page_rows) {
        id = table->page_first * page_rows;
    }
    while (id <= table->last) {
        struct place place = place_of(table, id);
        if (place.page - table->page_first >= table->page_count) {
            return 0;
        }
        const struct table_page *page = table->root[place.page - table->page_first];
        if (page == NULL) {
            id = (place.page + 1) * page_rows;
            continue;
        }
        const struct chunk *chunk = page->chunks[place.chunk];
        uint64_t live = chunk != NULL ? chunk->live >> place.row : 0;
        if (live != 0) {
            return id + (uint64_t)__builtin_ctzll(live);
        }
        id += table->rows_per_chunk - place.row;
    }
    return 0;
}

uint64_t table_prev(const struct table *table, uint64_t before)
{
    uint64_t page_rows = (uint64_t)table->rows_per_chunk * TABLE_PAGE_CHUNKS;
    uint64_t end = (table->page_first + table->page_count) * page_rows;
    uint64_t id = before < end ? before : end; /* one above the next candidate */
    while (id > table->page_first * page_rows) {
        struct place place = place_of(table, id - 1);
        const struct table_page *page = table->root[place.page - table->page_first];
        if (page == NULL) {
            id = place.page * page_rows;
            continue;
        }
        const struct chunk *chunk = page->chunks[place.chunk];
        uint64_t live = chunk != NULL ? chunk->live << (63 - place.row) : 0;
        if (live != 0) {
            return id - 1 - (uint64_t)__builtin_clzll(live);
        }
        id -= place.row + 1;
    }
    return 0;
}
