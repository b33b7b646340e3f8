/* table.c - see table.h. Widths are computed when the table is printed. First each column is as
 * wide as its widest cell. When a line is wider than the terminal, sentences are wrapped: inside
 * their column, or below the line when the column would be too narrow to read. Then the widest text
 * column is made narrower step by step until the line fits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include "base/mem.h"
#include "base/must.h"
#include "base/vec.h"
#include "base/width.h"
#include "cli/text.h"

#include <stdint.h>
#include <string.h>

enum {
    COLUMN_MIN = 6,
    GAP = 2,
    SENTENCE_MIN = 32, /* a narrower column of sentences goes below its line */
    BELOW_INDENT = 4,
    ROW_BYTES_MAX = 1 << 20,
};

struct cell {
    const char *text; /* escaped, in the arena */
    uint32_t len;
    uint32_t width;
    enum table_colour colour;
};

struct column {
    const char *title;
    bool number;
    bool sentence;
    size_t least; /* the column is not made narrower than this */
};

/* How the lines of a table are printed. */
struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
    size_t wrapped; /* the column whose cells take several lines; SIZE_MAX: none */
    bool below;     /* these cells stand below their line, not in their column */
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
        (struct column){.title = arena_str(&table->arena, title),
                        .number = number,
                        .least = number ? SIZE_MAX : COLUMN_MIN};
}

void table_column_least(struct text_table *table, size_t least)
{
    must(table->column_count > 0);
    table->columns[table->column_count - 1].least = least;
}

void table_column_sentences(struct text_table *table)
{
    must(table->column_count > 0);
    table->columns[table->column_count - 1].sentence = true;
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
        .width = (uint32_t)width_of(shown),
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

/* Returns the widest column that can still be narrower; SIZE_MAX: there is none. */
static size_t widest_text(const struct text_table *table, const struct layout *layout)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < table->column_count; i++) {
        if (i == layout->wrapped || layout->widths[i] <= table->columns[i].least) {
            continue;
        }
        if (best == SIZE_MAX || layout->widths[i] >= layout->widths[best]) {
            best = i;
        }
    }
    return best;
}

/* Computes the widest cell of each column. Returns the width of a whole line. */
static size_t widths_full(const struct text_table *table, bool header, size_t *widths)
{
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = header ? width_of(str_of(table->columns[i].title)) : 0;
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

/* Lets the sentences go on in further lines. Returns the width of the line that is left. */
static size_t sentences_wrap(const struct text_table *table, size_t total, struct layout *layout)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (!table->columns[i].sentence) {
            continue;
        }
        const bool last = i + 1 == table->column_count;
        size_t rest = total - layout->widths[i];
        layout->wrapped = i;
        if (last && rest + SENTENCE_MIN <= table->width) {
            layout->widths[i] = table->width - rest;
            return table->width;
        }
        layout->below = true;
        layout->widths[i] = 0;
        return rest > GAP ? rest - GAP : rest;
    }
    return total;
}

/* Computes the layout before a column is cut. Returns the width of a line. */
static size_t layout_whole(const struct text_table *table, bool header, struct layout *layout)
{
    *layout = (struct layout){.wrapped = SIZE_MAX};
    size_t total = widths_full(table, header, layout->widths);
    return table->width == 0 || total <= table->width ? total
                                                      : sentences_wrap(table, total, layout);
}

static size_t layout_find(const struct text_table *table, bool header, struct layout *layout)
{
    size_t total = layout_whole(table, header, layout);
    while (table->width != 0 && total > table->width) {
        size_t column = widest_text(table, layout);
        if (column == SIZE_MAX) {
            break;
        }
        layout->widths[column]--;
        total--;
    }
    return total;
}

bool table_fits(const struct text_table *table, enum table_fit how)
{
    struct layout layout;
    size_t total =
        how == FITS_WHOLE ? layout_whole(table, true, &layout) : layout_find(table, true, &layout);
    return table->width == 0 || total <= table->width;
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

/* Takes the beginning of `rest` that fits `room` columns, broken between words where it can be. */
static struct str piece_take(struct str *rest, size_t room)
{
    size_t end = rest->len;
    if (width_of(*rest) > room) {
        end = width_fit(*rest, room);
        size_t blank = end;
        while (blank > 0 && rest->p[blank] != ' ') {
            blank--;
        }
        end = blank > 0 ? blank : end;
        end = end > 0 ? end : rest->len;
    }
    struct str piece = {.p = rest->p, .len = end};
    rest->p += end;
    rest->len -= end;
    *rest = str_trim(*rest);
    return piece;
}

/* Prints the rest of a wrapped cell, each part in a line of its own. Returns the number of these lines. */
static size_t further_print(struct str rest, size_t indent, size_t room, struct buf *out)
{
    size_t lines = 0;
    while (rest.len > 0) {
        struct str piece = piece_take(&rest, room);
        pad(out, indent);
        buf_add(out, piece.p, piece.len);
        buf_add_char(out, '\n');
        lines++;
    }
    return lines;
}

/* Where the next cell of a line goes. */
struct line_state {
    size_t used; /* columns written */
    size_t owed; /* blanks that are written only before further text */
};

static void cell_print(const struct text_table *table, const struct cell *cell, struct str text,
                       size_t left, struct line_state *line, struct buf *out)
{
    bool paint = table->colour && cell->colour != COLOUR_NONE;
    pad(out, line->owed + left);
    line->used += line->owed + left;
    line->owed = 0;
    buf_add_str(out, paint ? colour_codes[cell->colour] : "");
    buf_add(out, text.p, text.len);
    buf_add_str(out, text.len < cell->len ? "…" : "");
    buf_add_str(out, paint ? "\033[0m" : "");
}

/* Prints a row, in lines of at most the terminal's width. A column that does not fit is left out.
 * Returns the number of lines. */
static size_t line_print(const struct text_table *table, const struct cell *cells,
                         const struct layout *layout, struct buf *out)
{
    struct line_state line = {0};
    struct str rest = {0};
    size_t indent = BELOW_INDENT;
    for (size_t i = 0; i < table->column_count; i++) {
        const struct cell *cell = &cells[i];
        struct str text = {.p = cell->text, .len = cell->len};
        size_t room = layout->widths[i];
        if (i == layout->wrapped && layout->below) {
            rest = text;
            continue;
        }
        if (i == layout->wrapped) { /* the last column */
            rest = text;
            indent = line.used + line.owed;
            text = piece_take(&rest, room);
            pad(out, text.len > 0 ? line.owed : 0);
            buf_add(out, text.p, text.len);
            break;
        }
        size_t width = cell->width;
        if (width > room) {
            text.len = width_fit(text, room - 1);
            width = width_of(text) + 1;
        }
        size_t left = table->columns[i].number ? room - width : 0;
        if (table->width != 0 && line.used + line.owed + left + width > table->width) {
            break;
        }
        if (width > 0) {
            cell_print(table, cell, text, left, &line, out);
            line.used += width;
            left = 0;
        }
        line.owed += left + (table->columns[i].number ? 0 : room - width) + GAP;
    }
    buf_add_char(out, '\n');
    size_t room = table->width > indent ? table->width - indent : SIZE_MAX;
    return 1 + further_print(rest, indent, room, out);
}

static void header_print(const struct text_table *table, const struct layout *layout,
                         struct buf *out)
{
    struct layout plain = *layout;
    if (plain.wrapped != SIZE_MAX && !plain.below) {
        plain.wrapped = SIZE_MAX; /* a title is one word */
    }
    struct cell titles[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) {
        struct str title = str_of(plain.below && i == plain.wrapped ? "" : table->columns[i].title);
        titles[i] = (struct cell){
            .text = title.p,
            .len = (uint32_t)title.len,
            .width = (uint32_t)width_of(title),
            .colour = COLOUR_DIM,
        };
    }
    (void)line_print(table, titles, &plain, out);
}

size_t table_print(const struct text_table *table, bool header, size_t lines_max, struct buf *out)
{
    struct layout layout;
    (void)layout_find(table, header, &layout);
    if (header) {
        header_print(table, &layout, out);
    }
    size_t rows = table_row_count(table);
    size_t lines = 0;
    size_t row = 0;
    struct buf text;
    buf_init(&text, ROW_BYTES_MAX);
    while (row < rows) {
        buf_clear(&text);
        lines += line_print(table, &table->cells.at[row * table->column_count], &layout, &text);
        if (lines_max != 0 && lines > lines_max) {
            break;
        }
        buf_add(out, buf_text(&text), text.len);
        row++;
    }
    buf_done(&text);
    return row;
}

void table_print_row(const struct text_table *table, size_t row, struct buf *out)
{
    struct layout layout;
    (void)layout_find(table, true, &layout);
    must(row < table_row_count(table));
    (void)line_print(table, &table->cells.at[row * table->column_count], &layout, out);
}
