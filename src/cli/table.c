/* table.c - see table.h. Widths are computed when the table is printed. First each column is as
 * wide as its widest cell. Then, on a terminal, the widest text column is made narrower step by
 * step until the line fits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "cli/text.h"

#include <stdint.h>
#include <string.h>

enum { COLUMN_MIN = 6, GAP = 2 };

struct cell {
    const char *text; /* escaped, in the arena */
    uint32_t len;
    uint32_t width;
    enum table_colour colour;
};

struct column {
    const char *title;
    bool number;
};

struct text_table {
    struct arena arena;
    size_t width;
    bool colour;
    struct column columns[TABLE_COLUMNS_MAX];
    size_t column_count;
    VEC(struct cell) cells;
};

struct text_table *table_new(size_t width, bool colour)
{
    struct text_table *table = xcalloc(1, sizeof *table);
    arena_init(&table->arena);
    table->width = width;
    table->colour = colour;
    return table;
}

void table_free(struct text_table *table)
{
    if (table != NULL) {
        arena_done(&table->arena);
        vec_done(&table->cells);
        free(table);
    }
}

void table_freep(struct text_table **table)
{
    table_free(*table);
}

void table_column(struct text_table *table, const char *title, bool number)
{
    must(table->column_count < TABLE_COLUMNS_MAX);
    must(table->cells.count == 0);
    table->columns[table->column_count++] =
        (struct column){.title = arena_str(&table->arena, title), .number = number};
}

void table_cell(struct text_table *table, struct str text, enum table_colour colour)
{
    must(table->column_count > 0);
    struct buf escaped;
    buf_init(&escaped, TABLE_CELL_MAX * 6);
    if (text.len > TABLE_CELL_MAX) {
        text.len = TABLE_CELL_MAX;
    }
    text_escape(&escaped, text);
    struct str shown = {.p = buf_text(&escaped), .len = escaped.len};
    struct cell cell = {
        .text = arena_strn(&table->arena, shown.p, shown.len),
        .len = (uint32_t)shown.len,
        .width = (uint32_t)text_width(shown),
        .colour = colour,
    };
    buf_done(&escaped);
    vec_push(&table->cells, cell);
}

size_t table_row_count(const struct text_table *table)
{
    must(table->column_count > 0);
    must(table->cells.count % table->column_count == 0);
    return table->cells.count / table->column_count;
}

/* Returns the widest text column that can still be narrower; SIZE_MAX: there is none. */
static size_t widest_text(const struct text_table *table, const size_t *widths)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].number || widths[i] <= COLUMN_MIN) {
            continue;
        }
        if (best == SIZE_MAX || widths[i] >= widths[best]) {
            best = i;
        }
    }
    return best;
}

/* Computes the widest cell of each column. Returns the width of a whole line. */
static size_t widths_full(const struct text_table *table, bool header, size_t *widths)
{
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = header ? text_width(str_of(table->columns[i].title)) : 0;
    }
    for (size_t i = 0; i < table->cells.count; i++) {
        size_t column = i % table->column_count;
        if (table->cells.at[i].width > widths[column]) {
            widths[column] = table->cells.at[i].width;
        }
    }
    size_t total = GAP * (table->column_count - 1);
    for (size_t i = 0; i < table->column_count; i++) {
        total += widths[i];
    }
    return total;
}

bool table_fits(const struct text_table *table)
{
    size_t widths[TABLE_COLUMNS_MAX];
    return table->width == 0 || widths_full(table, true, widths) <= table->width;
}

static void widths_find(const struct text_table *table, bool header, size_t *widths)
{
    size_t total = widths_full(table, header, widths);
    while (table->width != 0 && total > table->width) {
        size_t column = widest_text(table, widths);
        if (column == SIZE_MAX) {
            break;
        }
        widths[column]--;
        total--;
    }
}

static const char *const colour_codes[] = {"",         "\033[32m", "\033[33m",
                                           "\033[31m", "\033[34m", "\033[2m"};

void table_paint(struct buf *out, bool colour, enum table_colour which, const char *text)
{
    bool paint = colour && which != COLOUR_NONE;
    buf_add_str(out, paint ? colour_codes[which] : "");
    buf_add_str(out, text);
    buf_add_str(out, paint ? "\033[0m" : "");
}

static void pad(struct buf *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_add_char(out, ' ');
    }
}

/* Prints a line of at most the terminal's width. A column that does not fit is left out. */
static void line_print(const struct text_table *table, const struct cell *cells,
                       const size_t *widths, struct buf *out)
{
    size_t owed = 0; /* blanks that are written only before further text */
    size_t used = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct cell *cell = &cells[i];
        struct str text = {.p = cell->text, .len = cell->len};
        size_t width = cell->width;
        bool cut = width > widths[i];
        if (cut) {
            text.len = text_fit(text, widths[i] - 1);
            width = text_width(text) + 1;
        }
        size_t left = table->columns[i].number ? widths[i] - width : 0;
        if (table->width != 0 && used + owed + left + width > table->width) {
            break;
        }
        if (width > 0) {
            pad(out, owed + left);
            used += owed + left + width;
            owed = 0;
            left = 0;
            bool paint = table->colour && cell->colour != COLOUR_NONE;
            buf_add_str(out, paint ? colour_codes[cell->colour] : "");
            buf_add(out, text.p, text.len);
            buf_add_str(out, cut ? "…" : "");
            buf_add_str(out, paint ? "\033[0m" : "");
        }
        owed += left + (table->columns[i].number ? 0 : widths[i] - width) + GAP;
    }
    buf_add_char(out, '\n');
}

static void header_print(const struct text_table *table, const size_t *widths, struct buf *out)
{
    struct cell titles[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) {
        struct str title = str_of(table->columns[i].title);
        titles[i] = (struct cell){
            .text = title.p,
            .len = (uint32_t)title.len,
            .width = (uint32_t)text_width(title),
            .colour = COLOUR_DIM,
        };
    }
    line_print(table, titles, widths, out);
}

void table_print(const struct text_table *table, bool header, size_t rows_max, struct buf *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    widths_find(table, header, widths);
    if (header) {
        header_print(table, widths, out);
    }
    size_t rows = table_row_count(table);
    if (rows_max != 0 && rows > rows_max) {
        rows = rows_max;
    }
    for (size_t row = 0; row < rows; row++) {
        line_print(table, &table->cells.at[row * table->column_count], widths, out);
    }
}

void table_print_row(const struct text_table *table, size_t row, struct buf *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    widths_find(table, true, widths);
    must(row < table_row_count(table));
    line_print(table, &table->cells.at[row * table->column_count], widths, out);
}
