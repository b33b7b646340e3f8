/* list_table.h - the table of a list, with the columns that a terminal has room for.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"
#include "cli/list.h"
#include "cli/table.h"

struct list_table_view {
    const struct doc *const *items;
    size_t count;
    size_t width; /* 0: no terminal */
    bool colour;
    int64_t now_ms; /* ages are counted to this moment */
    bool wide;      /* absolute times */
    bool fixed;     /* the person named the columns: all are shown */
};

struct list_table {
    struct text_table *table;
    size_t width;
    struct buf same;     /* "user ann, pool gpu": columns with the same text in every line */
    struct buf left_out; /* "SUBMITTED, USER": columns without room */
};

/* Builds the table. Where the columns are too wide together, in this order: sentences go below
 * their lines; columns with the same text in every line are said once; texts are cut; columns are
 * left out. list_table_done() frees it. */
void list_table_build(const struct list_table_view *view, const struct list_column *const *columns,
                      size_t count, struct list_table *ret);
void list_table_done(struct list_table *list);

/* Appends a table to `out`: the line above the header, the header and all rows. */
void list_table_put(const struct list_table_view *view, const struct list_column *const *columns,
                    size_t count, struct buf *out);

/* Appends the line that stands above the header, if there is one. */
void list_table_head(const struct list_table *list, bool colour, struct buf *out);
