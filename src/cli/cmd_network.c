/* cmd_network.c - `weir network …`. SPDX-License-Identifier: Apache-2.0 */
#include "cli/cells.h"
#include "cli/cmd_object.h"
#include "cli/item.h"

static void cell_pools(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_names(out, item_at(item, "pools"));
}

static void cell_for(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *guests = item_at(item, "for");
    if (guests == NULL || guests->first == NULL) {
        buf_add_str(out, "all");
    }
    cells_names(out, guests);
}

static void cell_outbound(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_true(item, "outbound") ? "yes" : "no");
}

static const struct list_column network_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"range", "RANGE", COLUMN_TEXT, "range", COLUMN_ALWAYS, NULL},
    {"outbound", "OUTBOUND", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_outbound},
    {"for", "FOR", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_for},
    {"uses", "USES", COLUMN_NUMBER, "uses", COLUMN_ALWAYS, NULL},
    {"pools", "POOLS", COLUMN_CUSTOM, "pools", COLUMN_WIDE, cell_pools},
    {"description", "ABOUT", COLUMN_TEXT, "description", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_column network_fields[] = {
    {"name", "network", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"range", "range", COLUMN_TEXT, "range", COLUMN_ALWAYS, NULL},
    {"outbound", "outbound", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_outbound},
    {"for", "for", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_for},
    {"pools", "pools", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_pools},
    {"uses", "pools and tasks", COLUMN_NUMBER, "uses", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_def network_list = {
    .what = "networks",
    .id_path = "name",
    .columns = network_columns,
    .empty = "`weir network create NAME` makes one",
};

const struct cmd_object cmd_network = {
    .one = "network",
    .path = "/networks",
    .list = &network_list,
    .fields = network_fields,
    .flags = object_args_network,
};
