/* table.h - aligned tables with a header. Numbers are aligned to the right. On a terminal lines
 * are cut to its width, in a pipe they are whole. Cells are escaped here, so that text of users
 * cannot disturb the terminal.
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

/* With `width` 0 nothing is cut. `colour` allows escape sequences. */
struct text_table *table_new(size_t width, bool colour);
void table_free(struct text_table *table);
void table_freep(struct text_table **table);

/* Adds a column, before the first row. Numbers are aligned to the right and never cut. */
void table_column(struct text_table *table, const char *title, bool number);

/* Adds the next cell, row by row from the left. The text is escaped here. */
void table_cell(struct text_table *table, struct str text, enum table_colour colour);

size_t table_row_count(const struct text_table *table);

/* True when every line fits the width without being cut. */
bool table_fits(const struct text_table *table);

/* Appends at most `rows_max` rows (0: all) to `out`, with the header if asked for. No line ends
 * in a blank. */
void table_print(const struct text_table *table, bool header, size_t rows_max, struct buf *out);

/* Appends one row as table_print() writes it. */
void table_print_row(const struct text_table *table, size_t row, struct buf *out);

/* Appends a text with its colour, if `colour` allows. */
void table_paint(struct buf *out, bool colour, enum table_colour which, const char *text);
