/* cmd_budget.c - `weir budget`: what keeping places and sharing may cost each pool.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/list.h"

/* Writes what is left of a budget, in slot-hours: "0.96 of 48". */
static void left_add(struct buf *out, const struct doc *budget)
{
    buf_addf(out, "%s of %s", item_text(budget, "level"), item_text(budget, "most"));
}

static void cell_idle_left(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    left_add(out, item_at(item, "budgets.idle"));
}

static void cell_loss_left(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    left_add(out, item_at(item, "budgets.loss"));
}

/* Writes which part of the pool's slot-time the idle budget gets: "2%". */
static void cell_idle(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_addf(out, "%s%%", item_text(item, "scheduler.idle_for_waiting"));
}

static void cell_loss(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_addf(out, "%s%%", item_text(item, "scheduler.loss_for_sharing"));
}

static const struct list_column budget_columns[] = {
    {"pool", "POOL", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"idle", "IDLE", COLUMN_CUSTOM_NUMBER, "scheduler.idle_for_waiting", COLUMN_SPARE, cell_idle},
    {"idle-left", "IDLE LEFT", COLUMN_CUSTOM_NUMBER, "budgets.idle.level", COLUMN_ALWAYS,
     cell_idle_left},
    {"idle-gets", "AN HOUR", COLUMN_NUMBER, "budgets.idle.gets", COLUMN_ALWAYS, NULL},
    {"idle-pays", "PAYS", COLUMN_NUMBER, "budgets.idle.pays", COLUMN_ALWAYS, NULL},
    {"loss", "LOSS", COLUMN_CUSTOM_NUMBER, "scheduler.loss_for_sharing", COLUMN_SPARE, cell_loss},
    {"loss-left", "LOSS LEFT", COLUMN_CUSTOM_NUMBER, "budgets.loss.level", COLUMN_ALWAYS,
     cell_loss_left},
    {"loss-gets", "AN HOUR", COLUMN_NUMBER, "budgets.loss.gets", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_def budget_list = {
    .what = "pools",
    .id_path = "name",
    .columns = budget_columns,
    .empty = "`weir pool create NAME` makes one",
};

int cmd_budget(struct cli *cli)
{
    return list_run(cli, &budget_list, "/pools");
}
