/* table.h - a table of rows. Each row has a number; numbers grow and are dense. Copies of the state share
 * chunks of rows.
 *
 *   root (pages in use, by number) ──▶ page (TABLE_PAGE_CHUNKS pointers, ──▶ chunk (rows)
 *                                            with a bit per live row)
 *
 * Roots, pages and chunks are reference-counted, atomically because copies live on other threads. A copy shares the root,
 * so it costs the same whatever the table has. The first write to a shared root, page or chunk copies it. A chunk is freed with its last row, a page with its last chunk, so memory
 * follows the live rows although numbers grow for ever. Row 0 does not exist.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TABLE_PAGE_CHUNKS = 256, TABLE_CHUNK_ROWS_MAX = 64 };

struct table_page;

struct table_slot {
    uint64_t number; /* number of the page */
    struct table_page *page;
};

/* Hooks for rows that hold references. row_ref is called for each live row of a chunk that is copied.
 * row_unref is called for a row that is removed or freed with its table. Both NULL: rows are plain bytes. */
struct table_hooks {
    void (*row_ref)(void *row);
    void (*row_unref)(void *row);
};

struct table {
    size_t row_size;
    uint32_t rows_per_chunk; /* a power of two, at most TABLE_CHUNK_ROWS_MAX */
    uint32_t row_bits;       /* log2 of rows_per_chunk */
    uint64_t last;           /* the highest number ever given */
    uint64_t count;          /* live rows */
    size_t page_count;
    size_t page_room;
    struct table_slot *root; /* the pages in use, ascending by number */
    struct table_hooks hooks;
};

/* An empty table. `hooks` may be NULL. */
void table_init(struct table *table, size_t row_size, uint32_t rows_per_chunk,
                const struct table_hooks *hooks);
void table_done(struct table *table);

/* Makes `to` (not initialised) a table with the same rows. Both tables share all pages. */
void table_copy(struct table *to, const struct table *from);

/* The row; NULL: there is none. The pointer is valid until the table changes. */
const void *table_get(const struct table *table, uint64_t id);

/* The row for writing; NULL: there is none. A shared chunk is copied first. */
void *table_edit(struct table *table, uint64_t id);

/* A new zeroed row with number `id`, which must be free. `last` becomes `id` when `id` is higher. */
void *table_put(struct table *table, uint64_t id);

/* A new zeroed row with the next number, table->last + 1. */
void *table_add(struct table *table);

/* Removes a live row. */
void table_remove(struct table *table, uint64_t id);

/* The number of the nearest live row above `after` (below `before`); 0: there is none. */
uint64_t table_next(const struct table *table, uint64_t after);
uint64_t table_prev(const struct table *table, uint64_t before);
