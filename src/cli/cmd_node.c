/* cmd_node.c - `weir node …`. SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/json_out.h"
#include "base/name.h"
#include "cli/api.h"
#include "cli/cells.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/text.h"
#include "cli/list.h"
#include "cli/show.h"
#include "cli/item.h"
#include "spec/resources_text.h"

#include <string.h>

enum { NODE_JSON_MAX = 1 << 16 };

/* Writes free and total of one resource: "3/4". */
static void free_of(struct buf *out, const struct doc *item, const char *resource)
{
    const struct doc *map = item_at(item, "resources");
    const struct doc *one = map == NULL ? NULL : doc_get(map, resource);
    if (one == NULL) {
        return;
    }
    int64_t free_bytes;
    int64_t total_bytes;
    bool bytes = strcmp(resource, "memory") == 0 || strcmp(resource, "gpu_memory") == 0;
    if (bytes && doc_i64(item_at(one, "free"), &free_bytes) &&
        doc_i64(item_at(one, "total"), &total_bytes)) {
        char free_text[AMOUNT_TEXT_MAX];
        char total_text[AMOUNT_TEXT_MAX];
        amount_bytes_text(free_bytes, free_text);
        amount_bytes_text(total_bytes, total_text);
        buf_addf(out, "%s/%s", free_text, total_text);
        return;
    }
    buf_addf(out, "%s/%s", item_text(one, "free"), item_text(one, "total"));
}

static uint32_t devices_out(const struct doc *item)
{
    const struct doc *devices = item_at(item, "devices");
    uint32_t count = 0;
    for (const struct doc *d = devices == NULL ? NULL : devices->first; d != NULL; d = d->next) {
        count += item_true(d, "out");
    }
    return count;
}

static void cell_state(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const char *state = item_text(item, "state");
    bool up = strcmp(state, "up") == 0;
    bool troubled = up && item_text(item, "trouble")[0] != '\0';
    bool draining = up && item_true(item, "draining");
    bool moving = up && item_text(item, "pool_next")[0] != '\0';
    const bool spare = up && item_true(item, "spare");
    /* The agent ends together with its machine, so a node that leaves is silent for a moment. Such
     * a node is not troubled. */
    const bool leaving =
        item_text(item, "leaving")[0] != '\0' && (up || strcmp(state, "silent") == 0);
    buf_add_str(out, troubled   ? "out of service"
                     : leaving  ? "leaving"
                     : draining ? "draining"
                     : moving   ? "moving"
                     : spare    ? "spare"
                                : state);
    const uint32_t out_count = devices_out(item);
    if (up && out_count > 0) {
        buf_addf(out, ", %u GPU%s out", out_count, out_count == 1 ? "" : "s");
    }
    if (item_true(item, "locked")) {
        buf_add_str(out, ", locked");
    }
}

/* Writes "gpu, as soon as nothing runs on the node". */
static void cell_pool_next(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    if (item_text(item, "pool_next")[0] != '\0') {
        buf_addf(out, "%s, as soon as nothing runs on the node", item_text(item, "pool_next"));
    }
}

/* Writes why the node is in its pool. With more than one selector the first pool counts. */
static void cell_chosen(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *pools = item_at(item, "selected_by");
    const struct doc *first = pools == NULL ? NULL : pools->first;
    if (item_true(item, "follows_labels")) {
        buf_add_str(out, first == NULL ? "no selector matches its labels" : "its labels match ");
    }
    for (const struct doc *d = first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s", d == first ? "" : ", ", d->text.p);
    }
    if (pools != NULL && pools->count > 1) {
        buf_add_str(out, " (conflict: the pool that was made first counts)");
    }
}

static void cell_slots(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    free_of(out, item, "slots");
}

static void cell_cpu(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    free_of(out, item, "cpu");
}

static void cell_memory(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    free_of(out, item, "memory");
}

/* Writes the named resources. */
static void cell_named(struct buf *out, const struct doc *item, int64_t now_ms)
{
    static const char *const known[] = {"slots", "cpu", "memory"};
    (void)now_ms;
    const struct doc *map = item_at(item, "resources");
    size_t start = out->len;
    for (const struct doc *d = map == NULL ? NULL : map->first; d != NULL; d = d->next) {
        bool shown = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            shown = shown || str_is(d->key, known[i]);
        }
        if (!shown) {
            buf_addf(out, "%s%s=", out->len == start ? "" : " ", d->key.p);
            free_of(out, item, d->key.p);
        }
    }
}

static void cell_labels(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_labels_text(out, item_at(item, "labels"));
}

static void cell_tasks(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *tasks = item_at(item, "tasks");
    buf_addf(out, "%u", tasks == NULL ? 0 : tasks->count);
}

static void cell_task_list(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *tasks = item_at(item, "tasks");
    for (const struct doc *d = tasks == NULL ? NULL : tasks->first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s", d == tasks->first ? "" : " ", d->text.p);
    }
}

static void cell_devices(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *devices = item_at(item, "devices");
    bool any = false;
    for (const struct doc *d = devices == NULL ? NULL : devices->first; d != NULL; d = d->next) {
        const char *free = item_text(d, "free");
        if (strcmp(free, "0") != 0) {
            const bool whole = strcmp(free, "1") == 0;
            buf_addf(out, "%s%s%s%s%s", any ? " " : "", item_text(d, "index"), whole ? "" : " (",
                     whole ? "" : free, whole ? "" : " of it)");
            any = true;
        }
    }
    if (!any && devices != NULL && devices->count > 0) {
        buf_add_str(out, "none");
    }
}

static const struct list_column node_columns[] = {
    {"name", "NAME", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"pool", "POOL", COLUMN_TEXT, "pool", COLUMN_ALWAYS, NULL},
    {"state", "STATE", COLUMN_CUSTOM, "state", COLUMN_ALWAYS, cell_state},
    {"slots", "SLOTS FREE", COLUMN_CUSTOM_NUMBER, "resources.slots.free", COLUMN_ALWAYS,
     cell_slots},
    {"cpu", "CPU FREE", COLUMN_CUSTOM_NUMBER, "resources.cpu.free", COLUMN_ALWAYS, cell_cpu},
    {"memory", "MEMORY FREE", COLUMN_CUSTOM_NUMBER, "resources.memory.free", COLUMN_ALWAYS,
     cell_memory},
    {"tasks", "TASKS", COLUMN_CUSTOM_NUMBER, "tasks", COLUMN_ALWAYS, cell_tasks},
    {"resources", "OTHER FREE", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_named},
    {"trouble", "TROUBLE", COLUMN_TEXT, "trouble", COLUMN_WIDE, NULL},
    {"labels", "LABELS", COLUMN_CUSTOM, NULL, COLUMN_WIDE, cell_labels},
    {"address", "ADDRESS", COLUMN_TEXT, "address", COLUMN_WIDE, NULL},
    {"version", "VERSION", COLUMN_TEXT, "version", COLUMN_WIDE, NULL},
    {0},
};

static const struct list_column node_fields[] = {
    {"name", "node", COLUMN_TEXT, "name", COLUMN_ALWAYS, NULL},
    {"pool", "pool", COLUMN_TEXT, "pool", COLUMN_ALWAYS, NULL},
    {"pool-next", "goes to", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_pool_next},
    {"chosen", "chosen by", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_chosen},
    {"state", "state", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_state},
    {"trouble", "out of service", COLUMN_TEXT, "trouble", COLUMN_ALWAYS, NULL},
    {"device-trouble", "GPUs out", COLUMN_TEXT, "device_trouble", COLUMN_ALWAYS, NULL},
    {"leaving", "leaves because", COLUMN_TEXT, "leaving", COLUMN_ALWAYS, NULL},
    {"drained-by", "drained by", COLUMN_TIME, "drain_by", COLUMN_ALWAYS, NULL},
    {"slots", "slots free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_slots},
    {"cpu", "cpu free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_cpu},
    {"memory", "memory free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_memory},
    {"resources", "other free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_named},
    {"devices", "devices free", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_devices},
    {"aux", "aux tasks", COLUMN_NUMBER, "aux.used", COLUMN_ALWAYS, NULL},
    {"labels", "labels", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_labels},
    {"address", "address", COLUMN_TEXT, "address", COLUMN_ALWAYS, NULL},
    {"version", "version", COLUMN_TEXT, "version", COLUMN_ALWAYS, NULL},
    {"limits", "limits", COLUMN_TEXT, "limits", COLUMN_ALWAYS, NULL},
    {"unprevented", "cannot prevent", COLUMN_TEXT, "unprevented", COLUMN_ALWAYS, NULL},
    {"incarnation", "incarnation", COLUMN_NUMBER, "incarnation", COLUMN_WIDE, NULL},
    {"tasks", "attempts", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_task_list},
    {0},
};

static int by_name(const struct doc *a, const struct doc *b)
{
    return name_order(item_text(a, "name"), item_text(b, "name"));
}

static const struct list_def node_list = {
    .what = "nodes",
    .compare = by_name,
    .id_path = "name",
    .columns = node_columns,
    .empty = "`weir agent --server URL --pool P --join-token T` makes a machine a node",
};

int cmd_node_list(struct cli *cli)
{
    const char *pool = args_text(&cli->args, "pool");
    const char *path =
        pool == NULL ? "/nodes"
                     : arena_fmt(&cli->arena, "/nodes?pool=%s", api_escape(&cli->arena, pool));
    return list_run(cli, &node_list, path);
}

static const char *node_path(struct cli *cli, const char *name)
{
    return arena_fmt(&cli->arena, "/nodes/%s", api_escape(&cli->arena, name));
}

int cmd_node_show(struct cli *cli)
{
    return show_run(cli, node_path(cli, cli->args.words[0]), NULL, node_fields, NULL);
}

/* ---- changes ---- */

/* What a command does to nodes. */
struct node_change {
    const char *method;
    struct str body;
    const char *would; /* with --dry-run, before the name of the node */
    const char *done;  /* behind the name of the node, when the change was made */
};

/* Changes one node, or with --dry-run says what the change would do. A change that stops tasks is confirmed on a terminal. */
static enum err one_change(struct cli *cli, const char *name, const struct node_change *change,
                           int *ret_exit, struct error *e)
{
    struct api_reply reply;
    bool go = true;
    const struct cost_call call = {change->method, node_path(cli, name), change->body,
                                   arena_fmt(&cli->arena, "%s %s", change->would, name)};
    *ret_exit = EXIT_OK;
    if (cost_is_dry(cli)) {
        return cost_dry(cli, &call, ret_exit, e);
    }
    enum err r = cost_confirm(cli, &call, COST_OTHERWISE_GO, &go, e);
    if (r != ERR_OK || !go) {
        *ret_exit = EXIT_FAILED;
        return r;
    }
    r = api_change(cli, &cli->arena, call.method, call.path, call.body, &reply, e);
    if (r == ERR_OK && !show_json(cli, &reply) && cli->err_tty) {
        context_say("node %s %s", name, change->done);
    }
    return r;
}

/* Makes the same change to the first `count` nodes on the command line. */
static int each(struct cli *cli, size_t count, const struct node_change *change)
{
    int code = EXIT_OK;
    for (size_t i = 0; i < count; i++) {
        struct error e;
        int one = EXIT_OK;
        if (one_change(cli, cli->args.words[i], change, &one, &e) != ERR_OK) {
            one = context_fail(cli, &e);
        }
        const bool worse = code == EXIT_WOULD_CHANGE && one != EXIT_OK;
        code = code == EXIT_OK || worse ? one : code;
    }
    return code;
}

/* Writes the body of a drain. With --within the tasks that still run then are requeued, unless --busy says otherwise. */
static const char *drain_json(struct cli *cli)
{
    const bool within = args_has(&cli->args, "within");
    const char *busy = args_text(&cli->args, "busy");
    if (busy == NULL && !within) {
        return "{\"draining\":true}";
    }
    return arena_fmt(&cli->arena, "{\"draining\":true,\"busy\":\"%s\",\"within\":%lld}",
                     busy != NULL ? busy : "requeue",
                     (long long)(args_duration(&cli->args, "within", 0) / 1000));
}

int cmd_node_drain(struct cli *cli)
{
    const struct node_change change = {"PATCH", str_of(drain_json(cli)),
                                       "start nothing more on node", "takes no new tasks"};
    return each(cli, cli->args.word_count, &change);
}

int cmd_node_lock(struct cli *cli)
{
    const struct node_change change = {"PATCH", str_of("{\"locked\":true}"), "lock node",
                                       "is locked"};
    return each(cli, cli->args.word_count, &change);
}

int cmd_node_unlock(struct cli *cli)
{
    const struct node_change change = {"PATCH", str_of("{\"locked\":false}"), "unlock node",
                                       "is not locked"};
    return each(cli, cli->args.word_count, &change);
}

int cmd_node_resume(struct cli *cli)
{
    const struct node_change change = {"PATCH", str_of("{\"draining\":false}"),
                                       "start tasks again on node", "takes tasks again"};
    return each(cli, cli->args.word_count, &change);
}

/* Writes KEY=VALUE and KEY- as the body of a PATCH. */
static enum err labels_json(struct cli *cli, struct buf *out, struct error *e)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_key(&j, "labels");
    json_out_object(&j);
    for (size_t i = 1; i < cli->args.word_count; i++) {
        const char *word = cli->args.words[i];
        size_t len = strlen(word);
        struct label label;
        if (len > 1 && word[len - 1] == '-' && strchr(word, '=') == NULL) {
            json_out_key(&j, arena_strn(&cli->arena, word, len - 1));
            json_out_null(&j);
            continue;
        }
        if (resources_text_label(str_of(word), &cli->arena, &label, e) != ERR_OK) {
            e->code = ERR_USAGE;
            return ERR_USAGE;
        }
        json_out_kv_text(&j, label.key, label.value);
    }
    json_out_end(&j);
    if (args_text(&cli->args, "busy") != NULL) {
        json_out_kv_text(&j, "busy", args_text(&cli->args, "busy"));
    }
    json_out_end(&j);
    return ERR_OK;
}

int cmd_node_label(struct cli *cli)
{
    struct error e;
    struct buf body;
    buf_init(&body, NODE_JSON_MAX);
    int code;
    if (labels_json(cli, &body, &e) == ERR_OK) {
        const struct node_change change = {
            "PATCH", {.p = body.data, .len = body.len}, "change labels of node", "has new labels"};
        code = each(cli, 1, &change);
    } else {
        code = context_fail(cli, &e);
    }
    buf_done(&body);
    return code;
}

int cmd_node_remove(struct cli *cli)
{
    const struct node_change change = {"DELETE", {0}, "remove node", "is removed"};
    struct error e;
    bool yes = true;
    size_t count = cli->args.word_count;
    if (!args_has(&cli->args, "yes") && !cost_is_dry(cli)) {
        context_say("this removes %zu node%s", count, count == 1 ? "" : "s");
        for (size_t i = 0; i < count; i++) {
            const struct cost_call call = {.method = "DELETE",
                                           .path = node_path(cli, cli->args.words[i])};
            (void)cost_say(cli, &call, NULL);
        }
        if (context_confirm(cli, count, &yes, &e) != ERR_OK) {
            return context_fail(cli, &e);
        }
    }
    return yes ? each(cli, count, &change) : EXIT_FAILED;
}

int cmd_node_rejoin(struct cli *cli)
{
    struct error e;
    struct api_reply reply;
    const char *name = cli->args.words[0];
    const char *path = arena_fmt(&cli->arena, "%s/rejoin", node_path(cli, name));
    if (cost_is_dry(cli)) {
        const char *what = arena_fmt(&cli->arena, "make a token for the name of node %s", name);
        return cost_dry_run(cli, &(struct cost_call){"POST", path, {0}, what});
    }
    if (api_change(cli, &cli->arena, "POST", path, (struct str){0}, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    return cmd_auth_secret_show(cli, &reply);
}
