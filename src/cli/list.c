/* list.c - see list.h. All items are fetched before the first is shown: after a failure half-way
 * nothing is shown, instead of half a list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/list.h"

#include "base/vec.h"
#include "cli/api.h"
#include "cli/list_table.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/item.h"
#include "cli/list_filter.h"
#include "cli/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LIST_ITEMS_MAX = 5000000,
    LIST_PAGE = 1000,
    LIST_ROWS = 50, /* a table without --limit stops after this many rows */
    OUT_MAX = 1 << 30,
    MORE_TEXT_MAX = 64,
    REDRAW_MS = 1000, /* redraw this often, because ages change while nothing happens */
};

struct items {
    VEC(const struct doc *) at;
    bool more;    /* the server has more items than the limit */
    size_t total; /* items that the server has; 0: not known */
};

struct item_list {
    struct cli *cli;
    const struct list_def *def;
    const char *path;
    const struct list_column *shown[TABLE_COLUMNS_MAX];
    size_t shown_count;
    const struct list_column *sort; /* NULL: keep the order of the server */
    bool descending;
    bool json;
    bool json_lines;
    bool quiet;
    bool wide;
    bool watched;
    struct list_filter filter;
};

/* ---- flags ---- */

static const struct list_column *column_find(const struct list_def *def, struct str name,
                                             struct error *e)
{
    struct buf names;
    buf_init(&names, ERROR_TEXT_MAX);
    for (const struct list_column *c = def->columns; c->name != NULL; c++) {
        if (str_is(name, c->name)) {
            buf_done(&names);
            return c;
        }
        buf_addf(&names, "%s%s", names.len == 0 ? "" : ", ", c->name);
    }
    (void)fail(e, ERR_USAGE, "no column '%.*s'; there are %s", (int)(name.len > 40 ? 40 : name.len),
               name.p, buf_text(&names));
    buf_done(&names);
    return NULL;
}

static enum err columns_choose(struct item_list *list, struct error *e)
{
    const char *named = args_text(&list->cli->args, "columns");
    for (const struct list_column *c = list->def->columns; named == NULL && c->name != NULL; c++) {
        if (list->wide || c->when != COLUMN_WIDE) {
            list->shown[list->shown_count++] = c;
        }
    }
    struct str rest = named == NULL ? (struct str){0} : str_of(named);
    while (rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        const struct list_column *column = column_find(list->def, one, e);
        if (column == NULL) {
            return ERR_USAGE;
        }
        if (list->shown_count == TABLE_COLUMNS_MAX) {
            return fail(e, ERR_USAGE, "--columns: at most %d", TABLE_COLUMNS_MAX);
        }
        list->shown[list->shown_count++] = column;
    }
    const char *sort = args_text(&list->cli->args, "sort");
    if (sort != NULL) {
        list->descending = sort[0] == '-';
        list->sort = column_find(list->def, str_of(sort + list->descending), e);
        return list->sort == NULL ? ERR_USAGE : ERR_OK;
    }
    return ERR_OK;
}

/* ---- fetching ---- */

/* A table is for reading: it stops after LIST_ROWS rows, or as many as the screen has. */
static size_t rows_most(const struct item_list *list)
{
    const size_t height = list->cli->height;
    if (args_has(&list->cli->args, "limit") || list->json || list->quiet) {
        return 0;
    }
    return list->watched && height > LIST_ROWS ? height : LIST_ROWS;
}

/* How many items are fetched; 0: all. Sorting needs all items before the first can be shown, and a
 * pipe that watches needs all items to see what changed. */
static size_t fetch_limit(const struct item_list *list)
{
    const bool ordered = list->sort != NULL || list->def->compare != NULL;
    const bool pipe = list->watched && !list->cli->out_tty;
    const size_t rows = ordered || pipe ? 0 : rows_most(list);
    return args_number(&list->cli->args, "limit", rows != 0 ? rows : list->def->limit);
}

static enum err fetch(struct item_list *list, struct arena *arena, bool patient, struct items *ret,
                      struct error *e)
{
    size_t limit = fetch_limit(list);
    const char *cursor = "";
    const char *joint = strchr(list->path, '?') == NULL ? "?" : "&";
    vec_clear(&ret->at);
    ret->more = false;
    ret->total = 0;
    while (cursor != NULL) {
        const bool whole = limit == 0 || list->filter.count > 0;
        size_t want =
            whole || limit - ret->at.count > LIST_PAGE ? LIST_PAGE : limit - ret->at.count;
        const char *path =
            arena_fmt(arena, "%s%slimit=%zu%s%s", list->path, joint, want,
                      cursor[0] == '\0' ? "" : "&cursor=", api_escape(arena, cursor));
        struct api_reply reply;
        enum err r = patient ? api_get_patient(list->cli, arena, path, &reply, e)
                             : api_get(list->cli, arena, path, &reply, e);
        if (r != ERR_OK) {
            return r;
        }
        const struct doc *items = item_at(reply.doc, "items");
        for (const struct doc *d = items == NULL ? NULL : items->first; d != NULL; d = d->next) {
            const bool room = limit == 0 || ret->at.count < limit;
            const bool match = list_filter_matches(&list->filter, d);
            ret->more = ret->more || (match && !room);
            if (match && room) {
                vec_push(&ret->at, d);
            }
        }
        /* How many match is not known where this program looks. */
        ret->total = list->filter.count > 0 ? 0 : (size_t)item_number(reply.doc, "total", 0);
        const struct doc *next = item_at(reply.doc, "next");
        cursor = next != NULL && next->kind == DOC_STRING ? next->text.p : NULL;
        bool full = (limit != 0 && ret->at.count >= limit) || ret->at.count >= LIST_ITEMS_MAX;
        if (full) {
            ret->more = ret->more || cursor != NULL;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

static int item_compare(const void *a, const void *b, void *ctx)
{
    const struct item_list *list = ctx;
    const struct doc *const *left = a;
    const struct doc *const *right = b;
    if (list->sort == NULL) {
        return list->def->compare(*left, *right);
    }
    int order = item_order(item_at(*left, list->sort->path), item_at(*right, list->sort->path));
    order = list->descending ? -order : order;
    /* Equal values are sorted by id, so that the order does not change between two fetches. */
    return order != 0 ? order
                      : item_order(item_at(*left, list->def->id_path),
                                   item_at(*right, list->def->id_path));
}

static enum err fetch_sorted(struct item_list *list, struct arena *arena, bool patient,
                             struct items *ret, struct error *e)
{
    enum err r = fetch(list, arena, patient, ret, e);
    const bool ordered = list->sort != NULL || list->def->compare != NULL;
    if (r == ERR_OK && ordered && ret->at.count > 0) {
        qsort_r(ret->at.at, ret->at.count, sizeof ret->at.at[0], item_compare, list);
    }
    return r;
}

/* ---- showing ---- */

static void items_json(const struct item_list *list, const struct items *items, struct buf *out)
{
    if (!list->json_lines) {
        buf_add_char(out, '[');
    }
    for (size_t i = 0; i < items->at.count; i++) {
        buf_add_str(out, i > 0 && !list->json_lines ? ",\n" : "");
        item_json(out, items->at.at[i]);
        buf_add_str(out, list->json_lines ? "\n" : "");
    }
    if (!list->json_lines) {
        buf_add_str(out, "]\n");
    }
}

/* `rows_max` 0: all. */
static void items_table(const struct item_list *list, const struct items *items, size_t rows_max,
                        struct list_table *ret)
{
    const struct list_table_view view = {
        .items = items->at.at,
        .count = rows_max != 0 && rows_max < items->at.count ? rows_max : items->at.count,
        .width = list->wide ? 0 : list->cli->width,
        .colour = list->cli->colour,
        .now_ms = context_now_ms(list->cli),
        .wide = list->wide,
        .fixed = args_has(&list->cli->args, "columns"),
    };
    list_table_build(&view, list->shown, list->shown_count, ret);
}

/* Prints at most `rows_max` rows, and of these the first with at most `lines_max` lines together
 * (0: all). Returns the number of items printed. */
static size_t items_print(const struct item_list *list, const struct items *items, size_t rows_max,
                          size_t lines_max, struct buf *out)
{
    if (list->quiet) {
        for (size_t i = 0; i < items->at.count; i++) {
            buf_addf(out, "%s\n", item_text(items->at.at[i], list->def->id_path));
        }
        return items->at.count;
    }
    if (list->json) {
        items_json(list, items, out);
        return items->at.count;
    }
    if (items->at.count == 0) {
        return 0;
    }
    struct list_table table;
    items_table(list, items, rows_max, &table);
    const bool header = !args_has(&list->cli->args, "no-header");
    if (header) {
        list_table_head(&table, list->cli->colour, out);
    }
    size_t shown = table_print(table.table, header, lines_max, out);
    list_table_done(&table);
    return shown;
}

/* Appends "… and 19,950 more", or "… and more" where the server does not know how many. */
static void more_add(struct buf *out, const struct items *items, size_t shown)
{
    const size_t known = items->more ? items->total : items->at.count;
    buf_add_str(out, "… and ");
    if (known > shown) {
        text_thousands(out, known - shown);
        buf_add_char(out, ' ');
    }
    buf_add_str(out, "more");
}

static void talk(const struct item_list *list, const struct items *items, size_t shown)
{
    const bool none = items->at.count == 0 && !list->quiet && !list->json;
    const char *filter = args_text(&list->cli->args, "filter");
    if (none && filter != NULL && list->def->filters == NULL) {
        context_say("no %s match --filter '%s'; `weir %s` shows all", list->def->what, filter,
                    list->cli->args.command->name);
    } else if (none && list->def->empty_say != NULL) {
        list->def->empty_say(list->cli);
    } else if (none) {
        context_say("no %s; %s", list->def->what, list->def->empty);
    } else if ((items->more || shown < items->at.count) &&
               (list->cli->err_tty || !args_has(&list->cli->args, "limit"))) {
        struct buf text;
        buf_init(&text, MORE_TEXT_MAX);
        more_add(&text, items, shown);
        context_say("%s; --limit N shows N, --limit 0 all", buf_text(&text));
        buf_done(&text);
    }
}

static int list_once(struct item_list *list)
{
    struct error e;
    struct items items = {0};
    enum err r = fetch_sorted(list, &list->cli->arena, false, &items, &e);
    if (r == ERR_OK) {
        struct buf out;
        buf_init(&out, OUT_MAX);
        const size_t shown = items_print(list, &items, rows_most(list), 0, &out);
        context_out((struct str){.p = buf_text(&out), .len = out.len});
        buf_done(&out);
        talk(list, &items, shown);
    }
    vec_done(&items.at);
    return r == ERR_OK ? EXIT_OK : context_fail(list->cli, &e);
}

/* ---- watching ---- */

/* Draws the whole table over the old one on a terminal. */
static void redraw(const struct item_list *list, const struct items *items, size_t *lines)
{
    struct buf out;
    buf_init(&out, OUT_MAX);
    if (*lines > 0) {
        buf_addf(&out, "\033[%zuA\r\033[J", *lines);
    }
    size_t start = out.len;
    /* Beside the rows: a line above the table, the header, "… and more", the cursor. */
    size_t lines_max = list->cli->height > 5 ? list->cli->height - 4 : 0;
    size_t shown = items_print(list, items, 0, lines_max, &out);
    if (items->at.count == 0) {
        buf_addf(&out, "no %s\n", list->def->what);
    }
    if (items->more || shown < items->at.count) {
        more_add(&out, items, shown);
        buf_add_char(&out, '\n');
    }
    *lines = 0;
    for (size_t i = start; i < out.len; i++) {
        *lines += out.data[i] == '\n';
    }
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

/* Prints the rows that are new or have changed, one line each, for a pipe. */
static void changes_print(const struct item_list *list, const struct items *items,
                          struct watch_seen *seen, bool first)
{
    struct list_table whole;
    items_table(list, items, 0, &whole);
    const struct text_table *table = whole.table;
    struct buf out;
    struct buf json;
    buf_init(&out, OUT_MAX);
    buf_init(&json, OUT_MAX);
    bool plain = !list->json && !list->quiet;
    if (first && plain && table_row_count(table) > 0) {
        (void)table_print(table, true, 0, &out);
    }
    for (size_t i = 0; i < items->at.count; i++) {
        buf_clear(&json);
        item_json(&json, items->at.at[i]);
        const char *id = item_text(items->at.at[i], list->def->id_path);
        bool changed = watch_seen_changed(seen, id, (struct str){.p = json.data, .len = json.len});
        if (!changed || (first && plain)) {
            continue;
        }
        if (list->json) {
            buf_addf(&out, "%s\n", buf_text(&json));
        } else if (list->quiet) {
            buf_addf(&out, "%s\n", id);
        } else {
            table_print_row(table, i, &out);
        }
    }
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    list_table_done(&whole);
    buf_done(&json);
    buf_done(&out);
}

static int list_watch(struct item_list *list)
{
    struct error e;
    enum err r = api_open(list->cli, &e);
    if (r != ERR_OK) {
        return context_fail(list->cli, &e);
    }
    struct cli_watch *watch = watch_start(&list->cli->login, list->def->events);
    struct watch_seen *seen = watch_seen_new();
    struct arena arena;
    arena_init(&arena);
    struct items items = {0};
    size_t lines = 0;
    bool in_place = list->cli->out_tty && !list->json;
    bool first = true;
    bool again = true;
    while (r == ERR_OK) {
        if (again) {
            arena_clear(&arena);
            r = fetch_sorted(list, &arena, !first, &items, &e);
        }
        if (r == ERR_OK && in_place) {
            redraw(list, &items, &lines);
        } else if (r == ERR_OK && again) {
            changes_print(list, &items, seen, first);
        }
        first = false;
        again = r == ERR_OK && watch_wait(watch, REDRAW_MS);
    }
    vec_done(&items.at);
    arena_done(&arena);
    watch_seen_free(seen);
    watch_free(watch);
    return context_fail(list->cli, &e);
}

int list_run(struct cli *cli, const struct list_def *def, const char *path)
{
    struct error e;
    const char *json = args_text(&cli->args, "json");
    struct item_list list = {
        .cli = cli,
        .def = def,
        .path = path,
        .json = args_has(&cli->args, "json"),
        .json_lines = json != NULL && strcmp(json, "lines") == 0,
        .quiet = args_has(&cli->args, "quiet"),
        .wide = args_has(&cli->args, "wide"),
        .watched = args_has(&cli->args, "watch"),
    };
    const char *filter = args_text(&cli->args, "filter");
    if (columns_choose(&list, &e) != ERR_OK ||
        (filter != NULL &&
         list_filter_read(&cli->arena, def, filter, &list.path, &list.filter, &e) != ERR_OK)) {
        return context_fail(cli, &e);
    }
    return list.watched ? list_watch(&list) : list_once(&list);
}
