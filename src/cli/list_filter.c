/* list_filter.c - see list_filter.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/list_filter.h"

#include "cli/api.h"
#include "cli/cells.h"
#include "cli/item.h"
#include "cli/table.h"

#include <string.h>

/* The longer ones first: "<=" begins with "<". */
static const char *const ops[] = {"!=", "<=", ">=", "=", "<", ">", "~"};

/* Is the name one of the words that the server filters by? */
static bool server_knows(const struct list_def *def, const char *name)
{
    const size_t len = strlen(name);
    for (const char *p = def->filters; p != NULL && *p != '\0';) {
        const size_t word = strcspn(p, " ");
        if (word == len && memcmp(p, name, len) == 0) {
            return true;
        }
        p += word + (p[word] == ' ' ? 1 : 0);
    }
    return false;
}

static enum err term_read(struct arena *arena, const struct list_def *def, struct str text,
                          struct list_filter_term *ret, struct error *e)
{
    size_t at = 0;
    while (at < text.len && strchr("!<>=~", text.p[at]) == NULL) {
        at++;
    }
    for (size_t i = 0; at > 0 && ret->op == NULL && i < sizeof ops / sizeof *ops; i++) {
        const size_t len = strlen(ops[i]);
        if (text.len - at >= len && memcmp(text.p + at, ops[i], len) == 0) {
            ret->op = ops[i];
            ret->name = arena_strn(arena, text.p, at);
            ret->value = arena_strn(arena, text.p + at + len, text.len - at - len);
        }
    }
    if (ret->op == NULL) {
        return fail(e, ERR_USAGE,
                    "--filter: '%.*s' is no condition; state=pending or priority>=60 would do",
                    (int)(text.len < 60 ? text.len : 60), text.p);
    }
    if ((ret->op[0] == '<' || ret->op[0] == '>') &&
        (ret->value[0] == '\0' || ret->value[strspn(ret->value, "-.0123456789")] != '\0')) {
        return fail(e, ERR_USAGE, "--filter: '%.*s': a number is wanted behind %s, like %s%s4",
                    (int)(text.len < 60 ? text.len : 60), text.p, ret->op, ret->name, ret->op);
    }
    for (const struct list_column *c = def->columns; c->name != NULL; c++) {
        ret->column = strcmp(c->name, ret->name) == 0 ? c : ret->column;
    }
    return ERR_OK;
}

/* A name that is neither a column nor a path would match nothing in silence. */
static enum err name_check(const struct list_def *def, const struct list_filter_term *term,
                           struct error *e)
{
    if (term->column != NULL || strchr(term->name, '.') != NULL || server_knows(def, term->name)) {
        return ERR_OK;
    }
    struct buf names;
    buf_init(&names, ERROR_TEXT_MAX);
    for (const struct list_column *c = def->columns; c->name != NULL; c++) {
        buf_addf(&names, "%s%s", names.len == 0 ? "" : ", ", c->name);
    }
    (void)fail(e, ERR_USAGE, "--filter: no column '%.40s'; there are %s", term->name,
               buf_text(&names));
    buf_done(&names);
    return ERR_USAGE;
}

enum err list_filter_read(struct arena *arena, const struct list_def *def, const char *text,
                          const char **path, struct list_filter *ret, struct error *e)
{
    struct str rest = str_of(text);
    ret->count = 0;
    while (rest.p != NULL) {
        struct list_filter_term term = {0};
        struct str word = str_trim(str_cut(rest, ' ', &rest));
        if (word.len == 0) {
            continue;
        }
        enum err r = term_read(arena, def, word, &term, e);
        r = r != ERR_OK ? r : name_check(def, &term, e);
        if (r != ERR_OK) {
            return r;
        }
        if (strcmp(term.op, "=") == 0 && server_knows(def, term.name)) {
            *path = arena_fmt(arena, "%s%s%s=%s", *path, strchr(*path, '?') == NULL ? "?" : "&",
                              term.name, api_escape(arena, term.value));
        } else if (ret->count == LIST_FILTER_TERMS_MAX) {
            return fail(e, ERR_USAGE, "--filter: at most %d conditions", LIST_FILTER_TERMS_MAX);
        } else {
            ret->terms[ret->count++] = term;
        }
    }
    return ERR_OK;
}

/* Is the text one of the words that commas separate? */
static bool one_of(struct str text, const char *words)
{
    struct str rest = str_of(words);
    bool found = false;
    while (rest.p != NULL && !found) {
        found = str_equal(str_cut(rest, ',', &rest), text);
    }
    return found;
}

/* Does the cell, as it is shown, have the words? "up, locked" has two. */
static bool cell_matches(const struct list_filter_term *term, const struct doc *item)
{
    struct buf cell;
    buf_init(&cell, TABLE_CELL_MAX);
    cells_text(&cell, term->column, item, false, 0);
    struct str rest = str_of(buf_text(&cell));
    bool found = term->op[0] == '~' && strstr(rest.p, term->value) != NULL;
    while (term->op[0] != '~' && rest.p != NULL && !found) {
        found = one_of(str_trim(str_cut(rest, ',', &rest)), term->value);
    }
    buf_done(&cell);
    return found != (term->op[0] == '!');
}

static bool order_fits(const char *op, int order)
{
    const bool equal_too = op[1] == '=';
    return (equal_too && order == 0) || (op[0] == '<' ? order < 0 : order > 0);
}

static bool term_matches(const struct list_filter_term *term, const struct doc *item)
{
    const char *path = term->column != NULL ? term->column->path : term->name;
    const struct doc *value = path != NULL ? item_at(item, path) : NULL;
    if (term->op[0] == '<' || term->op[0] == '>') {
        const struct doc wanted = {.kind = DOC_NUMBER, .text = str_of(term->value)};
        return value != NULL && value->kind == DOC_NUMBER &&
               order_fits(term->op, item_order(value, &wanted));
    }
    const bool words = value != NULL && value->kind == DOC_STRING;
    if (words && term->column != NULL && term->column->kind == COLUMN_CUSTOM) {
        return cell_matches(term, item); /* a draining node is not "up" in the list */
    }
    struct buf cell;
    buf_init(&cell, TABLE_CELL_MAX);
    const char *text = path != NULL ? item_text(item, path) : "";
    if (text[0] == '\0' && term->column != NULL) {
        cells_text(&cell, term->column, item, false, 0);
        text = buf_text(&cell);
    }
    const bool found =
        term->op[0] == '~' ? strstr(text, term->value) != NULL : one_of(str_of(text), term->value);
    buf_done(&cell);
    return found != (term->op[0] == '!');
}

bool list_filter_matches(const struct list_filter *filter, const struct doc *item)
{
    bool matches = true;
    for (size_t i = 0; i < filter->count && matches; i++) {
        matches = term_matches(&filter->terms[i], item);
    }
    return matches;
}
