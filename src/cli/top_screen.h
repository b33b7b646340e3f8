/* top_screen.h - a screen of character cells: what is to be shown is put into cells, and only the cells that
 * differ from what the terminal shows are written. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

enum { TOP_COLUMNS_MAX = 400, TOP_ROWS_MAX = 200, TOP_GLYPH_MAX = 5 };

/* How a cell looks: a sum of one colour and any number of the others. */
enum top_look {
    LOOK_PLAIN = 0,
    LOOK_RED = 1,
    LOOK_GREEN = 2,
    LOOK_YELLOW = 3,
    LOOK_BLUE = 4,
    LOOK_CYAN = 6,
    LOOK_COLOUR = 7, /* mask */
    LOOK_BOLD = 8,
    LOOK_DIM = 16,
    LOOK_REVERSE = 32,
};

struct top_screen;

/* `colour` false: no colours, but bold and reverse stay. */
struct top_screen *top_screen_new(bool colour);
void top_screen_free(struct top_screen *screen); /* accepts NULL */

/* The terminal has another size, or its content is not known any more: all is written again. */
void top_screen_resize(struct top_screen *screen, size_t columns, size_t rows);
size_t top_screen_columns(const struct top_screen *screen);
size_t top_screen_rows(const struct top_screen *screen);

/* Begins a new picture, with empty cells. */
void top_screen_clear(struct top_screen *screen);

/* Puts text at a place, at most `columns` wide and never beyond the right edge; a text that does not fit ends in "…".
 * Whatever a terminal would obey is made visible. Returns the column behind the text. */
size_t top_screen_put(struct top_screen *screen, size_t row, size_t column, size_t columns,
                      unsigned look, const char *text);

/* Gives the cells of a whole row this look, too. */
void top_screen_mark(struct top_screen *screen, size_t row, unsigned look);

/* Appends what turns the terminal's picture into the new one, and stops behind the row with which `bytes` are reached.
 * False: there is more to write. */
bool top_screen_flush(struct top_screen *screen, struct buf *out, size_t bytes);
