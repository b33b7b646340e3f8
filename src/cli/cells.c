/* cells.c - see cells.h. Also has the cell functions of list.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cells.h"

#include "base/amount.h"
#include "cli/list.h"
#include "cli/text.h"
#include "cli/item.h"

#include <string.h>

enum table_colour cells_state_colour(const char *state)
{
    static const struct {
        const char *state;
        enum table_colour colour;
    } colours[] = {
        {"running", COLOUR_GREEN}, {"up", COLOUR_GREEN},        {"completed", COLOUR_DIM},
        {"starting", COLOUR_BLUE}, {"stopping", COLOUR_BLUE},   {"pending", COLOUR_YELLOW},
        {"staged", COLOUR_YELLOW}, {"paused", COLOUR_YELLOW},   {"draining", COLOUR_YELLOW},
        {"failed", COLOUR_RED},    {"killed", COLOUR_RED},      {"lost", COLOUR_RED},
        {"unknown", COLOUR_RED},   {"unavailable", COLOUR_RED}, {"silent", COLOUR_RED},
    };
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        if (strcmp(colours[i].state, state) == 0) {
            return colours[i].colour;
        }
    }
    return COLOUR_NONE;
}

static void bytes_text(struct buf *out, const struct doc *value)
{
    int64_t bytes;
    char text[AMOUNT_TEXT_MAX];
    if (doc_i64(value, &bytes)) {
        amount_bytes_text(bytes, text);
        buf_add_str(out, text);
    }
}

void cells_names(struct buf *out, const struct doc *list)
{
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s", d == list->first ? "" : ",", d->text.p);
    }
}

void cells_resources_text(struct buf *out, const struct doc *map)
{
    size_t start = out->len;
    for (const struct doc *d = map == NULL ? NULL : map->first; d != NULL; d = d->next) {
        /* An amount of 0 is left out, unless the text would then be empty. */
        bool last_word = d->next == NULL && out->len == start;
        if (d->kind != DOC_NUMBER || (str_is(d->text, "0") && !last_word)) {
            continue;
        }
        buf_addf(out, "%s%.*s=", out->len == start ? "" : " ", (int)d->key.len, d->key.p);
        if (str_is(d->key, "memory") || str_is(d->key, "gpu_memory")) {
            bytes_text(out, d);
        } else {
            buf_add(out, d->text.p, d->text.len);
        }
    }
}

void cells_labels_text(struct buf *out, const struct doc *labels)
{
    for (const struct doc *d = labels == NULL ? NULL : labels->first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s=%s", d == labels->first ? "" : " ", d->key.p,
                 d->text.p == NULL ? "" : d->text.p);
    }
}

/* True for a word that a shell needs no quotes for. */
static bool word_is_plain(struct str word)
{
    for (size_t i = 0; i < word.len; i++) {
        char c = word.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && strchr("-_./=:,@%+", c) == NULL) {
            return false;
        }
    }
    return word.len > 0;
}

void cells_command_text(struct buf *out, const struct doc *words)
{
    for (const struct doc *d = words == NULL ? NULL : words->first; d != NULL; d = d->next) {
        buf_add_str(out, d == words->first ? "" : " ");
        bool plain = word_is_plain(d->text);
        buf_add_str(out, plain ? "" : "'");
        for (size_t i = 0; i < d->text.len; i++) {
            if (d->text.p[i] == '\'') {
                buf_add_str(out, "'\\''");
            } else {
                buf_add_char(out, d->text.p[i]);
            }
        }
        buf_add_str(out, plain ? "" : "'");
    }
}

static void time_text(struct buf *out, const struct doc *item, const char *path, bool absolute,
                      int64_t now_ms)
{
    int64_t then_ms;
    if (!item_time(item, path, &then_ms)) {
        return;
    }
    if (absolute) {
        buf_add_str(out, item_text(item, path));
    } else {
        text_ago(out, then_ms, now_ms);
    }
}

void cells_text(struct buf *out, const struct list_column *column, const struct doc *item,
                bool absolute, int64_t now_ms)
{
    const struct doc *value = column->path == NULL ? NULL : item_at(item, column->path);
    switch (column->kind) {
    case COLUMN_TEXT:
    case COLUMN_NUMBER:
    case COLUMN_STATE:
    case COLUMN_SENTENCE:
        if (column->cell != NULL) {
            column->cell(out, item, now_ms);
        } else {
            buf_add_str(out, item_text(item, column->path));
        }
        break;
    case COLUMN_BYTES:
        if (value != NULL) {
            bytes_text(out, value);
        }
        break;
    case COLUMN_TIME:
        time_text(out, item, column->path, absolute, now_ms);
        break;
    case COLUMN_RESOURCES:
        cells_resources_text(out, value);
        break;
    case COLUMN_COMMAND:
        cells_command_text(out, value);
        break;
    case COLUMN_CUSTOM:
    case COLUMN_CUSTOM_NUMBER:
        column->cell(out, item, now_ms);
        break;
    }
}
