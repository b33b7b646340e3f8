/* table.h - aligned tables: a header, numbers to the right, trimmed to the terminal where there is
 * one, whole in a pipe. Cells are escaped here, so user text cannot disturb the terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { TABLE_COLUMNS_MAX = 24, TABLE_CELL_MAX = 4096 };

enum table_colour { COLOUR_NONE, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_RED, COLOUR_BLUE, COLOUR_DIM };

struct text_table;

/* `width` 0: no trimming. `colour`: escape sequences may be used. */
struct text_table *table_new(size_t width, bool colour);
void table_free(struct text_table *table);
void table_freep(struct text_table **table);

/* Before the first row. Numbers stand to the right and are never cut. */
void table_column(struct text_table *table, const char *title, bool number);

/* The next cell, row by row from the left; raw user text is welcome. */
void table_cell(struct text_table *table, struct str text, enum table_colour colour);

size_t table_row_count(const struct text_table *table);

/* Does every line fit the width without being cut? */
bool table_fits(const struct text_table *table);

/* Appends the table (header included when asked for) to `out`, at most `rows_max` rows of it (0:
 * all). No line ends in a blank. */
void table_print(const struct text_table *table, bool header, size_t rows_max, struct buf *out);

/* Appends one row as table_print would write it. */
void table_print_row(const struct text_table *table, size_t row, struct buf *out);

/* Colours around a text, where they are wanted. */
void table_paint(struct buf *out, bool colour, enum table_colour which, const char *text);
