/* cmd_quota.c - `weir quota list` and `weir quota set`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/list.h"
#include "cli/object_args.h"
#include "cli/show.h"

#include <string.h>

enum { QUOTA_JSON_MAX = 1 << 16, QUOTA_RESOURCES_MAX = 16 };

/* ---- the list ---- */

/* Writes a project with its department: `ml/vision`. */
static void cell_account(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    if (strcmp(item_text(item, "kind"), "project") == 0) {
        buf_addf(out, "%s/", item_text(item, "department"));
    }
    buf_add_str(out, item_text(item, "account"));
}

static void amount_cell(struct buf *out, const struct doc *item, const char *path)
{
    const struct doc *value = item_at(item, path);
    int64_t bytes;
    if (value == NULL || value->kind == DOC_NULL) {
        buf_add_str(out, "unlimited");
    } else if (strcmp(item_text(item, "resource"), "memory") == 0 && doc_i64(value, &bytes)) {
        char text[AMOUNT_TEXT_MAX];
        amount_bytes_text(bytes, text);
        buf_add_str(out, text);
    } else {
        buf_add_str(out, item_text(item, path));
    }
}

#define AMOUNT_CELL(name)                                                                          \
    static void cell_##name(struct buf *out, const struct doc *item, int64_t now_ms)               \
    {                                                                                              \
        (void)now_ms;                                                                              \
        amount_cell(out, item, #name);                                                             \
    }

AMOUNT_CELL(guaranteed)
AMOUNT_CELL(share)
AMOUNT_CELL(allocated)
AMOUNT_CELL(borrowed)
AMOUNT_CELL(demand)
AMOUNT_CELL(above_limit)
AMOUNT_CELL(overhang)
AMOUNT_CELL(fixed)
AMOUNT_CELL(leaving)

/* Writes the limit; empty for the many accounts without one. */
static void cell_limit(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *value = item_at(item, "limit");
    if (value == NULL || value->kind == DOC_NULL) {
        buf_add_str(out, "-");
    } else {
        amount_cell(out, item, "limit");
    }
}

static const struct list_column quota_columns[] = {
    {"account", "ACCOUNT", COLUMN_CUSTOM, "account", COLUMN_ALWAYS, cell_account},
    {"kind", "KIND", COLUMN_TEXT, "kind", COLUMN_WIDE, NULL},
    {"pool", "POOL", COLUMN_TEXT, "pool", COLUMN_SPARE, NULL},
    {"resource", "RESOURCE", COLUMN_TEXT, "resource", COLUMN_SPARE, NULL},
    {"guaranteed", "GUARANTEED", COLUMN_CUSTOM_NUMBER, "guaranteed", COLUMN_ALWAYS,
     cell_guaranteed},
    {"limit", "LIMIT", COLUMN_CUSTOM_NUMBER, "limit", COLUMN_SPARE, cell_limit},
    {"weight", "WEIGHT", COLUMN_NUMBER, "weight", COLUMN_SPARE, NULL},
    {"rank", "RANK", COLUMN_NUMBER, "rank", COLUMN_WIDE, NULL},
    {"share", "FAIR SHARE", COLUMN_CUSTOM_NUMBER, "share", COLUMN_ALWAYS, cell_share},
    {"allocated", "ALLOCATED", COLUMN_CUSTOM_NUMBER, "allocated", COLUMN_ALWAYS, cell_allocated},
    {"borrowed", "BORROWED", COLUMN_CUSTOM_NUMBER, "borrowed", COLUMN_SPARE, cell_borrowed},
    {"demand", "DEMAND", COLUMN_CUSTOM_NUMBER, "demand", COLUMN_ALWAYS, cell_demand},
    {"above-limit", "ABOVE LIMIT", COLUMN_CUSTOM_NUMBER, "above_limit", COLUMN_WIDE,
     cell_above_limit},
    {"overhang", "OVERHANG", COLUMN_CUSTOM_NUMBER, "overhang", COLUMN_SPARE, cell_overhang},
    {"history", "HISTORY", COLUMN_NUMBER, "history", COLUMN_WIDE, NULL},
    {"fixed", "FIXED", COLUMN_CUSTOM_NUMBER, "fixed", COLUMN_WIDE, cell_fixed},
    {"leaving", "LEAVING", COLUMN_CUSTOM_NUMBER, "leaving", COLUMN_WIDE, cell_leaving},
    {"running", "RUNNING", COLUMN_NUMBER, "running", COLUMN_WIDE, NULL},
    {"pending", "PENDING", COLUMN_NUMBER, "pending", COLUMN_WIDE, NULL},
    {0},
};

static bool says(const struct doc *item, const char *path, const char *text)
{
    return strcmp(item_text(item, path), text) == 0;
}

/* Sorts by pool, a department before its projects, slots before other resources. */
static int quota_compare(const struct doc *a, const struct doc *b)
{
    const bool a_project = says(a, "kind", "project");
    const bool b_project = says(b, "kind", "project");
    const int orders[] = {
        strcmp(item_text(a, "pool"), item_text(b, "pool")),
        strcmp(item_text(a, a_project ? "department" : "account"),
               item_text(b, b_project ? "department" : "account")),
        a_project - b_project,
        strcmp(item_text(a, "account"), item_text(b, "account")),
        says(b, "resource", "slots") - says(a, "resource", "slots"),
        strcmp(item_text(a, "resource"), item_text(b, "resource")),
    };
    int order = 0;
    for (size_t i = 0; order == 0 && i < sizeof orders / sizeof *orders; i++) {
        order = orders[i];
    }
    return order;
}

static const struct list_def quota_list = {
    .what = "quotas",
    .id_path = "account",
    .columns = quota_columns,
    .empty = "`weir quota set PROJECT --pool P gpu=5` sets one",
    .compare = quota_compare,
};

int cmd_quota_list(struct cli *cli)
{
    static const char *const filters[] = {"pool", "project", "department"};
    const char *path = "/quotas";
    const char *mark = "?";
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        const char *value = args_text(&cli->args, filters[i]);
        if (value != NULL) {
            path = arena_fmt(&cli->arena, "%s%s%s=%s", path, mark, filters[i],
                             api_escape(&cli->arena, value));
            mark = "&";
        }
    }
    if (args_has(&cli->args, "all")) {
        path = arena_fmt(&cli->arena, "%s%sall=true", path, mark);
    }
    return list_run(cli, &quota_list, path);
}

/* ---- set ---- */

enum term { TERM_GUARANTEED, TERM_LIMIT, TERM_WEIGHT, TERM_COUNT };

static const char *const term_names[TERM_COUNT] = {
    [TERM_GUARANTEED] = "guaranteed", [TERM_LIMIT] = "limit", [TERM_WEIGHT] = "weight"};

/* The values given for one resource. */
struct said {
    const char *resource;
    const char *terms[TERM_COUNT];
};

struct quota_words {
    struct arena *arena;
    struct said said[QUOTA_RESOURCES_MAX];
    size_t count;
};

static must_use enum err term_set(struct quota_words *words, struct str resource, enum term term,
                                  const char *value, struct error *e)
{
    const char *name =
        str_is(resource, "gpu") ? "slots" : arena_strn(words->arena, resource.p, resource.len);
    struct said *said = NULL;
    for (size_t i = 0; i < words->count; i++) {
        if (strcmp(words->said[i].resource, name) == 0) {
            said = &words->said[i];
        }
    }
    if (said == NULL && words->count == QUOTA_RESOURCES_MAX) {
        return fail(e, ERR_USAGE, "a quota has at most %d resources", QUOTA_RESOURCES_MAX);
    }
    if (said == NULL) {
        said = &words->said[words->count++];
        *said = (struct said){.resource = name};
    }
    if (said->terms[term] != NULL) {
        return fail(e, ERR_USAGE, "%s of '%s' is given twice", term_names[term], name);
    }
    said->terms[term] = value;
    return ERR_OK;
}

/* Checks an amount as the server would, so that the error quotes the words that were typed. */
static must_use enum err value_check(struct str resource, enum term term, struct str value,
                                     struct error *e)
{
    int64_t amount;
    const bool word = (term != TERM_WEIGHT && str_is(value, "unlimited")) ||
                      (term == TERM_GUARANTEED && str_is(value, "default"));
    if (word) {
        return ERR_OK;
    }
    const bool bytes = term != TERM_WEIGHT && str_is(resource, "memory");
    return bytes ? amount_bytes(value, &amount, e) : amount_milli(value, &amount, e);
}

/* Reads 'gpu=5 cpu=40', split at blanks and commas. A bare number means slots, where that is
 * allowed. */
static must_use enum err terms_read(struct quota_words *words, const char *text, enum term term,
                                    struct error *e)
{
    const char *at = text;
    while (*at != '\0') {
        size_t len = strcspn(at, " ,");
        struct str value;
        struct str item = {at, len};
        struct str resource = str_cut(item, '=', &value);
        at += len + (at[len] != '\0');
        if (item.len == 0) {
            continue;
        }
        if (value.p == NULL && term == TERM_WEIGHT) {
            value = item;
            resource = str_of("slots");
        }
        if (value.p == NULL || value.len == 0 || resource.len == 0) {
            return fail(e, ERR_USAGE, "'%.*s': a resource and an amount are wanted, like gpu=5",
                        (int)(item.len < 60 ? item.len : 60), item.p);
        }
        if (value_check(resource, term, value, e) != ERR_OK) {
            (void)fail_in(e, "'%.*s'", (int)(item.len < 60 ? item.len : 60), item.p);
            e->code = ERR_USAGE;
            return ERR_USAGE;
        }
        enum err r =
            term_set(words, resource, term, arena_strn(words->arena, value.p, value.len), e);
        if (r != ERR_OK) {
            return r;
        }
    }
    return ERR_OK;
}

static must_use enum err flags_read(const struct cli *cli, struct quota_words *words,
                                    struct error *e)
{
    static const struct {
        const char *flag;
        enum term term;
    } flags[] = {{"limit", TERM_LIMIT}, {"weight", TERM_WEIGHT}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        size_t cursor = 0;
        const char *text;
        while ((text = args_each(&cli->args, flags[i].flag, &cursor)) != NULL) {
            if (terms_read(words, text, flags[i].term, e) != ERR_OK) {
                return fail_in(e, "--%s", flags[i].flag);
            }
        }
    }
    return ERR_OK;
}

/* Takes the first word as the project, unless the flag --department names a department. */
static must_use enum err words_read(const struct cli *cli, struct quota_words *words,
                                    const char **ret_project, struct error *e)
{
    size_t first = 0;
    *ret_project = NULL;
    if (!args_has(&cli->args, "department")) {
        if (cli->args.word_count == 0 || strchr(cli->args.words[0], '=') != NULL) {
            return fail(e, ERR_USAGE, "whose quota? name a project, or use --department D");
        }
        *ret_project = cli->args.words[0];
        first = 1;
    }
    for (size_t i = first; i < cli->args.word_count; i++) {
        enum err r = terms_read(words, cli->args.words[i], TERM_GUARANTEED, e);
        if (r != ERR_OK) {
            return r;
        }
    }
    return flags_read(cli, words, e);
}

static void quota_json(const struct cli *cli, const struct quota_words *words, const char *project,
                       struct json_out *j, bool *ret_rules)
{
    const char *pool = args_text(&cli->args, "pool");
    json_out_object(j);
    json_out_kv_text(j, project != NULL ? "project" : "department",
                     project != NULL ? project : args_text(&cli->args, "department"));
    json_out_kv_text(j, "pool", pool != NULL ? pool : "default");
    json_out_key(j, "resources");
    json_out_object(j);
    for (size_t i = 0; i < words->count; i++) {
        json_out_key(j, words->said[i].resource);
        json_out_object(j);
        for (unsigned term = 0; term < TERM_COUNT; term++) {
            if (words->said[i].terms[term] != NULL) {
                json_out_kv_text(j, term_names[term], words->said[i].terms[term]);
            }
        }
        json_out_end(j);
    }
    json_out_end(j);
    *ret_rules = object_args_json(&cli->args, object_args_quota, GROUP_TOP, j);
    json_out_end(j);
}

int cmd_quota_set(struct cli *cli)
{
    struct error e;
    struct quota_words words = {.arena = &cli->arena};
    const char *project;
    if (words_read(cli, &words, &project, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    struct buf body;
    struct json_out j;
    struct api_reply reply;
    buf_init(&body, QUOTA_JSON_MAX);
    json_out_init(&j, &body);
    bool rules = false;
    quota_json(cli, &words, project, &j, &rules);
    if (words.count == 0 && !rules) {
        (void)fail(&e, ERR_USAGE, "nothing to set; like gpu=5, --limit gpu=20, --weight 2");
        buf_done(&body);
        return context_fail(cli, &e);
    }
    bool go;
    const struct cost_call call = {"PATCH", "/quotas", {.p = body.data, .len = body.len}, NULL};
    if (cost_is_dry(cli)) {
        int code = cost_dry_run(cli, &call);
        buf_done(&body);
        return code;
    }
    enum err r = cost_confirm(cli, &call, COST_OTHERWISE_GO, &go, &e);
    if (r == ERR_OK && go) {
        r = api_change(cli, &cli->arena, call.method, call.path, call.body, &reply, &e);
    }
    buf_done(&body);
    if (r != ERR_OK || !go) {
        return r != ERR_OK ? context_fail(cli, &e) : EXIT_FAILED;
    }
    cost_warn(reply.doc);
    if (!show_json(cli, &reply) && cli->err_tty) {
        context_say("quota of %s in pool %s set; `weir quota list` shows it",
                    item_text(reply.doc, "account"), item_text(reply.doc, "pool"));
    }
    return EXIT_OK;
}
