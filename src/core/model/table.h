/* table.h - rows by dense, growing number, in chunks that copies of the state share.
 *
 *   root (pages in use, by number) ──▶ page (TABLE_PAGE_CHUNKS pointers, ──▶ chunk (rows)
 *                                            with a bit per live row)
 *
 * Pages and chunks are reference-counted (atomically: copies live on other threads) and copied by
 * the first write while shared. A chunk goes with its last row, a page with its last chunk: memory
 * follows the live rows although numbers grow for ever. Row 0 does not exist.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TABLE_PAGE_CHUNKS = 256, TABLE_CHUNK_ROWS_MAX = 64 };

struct table_page;

struct table_slot {
    uint64_t number; /* of the page */
    struct table_page *page;
};

/* For rows that hold references: called for each live row of a chunk that is copied, and for a row
 * that is removed or freed with its table. Both NULL: rows are plain bytes. */
struct table_hooks {
    void (*row_ref)(void *row);
    void (*row_unref)(void *row);
};

struct table {
    size_t row_size;
    uint32_t rows_per_chunk; /* a power of two, at most TABLE_CHUNK_ROWS_MAX */
    uint32_t row_bits;       /* the power */
    uint64_t last;           /* the highest number ever given */
    uint64_t count;          /* live rows */
    size_t page_count;
    size_t page_room;
    struct table_slot *root; /* ascending by number */
    struct table_hooks hooks;
};

/* An empty table. `hooks` may be NULL. */
void table_init(struct table *table, size_t row_size, uint32_t rows_per_chunk,
                const struct table_hooks *hooks);
void table_done(struct table *table);

/* `to` (not initialised) becomes a table with the same rows, sharing all of them. */
void table_copy(struct table *to, const struct table *from);

/* The row, or NULL. Valid until the table changes. */
const void *table_get(const struct table *table, uint64_t id);

/* The row for writing; NULL: there is none. Copies its chunk when it is shared. */
void *table_edit(struct table *table, uint64_t id);

/* A zeroed row at `id`, which must be free; `last` grows to it when it is higher. */
void *table_put(struct table *table, uint64_t id);

/* A zeroed row under the next number, table->last + 1. */
void *table_add(struct table *table);

/* Removes a live row. */
void table_remove(struct table *table, uint64_t id);

/* The nearest live row with a higher (lower) number; 0: none. */
uint64_t table_next(const struct table *table, uint64_t after);
uint64_t table_prev(const struct table *table, uint64_t before);
