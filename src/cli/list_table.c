/* list_table.c - see list_table.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/list_table.h"

#include "cli/cells.h"
#include "cli/text.h"

#include <ctype.h>
#include <string.h>

enum { TEXT_LEAST = 8, FREE_TEXT_LEAST = 10, NAMES_MAX = 1024, HEAD_INDENT = 5 };

struct columns {
    const struct list_column *at[TABLE_COLUMNS_MAX];
    size_t count;
};

static bool is_number(enum column_kind kind)
{
    return kind == COLUMN_NUMBER || kind == COLUMN_BYTES || kind == COLUMN_CUSTOM_NUMBER;
}

static void column_add(struct text_table *table, const struct list_column *column)
{
    table_column(table, column->title, is_number(column->kind));
    if (column->kind == COLUMN_SENTENCE) {
        table_column_sentences(table);
    } else if (column->kind == COLUMN_STATE || column->kind == COLUMN_TIME) {
        table_column_least(table, SIZE_MAX); /* short words that mean nothing when cut */
    } else if (column->kind == COLUMN_CUSTOM || column->kind == COLUMN_COMMAND) {
        table_column_least(table, FREE_TEXT_LEAST);
    } else if (column->kind == COLUMN_RESOURCES) {
        table_column_least(table, strlen(column->title));
    } else if (!is_number(column->kind)) {
        table_column_least(table, TEXT_LEAST);
    }
}

static struct text_table *table_fill(const struct list_table_view *view,
                                     const struct columns *columns)
{
    struct text_table *table = table_new(view->width, view->colour);
    for (size_t i = 0; i < columns->count; i++) {
        column_add(table, columns->at[i]);
    }
    struct buf cell;
    buf_init(&cell, TABLE_CELL_MAX);
    for (size_t i = 0; i < view->count; i++) {
        for (size_t c = 0; c < columns->count; c++) {
            buf_clear(&cell);
            cells_text(&cell, columns->at[c], view->items[i], view->wide, view->now_ms);
            enum table_colour colour = columns->at[c]->kind == COLUMN_STATE
                                           ? cells_state_colour(buf_text(&cell))
                                           : COLOUR_NONE;
            table_cell(table, (struct str){.p = buf_text(&cell), .len = cell.len}, colour);
        }
    }
    buf_done(&cell);
    return table;
}

/* True when the column has the same text in every line. `ret_text` gets the text. */
static bool column_is_same(const struct list_table_view *view, const struct list_column *column,
                           struct buf *ret_text)
{
    struct buf other;
    bool same = true;
    buf_init(&other, TABLE_CELL_MAX);
    for (size_t i = 0; same && i < view->count; i++) {
        struct buf *cell = i == 0 ? ret_text : &other;
        buf_clear(cell);
        cells_text(cell, column, view->items[i], false, 0);
        same = i == 0 || strcmp(buf_text(ret_text), buf_text(&other)) == 0;
    }
    buf_done(&other);
    return same;
}

static void column_remove(struct columns *columns, size_t index)
{
    columns->count--;
    memmove(&columns->at[index], &columns->at[index + 1],
            (columns->count - index) * sizeof columns->at[0]);
}

/* Writes "user ann" for a column that has the same text in every line. */
static void same_add(struct buf *out, const struct list_column *column, const char *text)
{
    buf_add_str(out, out->len == 0 ? "" : ", ");
    for (const char *p = column->title; *p != '\0'; p++) {
        buf_add_char(out, (char)tolower((unsigned char)*p));
    }
    buf_add_char(out, ' ');
    text_escape(out, str_of(text[0] == '\0' ? "-" : text));
}

static void columns_fold(const struct list_table_view *view, struct columns *columns,
                         struct buf *same)
{
    struct buf text;
    buf_init(&text, TABLE_CELL_MAX);
    for (size_t i = 0; i < columns->count;) {
        const struct list_column *column = columns->at[i];
        const bool may = column->when == COLUMN_SPARE || column->when == COLUMN_LESS;
        if (may && column->kind != COLUMN_TIME && column_is_same(view, column, &text)) {
            same_add(same, column, buf_text(&text));
            column_remove(columns, i);
        } else {
            i++;
        }
    }
    buf_done(&text);
}

/* Removes the column that matters least; false: every column that is left must stay. */
static bool column_drop(struct columns *columns, struct buf *left_out)
{
    size_t drop = SIZE_MAX;
    for (size_t i = 0; i < columns->count; i++) {
        const bool less = columns->at[i]->when == COLUMN_LESS;
        const bool spare = columns->at[i]->when == COLUMN_SPARE;
        if (less || (spare && drop == SIZE_MAX)) {
            drop = i;
        }
    }
    if (drop == SIZE_MAX) {
        return false;
    }
    buf_addf(left_out, "%s%s", left_out->len == 0 ? "" : ", ", columns->at[drop]->title);
    column_remove(columns, drop);
    return true;
}

void list_table_build(const struct list_table_view *view, const struct list_column *const *columns,
                      size_t count, struct list_table *ret)
{
    struct columns kept = {.count = count};
    memcpy(kept.at, columns, count * sizeof columns[0]);
    buf_init(&ret->same, TABLE_CELL_MAX);
    buf_init(&ret->left_out, NAMES_MAX);
    ret->width = view->width;
    ret->table = table_fill(view, &kept);
    if (view->fixed || table_fits(ret->table, FITS_WHOLE)) {
        return;
    }
    columns_fold(view, &kept, &ret->same);
    bool more = true;
    do {
        table_free(ret->table);
        ret->table = table_fill(view, &kept);
        more = !table_fits(ret->table, FITS_CUT) && column_drop(&kept, &ret->left_out);
    } while (more);
}

void list_table_done(struct list_table *list)
{
    table_free(list->table);
    buf_done(&list->same);
    buf_done(&list->left_out);
}

void list_table_head(const struct list_table *list, bool colour, struct buf *out)
{
    if (list->same.len == 0 && list->left_out.len == 0) {
        return;
    }
    struct buf line;
    buf_init(&line, TABLE_CELL_MAX);
    if (list->same.len > 0) {
        buf_addf(&line, "all: %s", buf_text(&list->same));
    }
    if (list->left_out.len > 0) {
        buf_addf(&line, "%snot shown: %s (--wide shows all)", line.len == 0 ? "" : "; ",
                 buf_text(&list->left_out));
    }
    struct buf lines;
    buf_init(&lines, TABLE_CELL_MAX * 2);
    text_wrap(&lines, (struct str){.p = buf_text(&line), .len = line.len}, list->width,
              HEAD_INDENT);
    table_paint(out, colour, COLOUR_DIM, buf_text(&lines));
    buf_add_char(out, '\n');
    buf_done(&lines);
    buf_done(&line);
}

void list_table_put(const struct list_table_view *view, const struct list_column *const *columns,
                    size_t count, struct buf *out)
{
    struct list_table list;
    list_table_build(view, columns, count, &list);
    list_table_head(&list, view->colour, out);
    (void)table_print(list.table, true, 0, out);
    list_table_done(&list);
}
