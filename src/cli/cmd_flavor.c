/* cmd_flavor.c - `weir flavor …`. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cells.h"
#include "cli/cmd_object.h"
#include "cli/item.h"
#include "cli/market_cells.h"

#include <inttypes.h>

static void cell_zones(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_names(out, item_at(item, "zones"));
}

static void cell_pools(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_names(out, item_at(item, "pools"));
}

static void cell_spot(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_true(item, "spot") ? "yes" : "");
}

/* Writes "a (2 nodes), b (1 node)" for each zone, the first pool in line first. */
static void cell_line(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *line = item_at(item, "line");
    const char *before = "";
    for (const struct doc *d = line == NULL ? NULL : line->first; d != NULL; d = d->next) {
        const int64_t nodes = item_number(d, "nodes", 0);
        const char *zone = item_text(d, "zone");
        const bool begins = strcmp(zone, before) != 0;
        buf_addf(out, "%s%s%s%s (%" PRId64 " node%s)",
                 d == line->first ? ""
                 : begins         ? "; "
                                  : ", ",
                 begins ? zone : "", begins ? ": " : "", item_text(d, "pool"), nodes,
                 nodes == 1 ? "" : "s");
        before = zone;
    }
}

static const struct list_column flavor_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"provider", "PROVIDER", COLUMN_TEXT, "provider", COLUMN_ALWAYS, NULL},
    {"native", "NATIVE", COLUMN_TEXT, "native", COLUMN_WIDE, NULL},
    {"slots", "SLOTS", COLUMN_NUMBER, "slots", COLUMN_ALWAYS, NULL},
    {"gpus", "GPUS", COLUMN_NUMBER, "gpus", COLUMN_ALWAYS, NULL},
    {"price", "PRICE/H", COLUMN_CUSTOM_NUMBER, "price", COLUMN_ALWAYS, market_cells_price},
    {"spot", "SPOT", COLUMN_CUSTOM, "spot", COLUMN_ALWAYS, cell_spot},
    {"zones", "ZONES", COLUMN_CUSTOM, "zones", COLUMN_ALWAYS, cell_zones},
    {"sold-out", "SOLD OUT", COLUMN_CUSTOM, "sold_out", COLUMN_ALWAYS, market_cells_sold_out},
    {"pools", "POOLS", COLUMN_CUSTOM, "pools", COLUMN_WIDE, cell_pools},
    {"description", "ABOUT", COLUMN_TEXT, "description", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_column flavor_fields[] = {
    {"name", "flavor", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"provider", "provider", COLUMN_TEXT, "provider", COLUMN_ALWAYS, NULL},
    {"native", "native name", COLUMN_TEXT, "native", COLUMN_ALWAYS, NULL},
    {"slots", "slots", COLUMN_NUMBER, "slots", COLUMN_ALWAYS, NULL},
    {"gpus", "gpus", COLUMN_NUMBER, "gpus", COLUMN_ALWAYS, NULL},
    {"cpu", "cpu", COLUMN_NUMBER, "cpu", COLUMN_ALWAYS, NULL},
    {"memory", "memory", COLUMN_BYTES, "memory", COLUMN_ALWAYS, NULL},
    {"price", "price an hour", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, market_cells_price},
    {"spot", "spot", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_spot},
    {"zones", "zones", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_zones},
    {"sold-out", "sold out", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, market_cells_sold_out},
    {"line", "in line", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_line},
    {"pools", "pools", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_pools},
    {0},
};

static const struct list_def flavor_list = {
    .what = "flavors",
    .id_path = "name",
    .columns = flavor_columns,
    .empty = "`weir flavor create NAME` makes one",
};

const struct cmd_object cmd_flavor = {
    .one = "flavor",
    .path = "/flavors",
    .list = &flavor_list,
    .fields = flavor_fields,
    .flags = object_args_flavor,
};
