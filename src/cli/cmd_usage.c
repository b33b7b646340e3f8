/* cmd_usage.c - `weir usage`: what was used, asked for, lost and waited, in slot hours, with counts of ends.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/vec.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/list_table.h"
#include "cli/show.h"
#include "cli/task_query.h"
#include "cli/text.h"

#include <string.h>

enum { OUT_MAX = 64 << 20, MILLI_PER_CENTIHOUR = 36000, MILLI_PER_MILLIHOUR = 3600 };

/* Thousandths of slot seconds; a value beyond all bounds is shown as the largest. */
static int64_t slot_milli(const struct doc *item, const char *path)
{
    int64_t milli;
    const bool known = amount_milli(str_of(item_text(item, path)), &milli, NULL) == ERR_OK;
    return known ? milli : AMOUNT_MILLI_MAX;
}

static void hours_cell(struct buf *out, const struct doc *item, const char *path)
{
    if (item_at(item, path) == NULL) {
        return; /* nodes have no such sum */
    }
    const int64_t hundredths =
        (slot_milli(item, path) + MILLI_PER_CENTIHOUR / 2) / MILLI_PER_CENTIHOUR;
    text_thousands(out, (uint64_t)hundredths / 100);
    buf_addf(out, ".%02d", (int)(hundredths % 100));
}

#define HOURS_CELL(name)                                                                           \
    static void cell_##name(struct buf *out, const struct doc *item, int64_t now_ms)               \
    {                                                                                              \
        (void)now_ms;                                                                              \
        hours_cell(out, item, "slot_seconds." #name);                                              \
    }

HOURS_CELL(asked)
HOURS_CELL(used)
HOURS_CELL(lost)
HOURS_CELL(waited)

/* The sum of all rows has no key. */
static void cell_key(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_at(item, "key") == NULL ? "total" : item_text(item, "key"));
}

static void cell_other(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_addf(out, "%lld",
             (long long)(item_number(item, "tasks.unavailable", 0) +
                         item_number(item, "tasks.unknown", 0)));
}

/* Returns the amount of one currency in thousandths. */
static int64_t cost_milli(const struct doc *cost)
{
    int64_t milli;
    return amount_milli(str_of(item_text(cost, "amount")), &milli, NULL) == ERR_OK
               ? milli
               : AMOUNT_MILLI_MAX;
}

/* Writes "12.50 EUR, 3.06 USD"; nothing where no pool has a price. */
static void cell_cost(struct buf *out, const struct doc *item, int64_t now_ms)
{
    const struct doc *costs = item_at(item, "costs");
    (void)now_ms;
    for (const struct doc *d = costs != NULL ? costs->first : NULL; d != NULL; d = d->next) {
        const int64_t hundredths = (cost_milli(d) + 5) / 10;
        buf_add_str(out, d == costs->first ? "" : ", ");
        text_thousands(out, (uint64_t)hundredths / 100);
        buf_addf(out, ".%02d%s%s", (int)(hundredths % 100),
                 item_text(d, "currency")[0] != '\0' ? " " : "", item_text(d, "currency"));
    }
}

enum { KEY_COLUMN = 0 };

/* The title of the first column is that of --by. */
static const struct list_column account_columns[] = {
    {"key", "", COLUMN_CUSTOM, "key", COLUMN_ALWAYS, cell_key},
    {"used", "USED", COLUMN_CUSTOM_NUMBER, "slot_seconds.used", COLUMN_ALWAYS, cell_used},
    {"asked", "ASKED", COLUMN_CUSTOM_NUMBER, "slot_seconds.asked", COLUMN_ALWAYS, cell_asked},
    {"lost", "LOST", COLUMN_CUSTOM_NUMBER, "slot_seconds.lost", COLUMN_ALWAYS, cell_lost},
    {"waited", "WAITED", COLUMN_CUSTOM_NUMBER, "slot_seconds.waited", COLUMN_ALWAYS, cell_waited},
    {"cost", "COST", COLUMN_CUSTOM_NUMBER, "costs", COLUMN_ALWAYS, cell_cost},
    {"tasks", "TASKS", COLUMN_NUMBER, "tasks.ended", COLUMN_ALWAYS, NULL},
    {"completed", "COMPLETED", COLUMN_NUMBER, "tasks.completed", COLUMN_LESS, NULL},
    {"failed", "FAILED", COLUMN_NUMBER, "tasks.failed", COLUMN_ALWAYS, NULL},
    {"killed", "KILLED", COLUMN_NUMBER, "tasks.killed", COLUMN_SPARE, NULL},
    {"other", "OTHER", COLUMN_CUSTOM_NUMBER, "tasks.unknown", COLUMN_LESS, cell_other},
    {"evicted", "EVICTED", COLUMN_NUMBER, "attempts.evicted", COLUMN_SPARE, NULL},
    {"node_lost", "NODE LOST", COLUMN_NUMBER, "attempts.node_lost", COLUMN_LESS, NULL},
    {0},
};

static const struct list_column node_columns[] = {
    {"key", "", COLUMN_CUSTOM, "key", COLUMN_ALWAYS, cell_key},
    {"used", "USED", COLUMN_CUSTOM_NUMBER, "slot_seconds.used", COLUMN_ALWAYS, cell_used},
    {"lost", "LOST", COLUMN_CUSTOM_NUMBER, "slot_seconds.lost", COLUMN_ALWAYS, cell_lost},
    {"cost", "COST", COLUMN_CUSTOM_NUMBER, "costs", COLUMN_ALWAYS, cell_cost},
    {"attempts", "ATTEMPTS", COLUMN_NUMBER, "attempts.ended", COLUMN_ALWAYS, NULL},
    {"failed", "FAILED", COLUMN_NUMBER, "attempts.failed", COLUMN_ALWAYS, NULL},
    {"evicted", "EVICTED", COLUMN_NUMBER, "attempts.evicted", COLUMN_ALWAYS, NULL},
    {"node_lost", "NODE LOST", COLUMN_NUMBER, "attempts.node_lost", COLUMN_ALWAYS, NULL},
    {0},
};

/* Without a price of any pool there is no column for costs. */
static bool column_shown(const struct list_column *column, const struct doc *answer)
{
    const struct doc *costs = item_at(answer, "total.costs");
    return column->cell != cell_cost || (costs != NULL && costs->first != NULL);
}

static const struct list_column *columns_of(const struct doc *answer)
{
    return strcmp(item_text(answer, "by"), "node") == 0 ? node_columns : account_columns;
}

/* ---- CSV ---- */

static void csv_row(struct buf *out, const struct list_column *columns, const struct doc *item)
{
    buf_add_csv(out, item_text(item, "key"));
    for (const struct list_column *c = columns + 1; c->name != NULL; c++) {
        if (strncmp(c->path, "slot_seconds.", strlen("slot_seconds.")) == 0) {
            const int64_t milli = slot_milli(item, c->path) / MILLI_PER_MILLIHOUR;
            buf_addf(out, ",%lld.%03d", (long long)(milli / 1000), (int)(milli % 1000));
        } else if (c->cell == cell_cost) {
            const struct doc *costs = item_at(item, c->path);
            for (const struct doc *d = costs != NULL ? costs->first : NULL; d != NULL;
                 d = d->next) {
                const int64_t milli = cost_milli(d);
                buf_addf(out, ",%lld.%03d", (long long)(milli / 1000), (int)(milli % 1000));
            }
        } else if (c->cell != NULL) {
            buf_add_char(out, ',');
            c->cell(out, item, 0);
        } else {
            buf_addf(out, ",%s", item_text(item, c->path));
        }
    }
    buf_add_char(out, '\n');
}

/* Adds a column for each currency, like cost_EUR. */
static void csv_costs_head(struct buf *out, const struct doc *answer)
{
    const struct doc *costs = item_at(answer, "total.costs");
    for (const struct doc *d = costs != NULL ? costs->first : NULL; d != NULL; d = d->next) {
        const char *currency = item_text(d, "currency");
        struct buf name;
        buf_init(&name, OUT_MAX);
        buf_addf(&name, "cost%s%s", currency[0] != '\0' ? "_" : "", currency);
        buf_add_char(out, ',');
        buf_add_csv(out, buf_text(&name));
        buf_done(&name);
    }
}

static void csv_write(struct buf *out, const struct doc *answer)
{
    const struct list_column *columns = columns_of(answer);
    buf_add_str(out, item_text(answer, "by"));
    for (const struct list_column *c = columns + 1; c->name != NULL; c++) {
        const bool hours = strncmp(c->path, "slot_seconds.", strlen("slot_seconds.")) == 0;
        if (c->cell == cell_cost) {
            csv_costs_head(out, answer);
        } else {
            buf_addf(out, ",%s%s", c->name, hours ? "_slot_hours" : "");
        }
    }
    buf_add_char(out, '\n');
    const struct doc *items = item_at(answer, "items");
    for (const struct doc *d = items != NULL ? items->first : NULL; d != NULL; d = d->next) {
        csv_row(out, columns, d);
    }
}

/* ---- table ---- */

static const char *title_of(struct arena *arena, const char *by)
{
    char *title = arena_str(arena, by);
    for (char *p = title; *p != '\0'; p++) {
        *p = (char)(*p - ('a' <= *p && *p <= 'z' ? 'a' - 'A' : 0));
    }
    return title;
}

static void table_write(struct cli *cli, struct buf *out, const struct doc *answer)
{
    const struct list_column *columns = columns_of(answer);
    struct list_column first = columns[KEY_COLUMN];
    const struct list_column *shown[TABLE_COLUMNS_MAX] = {&first};
    size_t count = 1;
    first.title = title_of(&cli->arena, item_text(answer, "by"));
    for (const struct list_column *c = columns + 1; c->name != NULL; c++) {
        if (column_shown(c, answer)) {
            shown[count++] = c;
        }
    }
    VEC(const struct doc *) items = {0};
    const struct doc *list = item_at(answer, "items");
    for (const struct doc *d = list != NULL ? list->first : NULL; d != NULL; d = d->next) {
        vec_push(&items, d);
    }
    vec_push(&items, item_at(answer, "total"));
    const struct list_table_view view = {.items = items.at,
                                         .count = items.count,
                                         .width = args_has(&cli->args, "wide") ? 0 : cli->width,
                                         .colour = cli->colour,
                                         .now_ms = context_now_ms(cli),
                                         .wide = args_has(&cli->args, "wide")};
    list_table_put(&view, shown, count, out);
    vec_done(&items);
}

/* What the sums cover, and what they leave out. */
static void cover_say(const struct doc *answer)
{
    const struct doc *items = item_at(answer, "items");
    const char *from = item_text(answer, "recorded_from");
    int64_t since_ms;
    int64_t from_ms;
    if (items == NULL || items->first == NULL) {
        context_say("no use between %s and %s", item_text(answer, "since"),
                    item_text(answer, "until"));
    } else {
        context_say("slot hours from %s to %s; attempts that still run count when they end",
                    item_text(answer, "since"), item_text(answer, "until"));
    }
    if (from[0] == '\0') {
        context_say("nothing is recorded yet");
    } else if (item_time(answer, "since", &since_ms) &&
               item_time(answer, "recorded_from", &from_ms) && since_ms < from_ms) {
        context_say("the records begin with %.10s; nothing is known of the time before", from);
    }
    if (item_true(answer, "more")) {
        context_say(
            "the rows with least use are left out; --pool, --user or --project ask for less");
    }
}

static enum err path_make(struct cli *cli, const char **ret, struct error *e)
{
    static const char *const texts[] = {"by", "pool", "user", "project"};
    const char *query = "";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *value = args_text(&cli->args, texts[i]);
        if (value != NULL) {
            query =
                arena_fmt(&cli->arena, "%s&%s=%s", query, texts[i], api_escape(&cli->arena, value));
        }
    }
    enum err r = task_query_moment(cli, "since", &query, e);
    if (r == ERR_OK) {
        r = task_query_moment(cli, "until", &query, e);
    }
    *ret = query[0] == '\0' ? "/usage" : arena_fmt(&cli->arena, "/usage?%s", query + 1);
    return r;
}

int cmd_usage(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    const char *path;
    if (path_make(cli, &path, &e) != ERR_OK ||
        api_get(cli, &cli->arena, path, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (show_json(cli, &reply)) {
        return EXIT_OK;
    }
    struct buf out;
    buf_init(&out, OUT_MAX);
    const bool csv = args_has(&cli->args, "csv");
    const struct doc *items = item_at(reply.doc, "items");
    if (csv) {
        csv_write(&out, reply.doc);
    } else if (items != NULL && items->first != NULL) {
        table_write(cli, &out, reply.doc);
    }
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
    if (!csv) {
        cover_say(reply.doc);
    }
    return EXIT_OK;
}
