/* cmd_pool.c - `weir pool …`. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/cells.h"
#include "cli/cmd.h"
#include "cli/cmd_object.h"
#include "cli/cost.h"
#include "cli/market_cells.h"
#include "cli/pool_cells.h"
#include "cli/show.h"
#include "cli/text.h"
#include "cli/item.h"

#include <inttypes.h>
#include <string.h>

enum { POOL_JSON_MAX = 1 << 16 };

static void cell_state(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const char *state = item_text(item, "state");
    buf_add_str(out, item_true(item, "paused") ? "paused, " : "");
    buf_add_str(out, state[0] != '\0' ? state : "open"); /* an older server says no state */
}

static void cell_title(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_add_str(out, item_text(item, "title"));
}

static void cell_nodes(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_addf(out, "%s/%s", item_text(item, "nodes.up"), item_text(item, "nodes.total"));
}

static void cell_slots(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_addf(out, "%s/%s", item_text(item, "slots.free"), item_text(item, "slots.total"));
}

static void cell_aux(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    buf_addf(out, "%s/%s", item_text(item, "aux.free"), item_text(item, "aux.total"));
}

static void cell_accepts(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *kinds = item_at(item, "accepts");
    cells_names(out, kinds);
    if (kinds == NULL || kinds->count == 0) {
        buf_add_str(out, "all");
    }
}

static void cell_topology(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_names(out, item_at(item, "topology"));
}

static void cell_patience(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t ms = item_number(item, "patience_ms", -1);
    if (ms < 0) {
        buf_add_str(out, "auto"); /* the API says null */
    } else {
        text_span(out, ms);
    }
}

static void cell_turn(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    text_span(out, item_number(item, "scheduler.turn_ms", 0));
}

/* Writes a budget: "2% of slot-time: 3.2 of 48 slot-hours left, gets 2 in an hour, pays 1.5". */
static void budget_add(struct buf *out, const struct doc *item, const char *percent,
                       const char *name)
{
    const struct doc *budgets = item_at(item, "budgets");
    const struct doc *budget = budgets == NULL ? NULL : item_at(budgets, name);
    buf_addf(out, "%s%% of slot-time", item_text(item, percent));
    if (budget == NULL || budget->kind == DOC_NULL) {
        return; /* the server is older */
    }
    buf_addf(out, ": %s of %s slot-hours left, gets %s in an hour", item_text(budget, "level"),
             item_text(budget, "most"), item_text(budget, "gets"));
    if (strcmp(item_text(budget, "pays"), "0") != 0) {
        buf_addf(out, ", pays %s", item_text(budget, "pays"));
    }
}

static void cell_idle(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    budget_add(out, item, "scheduler.idle_for_waiting", "idle");
}

static void cell_loss(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    budget_add(out, item, "scheduler.loss_for_sharing", "loss");
}

/* Writes the half-life, where shares depend on past use. */
static void cell_half_life(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    int64_t ms = item_number(item, "scheduler.history.half_life_ms", 0);
    int64_t window_ms = item_number(item, "scheduler.history.window_ms", 0);
    if (ms > 0) {
        text_span(out, ms);
    }
    if (window_ms > 0) {
        buf_add_str(out, ms > 0 ? " in windows of " : "windows of ");
        text_span(out, window_ms);
    }
    if (ms + window_ms > 0) {
        buf_addf(out, " x %s", item_text(item, "scheduler.history.factor"));
    }
}

/* Writes "local: 0 to 3 nodes of 1 slot, a node without work goes after 20m". */
static void cell_provider(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const char *type = item_text(item, "provider.type");
    const struct doc *market = item_at(item, "market");
    const bool sold = market != NULL && market->kind == DOC_MAP;
    const int64_t slots = item_number(item, sold ? "market.slots" : "provider.slots", 0);
    if (strcmp(type, "static") == 0 || type[0] == '\0') {
        return;
    }
    const int64_t fixed = item_number(item, "provider.nodes", 0);
    if (fixed > 0) {
        buf_addf(out, "%s: %" PRId64 " node%s of %" PRId64 " slot%s", type, fixed,
                 fixed == 1 ? "" : "s", slots, slots == 1 ? "" : "s");
        return;
    }
    buf_addf(out, "%s: %s to %s nodes of %" PRId64 " slot%s, a node without work goes after ", type,
             item_text(item, "provider.min"), item_text(item, "provider.max"), slots,
             slots == 1 ? "" : "s");
    text_span(out, item_number(item, "provider.idle_ms", 0));
}

/* Writes "2 on the way, 1 ends". */
static void cell_launches(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t starting = item_number(item, "launches.starting", 0);
    const int64_t ending = item_number(item, "launches.ending", 0);
    const int64_t leaving = item_number(item, "launches.leaving", 0);
    if (starting > 0) {
        buf_addf(out, "%" PRId64 " on the way", starting);
    }
    if (leaving > 0) {
        buf_addf(out, "%s%" PRId64 " leave%s", starting > 0 ? ", " : "", leaving,
                 leaving == 1 ? "s" : "");
    }
    if (ending > 0) {
        buf_addf(out, "%s%" PRId64 " end%s", starting + leaving > 0 ? ", " : "", ending,
                 ending == 1 ? "s" : "");
    }
}

/* Writes "2 of 5 nodes told to leave, 1 at once", or how the last replacement ended. */
static void cell_replacement(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *row = item_at(item, "replacement");
    if (row == NULL || row->kind != DOC_MAP) {
        return;
    }
    const int64_t at_once = item_number(row, "at_once", 0);
    buf_addf(out, "%s of %s nodes told to leave", item_text(row, "begun"), item_text(row, "total"));
    if (at_once > 0) {
        buf_addf(out, ", %" PRId64 " at once", at_once);
    } else {
        buf_addf(out, "; ended: %s", item_text(row, "ended"));
    }
}

static const struct list_column pool_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"state", "STATE", COLUMN_CUSTOM, "state", COLUMN_ALWAYS, cell_state},
    {"health", "HEALTH", COLUMN_TEXT, "health", COLUMN_ALWAYS, NULL},
    {"nodes", "NODES UP", COLUMN_CUSTOM_NUMBER, "nodes.total", COLUMN_ALWAYS, cell_nodes},
    {"slots", "SLOTS FREE", COLUMN_CUSTOM_NUMBER, "slots.free", COLUMN_ALWAYS, cell_slots},
    {"running", "RUNNING", COLUMN_NUMBER, "tasks.running", COLUMN_ALWAYS, NULL},
    {"pending", "PENDING", COLUMN_NUMBER, "tasks.pending", COLUMN_ALWAYS, NULL},
    {"policy", "POLICY", COLUMN_TEXT, "scheduler.policy", COLUMN_WIDE, NULL},
    {"patience", "PATIENCE", COLUMN_CUSTOM_NUMBER, "patience_ms", COLUMN_WIDE, cell_patience},
    {"accepts", "ACCEPTS", COLUMN_CUSTOM, "accepts", COLUMN_WIDE, cell_accepts},
    {"created", "CREATED", COLUMN_TIME, "created_at", COLUMN_WIDE, NULL},
    {"reason", "REASON", COLUMN_TEXT, "reason", COLUMN_WIDE, NULL},
    {"title", "TITLE", COLUMN_SENTENCE, "title", COLUMN_ALWAYS, cell_title},
    {0},
};

static const struct list_column pool_fields[] = {
    {"name", "pool", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"title", "title", COLUMN_TEXT, "title", COLUMN_ALWAYS, NULL},
    {"description", "about", COLUMN_TEXT, "description", COLUMN_ALWAYS, NULL},
    {"contact", "contact", COLUMN_TEXT, "contact", COLUMN_ALWAYS, NULL},
    {"state", "state", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_state},
    {"since", "since", COLUMN_TIME, "state_since", COLUMN_ALWAYS, NULL},
    {"health", "health", COLUMN_TEXT, "health", COLUMN_ALWAYS, NULL},
    {"reason", "reason", COLUMN_TEXT, "reason", COLUMN_ALWAYS, NULL},
    {"restore", "restorable until", COLUMN_TIME, "restore_until", COLUMN_ALWAYS, NULL},
    {"nodes", "nodes up", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_nodes},
    {"provider", "provider", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_provider},
    {"flavor", "flavor", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, market_cells_flavor},
    {"network", "network", COLUMN_TEXT, "network", COLUMN_ALWAYS, NULL},
    {"sold-out", "sold out", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, market_cells_sold_out_of_pool},
    {"line", "in line", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, market_cells_line_of_pool},
    {"instead", "instead", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, market_cells_alternatives},
    {"command", "program", COLUMN_TEXT, "provider.command", COLUMN_ALWAYS, NULL},
    {"partition", "partition", COLUMN_TEXT, "provider.partition", COLUMN_ALWAYS, NULL},
    {"launches", "changing", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_launches},
    {"replacement", "replacing", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_replacement},
    {"refusal", "provider says", COLUMN_TEXT, "launches.refusal", COLUMN_ALWAYS, NULL},
    {"retry", "asked again", COLUMN_TIME, "launches.retry_at", COLUMN_ALWAYS, NULL},
    {"silent", "silent", COLUMN_NUMBER, "nodes.silent", COLUMN_ALWAYS, NULL},
    {"draining", "draining", COLUMN_NUMBER, "nodes.draining", COLUMN_ALWAYS, NULL},
    {"lost", "lost", COLUMN_NUMBER, "nodes.lost", COLUMN_ALWAYS, NULL},
    {"slots", "slots free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_slots},
    {"slot-type", "slots are", COLUMN_TEXT, "slot_type", COLUMN_ALWAYS, NULL},
    {"aux-free", "aux free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_aux},
    {"running", "running", COLUMN_NUMBER, "tasks.running", COLUMN_ALWAYS, NULL},
    {"pending", "pending", COLUMN_NUMBER, "tasks.pending", COLUMN_ALWAYS, NULL},
    {"accepts", "accepts", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_accepts},
    {"access", "serves", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, pool_cells_access},
    {"slots-per-node", "slots per node", COLUMN_NUMBER, "slots_per_node", COLUMN_ALWAYS, NULL},
    {"topology", "topology", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_topology},
    {"selector", "selector", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, pool_cells_selector},
    {"contested", "conflict", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, pool_cells_contested},
    {"policy", "policy", COLUMN_TEXT, "scheduler.policy", COLUMN_ALWAYS, NULL},
    {"placement", "placement", COLUMN_TEXT, "scheduler.placement", COLUMN_ALWAYS, NULL},
    {"order", "order", COLUMN_TEXT, "scheduler.order", COLUMN_ALWAYS, NULL},
    {"preemption", "preemption", COLUMN_TEXT, "scheduler.preemption", COLUMN_ALWAYS, NULL},
    {"victims", "victims", COLUMN_TEXT, "scheduler.victims", COLUMN_ALWAYS, NULL},
    {"user-slots", "slots a user", COLUMN_NUMBER, "scheduler.user_slots", COLUMN_ALWAYS, NULL},
    {"history", "half-life", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_half_life},
    {"patience", "patience", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_patience},
    {"turn", "turn", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_turn},
    {"idle", "idle budget", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_idle},
    {"loss", "loss budget", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_loss},
    {"uneven", "uneven parts", COLUMN_TEXT, "scheduler.uneven", COLUMN_ALWAYS, NULL},
    {"aux", "aux tasks", COLUMN_NUMBER, "aux_tasks", COLUMN_ALWAYS, NULL},
    {"reserved", "reserved for", COLUMN_NUMBER, "reserved_task", COLUMN_ALWAYS, NULL},
    {"created", "created", COLUMN_TIME, "created_at", COLUMN_ALWAYS, NULL},
    {0},
};

static const struct list_def pool_list = {
    .what = "pools",
    .id_path = "name",
    .columns = pool_columns,
    .empty = "`weir pool create NAME` makes one",
};

int cmd_pool_list(struct cli *cli)
{
    return list_run(cli, &pool_list, "/pools");
}

int cmd_pool_show(struct cli *cli)
{
    const char *events =
        arena_fmt(&cli->arena, "pool=%s", api_escape(&cli->arena, cli->args.words[0]));
    return show_run(cli, cmd_object_path(cli, "/pools"), events, pool_fields, NULL);
}

/* ---- changes ---- */

/* Writes "history":"off" or {…} from the flags; false: no flag was given. */
static bool history_json(const struct cli *cli, struct json_out *j)
{
    const char *half_life = args_text(&cli->args, "history");
    struct buf given;
    struct json_out inner;
    if (half_life != NULL && strcmp(half_life, "off") == 0) {
        json_out_kv_text(j, "history", "off");
        return true;
    }
    buf_init(&given, POOL_JSON_MAX);
    json_out_init(&inner, &given);
    json_out_object(&inner);
    const bool any = object_args_json(&cli->args, object_args_pool, GROUP_HISTORY, &inner);
    json_out_end(&inner);
    if (any) {
        json_out_key(j, "history");
        json_out_raw(j, (struct str){given.data, given.len});
    }
    buf_done(&given);
    return any;
}

/* Writes "key":{…} with the fields of the group for which flags are given. False: no flag is given. */
static bool group_json(const struct cli *cli, struct json_out *j, const char *key,
                       enum object_group group)
{
    json_out_key(j, key);
    json_out_object(j);
    bool any = object_args_json(&cli->args, object_args_pool, group, j);
    any |= group == GROUP_SCHEDULER && history_json(cli, j);
    json_out_end(j);
    return any;
}

/* Writes a flag "a,b" as a list. The word `none` gives an empty list. False: the flag was not
 * given. */
static bool list_json(const struct cli *cli, struct json_out *j, const char *name, const char *none)
{
    const char *text = args_text(&cli->args, name);
    if (text == NULL) {
        return false;
    }
    json_out_key(j, name);
    json_out_array(j);
    struct str rest = str_of(text);
    while (rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        if (one.len > 0 && !str_is(one, none)) {
            json_out_str(j, one);
        }
    }
    json_out_end(j);
    return true;
}

/* Writes --slots-per-node as a number, or as the word `all`; false: the flag was not given. */
static bool slots_json(const struct cli *cli, struct json_out *j)
{
    const char *text = args_text(&cli->args, "slots-per-node");
    uint64_t slots;
    if (text == NULL) {
        return false;
    }
    if (str_to_u64(str_of(text), &slots)) {
        json_out_kv_u64(j, "slots_per_node", slots);
    } else {
        json_out_kv_text(j, "slots_per_node", text);
    }
    return true;
}

/* Writes the flags of `create` and `edit`; false: no flag was given. */
static bool pool_json(const struct cli *cli, struct json_out *j)
{
    bool any = object_args_json(&cli->args, object_args_pool, GROUP_TOP, j);
    any |= list_json(cli, j, "accepts", "all");
    any |= list_json(cli, j, "topology", "none");
    any |= list_json(cli, j, "selector", "none");
    any |= list_json(cli, j, "for", "none");
    any |= slots_json(cli, j);
    any |= group_json(cli, j, "provider", GROUP_PROVIDER);
    return group_json(cli, j, "scheduler", GROUP_SCHEDULER) || any;
}

/* Changes a pool that exists. A change that stops tasks is confirmed first. With --dry-run only says what it would do. */
static int edit(struct cli *cli, struct str body, const char *done)
{
    struct error e;
    bool go;
    const char *force = object_args_given(&cli->args, "force") ? "?force=true" : "";
    const struct cost_call call = {
        "PATCH", arena_fmt(&cli->arena, "%s%s", cmd_object_path(cli, "/pools"), force), body, NULL};
    if (cost_is_dry(cli)) {
        return cost_dry_run(cli, &call);
    }
    if (cost_confirm(cli, &call, COST_NEEDS_YES, &go, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    return go ? cmd_object_change(cli, "pool", &call, done) : EXIT_FAILED;
}

/* A provider without --max would bring no node up, and --max alone has no provider. */
static bool provider_whole(struct cli *cli, struct error *e)
{
    const char *type = args_text(&cli->args, "provider");
    const bool provides = type != NULL && strcmp(type, "static") != 0;
    const bool bounded =
        args_has(&cli->args, "max") || args_has(&cli->args, "min") || args_has(&cli->args, "nodes");
    if (provides == bounded) {
        return true;
    }
    (void)(provides
               ? fail(e, ERR_USAGE,
                      "--provider %s needs --max N or --nodes N: how many nodes it brings up", type)
               : fail(e, ERR_USAGE,
                      "--min, --max and --nodes need --provider local: a static pool has the "
                      "nodes whose agents somebody starts"));
    return false;
}

int cmd_pool_create(struct cli *cli)
{
    struct error e;
    if (!provider_whole(cli, &e)) {
        return context_fail(cli, &e);
    }
    struct buf body;
    buf_init(&body, POOL_JSON_MAX);
    struct json_out j;
    json_out_init(&j, &body);
    json_out_object(&j);
    json_out_kv_text(&j, "name", cli->args.words[0]);
    (void)pool_json(cli, &j);
    json_out_end(&j);
    const struct cost_call call = {.method = "POST",
                                   .path = "/pools",
                                   .body = {.p = body.data, .len = body.len},
                                   .what =
                                       arena_fmt(&cli->arena, "make pool %s", cli->args.words[0])};
    const int code =
        cost_is_dry(cli) ? cost_dry_run(cli, &call) : cmd_object_change(cli, "pool", &call, "made");
    buf_done(&body);
    return code;
}

int cmd_pool_edit(struct cli *cli)
{
    struct buf body;
    buf_init(&body, POOL_JSON_MAX);
    struct json_out j;
    json_out_init(&j, &body);
    json_out_object(&j);
    bool any = pool_json(cli, &j);
    json_out_end(&j);
    const int code = any ? edit(cli, (struct str){body.data, body.len}, "changed")
                         : cmd_object_same(cli, "pool");
    buf_done(&body);
    return code;
}

int cmd_pool_pause(struct cli *cli)
{
    return edit(cli, str_of("{\"paused\":true}"),
                "paused: nothing starts in this pool, running tasks go on");
}

int cmd_pool_resume(struct cli *cli)
{
    return edit(cli, str_of("{\"paused\":false}"), "starts tasks again");
}
