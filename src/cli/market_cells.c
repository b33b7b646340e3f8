/* market_cells.c - see market_cells.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/market_cells.h"

#include "cli/item.h"
#include "cli/text.h"

#include <inttypes.h>
#include <string.h>

/* The price of an hour as text; "": unknown. */
static void price_add(struct buf *out, const struct doc *item, const char *before)
{
    const char *price = item_text(item, "price");
    const char *currency = item_text(item, "currency");
    if (price[0] != '\0' && strcmp(price, "0") != 0) {
        buf_addf(out, "%s%s%s%s", before, price, currency[0] != '\0' ? " " : "", currency);
    }
}

void market_cells_price(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    price_add(out, item, "");
}

/* Writes how long ago or ahead the time of a field is. */
static void moment_add(struct buf *out, const struct doc *item, const char *field, int64_t now_ms)
{
    int64_t at_ms;
    if (text_time_parse(str_of(item_text(item, field)), &at_ms)) {
        text_ago(out, at_ms, now_ms);
    }
}

void market_cells_sold_out(struct buf *out, const struct doc *item, int64_t now_ms)
{
    const struct doc *zones = item_at(item, "sold_out");
    for (const struct doc *d = zones == NULL ? NULL : zones->first; d != NULL; d = d->next) {
        const char *zone = item_text(d, "zone");
        buf_addf(out, "%s%s%sfirst refused ", d == zones->first ? "" : "; ", zone,
                 zone[0] != '\0' ? ": " : "");
        moment_add(out, d, "since", now_ms);
        if (item_true(d, "asking")) {
            buf_add_str(out, ", being asked again");
        } else {
            buf_add_str(out, ", asked again ");
            moment_add(out, d, "retry_at", now_ms);
        }
    }
}

/* What the pool has of its flavor; NULL: it has none. */
static const struct doc *market_of(const struct doc *item)
{
    const struct doc *market = item_at(item, "market");
    return market != NULL && market->kind == DOC_MAP ? market : NULL;
}

void market_cells_flavor(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *market = market_of(item);
    if (market == NULL) {
        return;
    }
    buf_add_str(out, item_text(item, "flavor"));
    price_add(out, market, ": ");
    if (strcmp(item_text(market, "price"), "0") != 0) {
        buf_add_str(out, " an hour for each node");
    }
    if (item_true(market, "spot")) {
        buf_add_str(out, ", may be taken back");
    }
}

void market_cells_sold_out_of_pool(struct buf *out, const struct doc *item, int64_t now_ms)
{
    const struct doc *market = market_of(item);
    if (market != NULL) {
        market_cells_sold_out(out, market, now_ms);
    }
}

void market_cells_line_of_pool(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *market = market_of(item);
    const struct doc *line = market == NULL ? NULL : item_at(market, "line");
    if (line == NULL || line->kind != DOC_MAP) {
        return;
    }
    const int64_t nodes = item_number(line, "nodes", 0);
    buf_addf(out, "number %s of %s for %" PRId64 " node%s", item_text(line, "place"),
             item_text(line, "of"), nodes, nodes == 1 ? "" : "s");
    const struct doc *zones = item_at(line, "zones");
    for (const struct doc *d = zones == NULL ? NULL : zones->first; d != NULL; d = d->next) {
        const char *zone = item_text(d, "zone");
        if (zone[0] != '\0') {
            buf_addf(out, "%s%s: %s of %s", d == zones->first ? " (" : ", ", zone,
                     item_text(d, "place"), item_text(d, "of"));
            buf_add_str(out, d->next == NULL ? ")" : "");
        }
    }
}

void market_cells_alternatives(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *market = market_of(item);
    const struct doc *list = market == NULL ? NULL : item_at(market, "alternatives");
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL; d = d->next) {
        const char *zone = item_text(d, "zone");
        buf_addf(out, "%sflavor %s%s%s", d == list->first ? "" : "; ", item_text(d, "flavor"),
                 zone[0] != '\0' ? " in " : "", zone);
        price_add(out, d, " for ");
    }
}
