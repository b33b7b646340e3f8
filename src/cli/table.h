/* table.h - aligned tables with a header. Numbers are aligned to the right. On a terminal no line
 * is longer than its width: sentences go on in further lines, other texts are cut. In a pipe lines
 * are whole. Cells are escaped here, so that text of users
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

/* The column added last is not made narrower than `least`. */
void table_column_least(struct text_table *table, size_t least);

/* The cells of the column added last are sentences: where the table is too wide they go on in
 * further lines and are never cut. At most one column. */
void table_column_sentences(struct text_table *table);

/* Adds the next cell, row by row from the left. The text is escaped here. */
void table_cell(struct text_table *table, struct str text, enum table_colour colour);

size_t table_row_count(const struct text_table *table);

/* FITS_WHOLE: every line fits the width, and only sentences go on in further lines. FITS_CUT: every
 * line fits once texts have been cut as far as they may be. */
enum table_fit { FITS_WHOLE, FITS_CUT };
bool table_fits(const struct text_table *table, enum table_fit how);

/* Appends rows of at most `lines_max` lines (0: all) to `out`, with the header if asked for. No line
 * ends in a blank. Returns the number of rows. */
size_t table_print(const struct text_table *table, bool header, size_t lines_max, struct buf *out);

/* Appends one row as table_print() writes it. */
void table_print_row(const struct text_table *table, size_t row, struct buf *out);

/* Appends a text with its colour, if `colour` allows. */
void table_paint(struct buf *out, bool colour, enum table_colour which, const char *text);
