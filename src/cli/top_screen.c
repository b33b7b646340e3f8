/* top_screen.c - see top_screen.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_screen.h"

#include "base/inert.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/width.h"

#include <string.h>

enum { TEXT_BYTES_MAX = 16 * 1024, SKIP_MAX = 4 };

struct top_cell {
    char glyph[TOP_GLYPH_MAX]; /* UTF-8 with a NUL; "": the right half of a wide glyph */
    uint8_t look;
};

struct top_screen {
    size_t columns;
    size_t rows;
    bool colour;
    bool unknown; /* nobody knows what the terminal shows */
    struct top_cell *now;
    struct top_cell *shown;
};

struct top_screen *top_screen_new(bool colour)
{
    struct top_screen *screen = xcalloc(1, sizeof *screen);
    screen->colour = colour;
    return screen;
}

void top_screen_free(struct top_screen *screen)
{
    if (screen != NULL) {
        free(screen->now);
        free(screen->shown);
        free(screen);
    }
}

size_t top_screen_columns(const struct top_screen *screen)
{
    return screen->columns;
}

size_t top_screen_rows(const struct top_screen *screen)
{
    return screen->rows;
}

void top_screen_resize(struct top_screen *screen, size_t columns, size_t rows)
{
    screen->columns = columns < TOP_COLUMNS_MAX ? columns : TOP_COLUMNS_MAX;
    screen->rows = rows < TOP_ROWS_MAX ? rows : TOP_ROWS_MAX;
    free(screen->now);
    free(screen->shown);
    screen->now = xcalloc(screen->columns * screen->rows + 1, sizeof *screen->now);
    screen->shown = xcalloc(screen->columns * screen->rows + 1, sizeof *screen->shown);
    screen->unknown = true;
    top_screen_clear(screen);
}

void top_screen_clear(struct top_screen *screen)
{
    for (size_t i = 0; i < screen->columns * screen->rows; i++) {
        screen->now[i] = (struct top_cell){.glyph = " "};
    }
}

/* Bytes of the glyph at the begin of a text, which is UTF-8. */
static size_t glyph_len(const char *text)
{
    size_t len = 1;
    while (((unsigned char)text[len] & 0xc0) == 0x80) {
        len++;
    }
    return len;
}

/* Puts glyphs until `end`. Returns the column behind the last one. */
static size_t glyphs_put(struct top_screen *screen, size_t row, size_t column, size_t end,
                         unsigned look, struct str text)
{
    struct top_cell *line = screen->now + row * screen->columns;
    for (size_t at = 0; at < text.len;) {
        const size_t len = glyph_len(text.p + at);
        const size_t wide = width_of((struct str){text.p + at, len});
        if (wide == 0 || len >= TOP_GLYPH_MAX) { /* a mark that joins the glyph before */
            at += len;
            continue;
        }
        if (column + wide > end) {
            break;
        }
        line[column] = (struct top_cell){.look = (uint8_t)look};
        memcpy(line[column].glyph, text.p + at, len);
        for (size_t k = 1; k < wide; k++) {
            line[column + k] = (struct top_cell){.look = (uint8_t)look};
        }
        column += wide;
        at += len;
    }
    return column;
}

size_t top_screen_put(struct top_screen *screen, size_t row, size_t column, size_t columns,
                      unsigned look, const char *text)
{
    if (row >= screen->rows || column >= screen->columns || columns == 0) {
        return column;
    }
    const size_t room = screen->columns - column;
    const size_t end = column + (columns < room ? columns : room);
    struct buf safe;
    buf_init(&safe, TEXT_BYTES_MAX);
    inert_add(&safe, str_of(text));
    const struct str all = {buf_text(&safe), safe.len};
    if (width_of(all) <= end - column) {
        column = glyphs_put(screen, row, column, end, look, all);
    } else {
        const size_t fits = width_fit(all, end - column - 1);
        column = glyphs_put(screen, row, column, end - 1, look, (struct str){all.p, fits});
        column = glyphs_put(screen, row, column, end, look, str_of("…"));
    }
    buf_done(&safe);
    return column;
}

void top_screen_mark(struct top_screen *screen, size_t row, unsigned look)
{
    for (size_t i = 0; row < screen->rows && i < screen->columns; i++) {
        screen->now[row * screen->columns + i].look |= (uint8_t)look;
    }
}

static void look_write(const struct top_screen *screen, struct buf *out, unsigned look)
{
    buf_add_str(out, "\x1b[0");
    if ((look & LOOK_COLOUR) != 0 && screen->colour) {
        buf_addf(out, ";3%u", look & LOOK_COLOUR);
    }
    buf_add_str(out, (look & LOOK_BOLD) != 0 ? ";1" : "");
    buf_add_str(out, (look & LOOK_DIM) != 0 ? ";2" : "");
    buf_add_str(out, (look & LOOK_REVERSE) != 0 ? ";7" : "");
    buf_add_str(out, "m");
}

static bool same(const struct top_cell *a, const struct top_cell *b)
{
    return a->look == b->look && strcmp(a->glyph, b->glyph) == 0;
}

/* Where the terminal's cursor is and how it writes. */
struct pen {
    size_t row;
    size_t column;
    unsigned look;
    bool known;
};

static void cell_write(const struct top_screen *screen, struct buf *out, struct pen *pen,
                       size_t row, size_t column)
{
    const struct top_cell *line = screen->now + row * screen->columns;
    const bool near =
        pen->known && pen->row == row && pen->column <= column && column - pen->column <= SKIP_MAX;
    size_t from = column;
    if (near) {
        from = pen->column; /* a few cells again are shorter than a jump */
    } else if (column == 0 && pen->known && pen->row + 1 == row) {
        buf_add_str(out, "\r\n");
    } else {
        buf_addf(out, "\x1b[%zu;%zuH", row + 1, column + 1);
    }
    for (; from <= column; from++) {
        if (!pen->known || pen->look != line[from].look) {
            look_write(screen, out, line[from].look);
            pen->look = line[from].look;
            pen->known = true;
        }
        buf_add_str(out, line[from].glyph);
    }
    pen->row = row;
    pen->column = column + 1;
}

bool top_screen_flush(struct top_screen *screen, struct buf *out, size_t bytes)
{
    struct pen pen = {0};
    if (screen->unknown) {
        buf_add_str(out, "\x1b[0m\x1b[2J");
        for (size_t i = 0; i < screen->columns * screen->rows; i++) {
            screen->shown[i] = (struct top_cell){.glyph = " "};
        }
        screen->unknown = false;
    }
    size_t row = 0;
    for (; row < screen->rows && out->len < bytes; row++) {
        for (size_t column = 0; column < screen->columns; column++) {
            const size_t at = row * screen->columns + column;
            /* The last cell stays empty: some terminals scroll when it is written. */
            const bool corner = at + 1 == screen->rows * screen->columns;
            if (!same(&screen->now[at], &screen->shown[at]) && !corner) {
                if (screen->now[at].glyph[0] != '\0') {
                    cell_write(screen, out, &pen, row, column);
                    pen.column +=
                        column + 1 < screen->columns && screen->now[at + 1].glyph[0] == '\0';
                    pen.known = pen.column < screen->columns;
                }
                screen->shown[at] = screen->now[at];
            }
        }
    }
    if (pen.look != LOOK_PLAIN) {
        buf_add_str(out, "\x1b[0m");
    }
    return row == screen->rows;
}
