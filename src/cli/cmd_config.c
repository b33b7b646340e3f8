/* cmd_config.c - `weir config diff` and `weir config apply`: a server file against the objects of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/preview_text.h"
#include "cli/show.h"
#include "cli/text.h"

#include <string.h>

enum { DIFF_MAX = 16 << 20, LEAF_DEPTH_MAX = 8 };

/* ---- fields that differ ---- */

struct config_leaf {
    const char *path; /* "scheduler.policy" */
    const char *text;
};

struct config_leaves {
    VEC(struct config_leaf) at;
};

static const char *leaf_text(struct cli *cli, const struct doc *doc)
{
    struct buf out;
    buf_init(&out, DIFF_MAX);
    item_json(&out, doc);
    const char *text = arena_str(&cli->arena, buf_text(&out));
    buf_done(&out);
    return text;
}

/* The values of all maps below the object. A list is one value. */
static void leaves_find(struct cli *cli, const struct doc *object, struct config_leaves *ret)
{
    const struct doc *at[LEAF_DEPTH_MAX];
    const char *paths[LEAF_DEPTH_MAX] = {""};
    size_t depth = 1;
    at[0] = object != NULL && object->kind == DOC_MAP ? object->first : NULL;
    while (depth > 0) {
        const struct doc *doc = at[depth - 1];
        if (doc == NULL) {
            depth--;
            continue;
        }
        at[depth - 1] = doc->next;
        const char *above = paths[depth - 1];
        const char *path = arena_fmt(&cli->arena, "%s%s%.*s", above, above[0] == '\0' ? "" : ".",
                                     (int)doc->key.len, doc->key.p);
        if (doc->kind == DOC_MAP && depth < LEAF_DEPTH_MAX) {
            at[depth] = doc->first;
            paths[depth] = path;
            depth++;
        } else {
            vec_push(&ret->at, ((struct config_leaf){path, leaf_text(cli, doc)}));
        }
    }
}

static const char *leaf_find(const struct config_leaves *leaves, const char *path)
{
    for (size_t i = 0; i < leaves->at.count; i++) {
        if (strcmp(leaves->at.at[i].path, path) == 0) {
            return leaves->at.at[i].text;
        }
    }
    return "default";
}

static void field_add(struct buf *out, const char *path, const char *before, const char *after)
{
    if (strcmp(before, after) != 0) {
        buf_addf(out, "    %s: %s -> %s\n", path, before, after);
    }
}

/* A value that an object does not have is the default. */
static void fields_add(struct cli *cli, struct buf *out, const struct doc *change)
{
    struct config_leaves before = {0};
    struct config_leaves after = {0};
    leaves_find(cli, item_at(change, "before"), &before);
    leaves_find(cli, item_at(change, "after"), &after);
    for (size_t i = 0; i < after.at.count; i++) {
        const char *path = after.at.at[i].path;
        field_add(out, path, leaf_find(&before, path), after.at.at[i].text);
    }
    for (size_t i = 0; i < before.at.count; i++) {
        const char *path = before.at.at[i].path;
        if (strcmp(leaf_find(&after, path), "default") == 0) {
            field_add(out, path, before.at.at[i].text, "default");
        }
    }
    vec_done(&before.at);
    vec_done(&after.at);
}

/* ---- what would change ---- */

static void name_add(struct buf *out, const struct doc *object)
{
    const char *pool = item_text(object, "pool");
    buf_addf(out, "%s%s%s", item_text(object, "kind"),
             item_text(object, "name")[0] == '\0' ? "" : " ", item_text(object, "name"));
    if (pool[0] != '\0') {
        buf_addf(out, " in pool %s", pool);
    }
    const int64_t tasks = item_number(object, "tasks", 0);
    if (tasks > 0) {
        buf_addf(out, " (%lld task%s)", (long long)tasks, tasks == 1 ? "" : "s");
    }
}

static void change_add(struct cli *cli, struct buf *out, const struct doc *change)
{
    const char *deed = item_text(change, "do");
    const char *refusal = item_text(change, "refusal");
    buf_addf(out, "%c ",
             refusal[0] != '\0'            ? '!'
             : strcmp(deed, "create") == 0 ? '+'
             : strcmp(deed, "delete") == 0 ? '-'
                                           : '~');
    name_add(out, change);
    buf_add_char(out, '\n');
    if (refusal[0] != '\0') {
        buf_addf(out, "    refused: %s %s\n", item_text(change, "name"), refusal);
    } else if (strcmp(deed, "change") == 0) {
        fields_add(cli, out, change);
    }
}

static void diff_print(struct cli *cli, const struct doc *answer)
{
    struct buf out;
    buf_init(&out, DIFF_MAX);
    const struct doc *changes = item_at(answer, "changes");
    for (const struct doc *d = changes != NULL ? changes->first : NULL; d != NULL; d = d->next) {
        change_add(cli, &out, d);
    }
    context_out_inert((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
}

/* Which tasks stop and start, and what the file does not name. */
static void effects_say(const struct doc *answer)
{
    const struct doc *effects = item_at(answer, "effects");
    struct buf out;
    buf_init(&out, DIFF_MAX);
    if (effects != NULL && effects->kind == DOC_MAP) {
        preview_text(&out, effects, PREVIEW_THIS, text_now_ms());
        cost_lines_say(&out);
    }
    buf_clear(&out);
    const struct doc *extras = item_at(answer, "extras");
    for (const struct doc *d = extras != NULL ? extras->first : NULL; d != NULL; d = d->next) {
        buf_add_str(&out, out.len == 0 ? "" : ", ");
        name_add(&out, d);
    }
    if (out.len > 0) {
        context_say("not in the file, stays: %s; --prune deletes what the file does not name",
                    buf_text(&out));
    }
    buf_done(&out);
}

static size_t deletions(const struct doc *answer)
{
    size_t count = 0;
    const struct doc *changes = item_at(answer, "changes");
    for (const struct doc *d = changes != NULL ? changes->first : NULL; d != NULL; d = d->next) {
        count += strcmp(item_text(d, "do"), "delete") == 0 ? 1 : 0;
    }
    return count;
}

/* Sends the file. */
static enum err config_send(struct cli *cli, struct str text, bool dry, struct api_reply *ret,
                            struct error *e)
{
    const bool prune = args_has(&cli->args, "prune");
    const char *path = arena_fmt(&cli->arena, "/config?dry_run=%s&prune=%s", dry ? "true" : "false",
                                 prune ? "true" : "false");
    return api_change(cli, &cli->arena, "POST", path, text, ret, e);
}

static size_t change_count(const struct doc *answer)
{
    size_t count = 0;
    const struct doc *changes = item_at(answer, "changes");
    for (const struct doc *d = changes != NULL ? changes->first : NULL; d != NULL; d = d->next) {
        count++;
    }
    return count;
}

/* Reads the file and asks the server what it would change. Another result than EXIT_OK: what is wrong has been
 * said. */
static int config_ask(struct cli *cli, struct buf *text, struct api_reply *ret)
{
    struct error e;
    const int code = cmd_data_config_load(cli, cli->args.words[0], text);
    if (code != EXIT_OK) {
        return code;
    }
    const struct str all = {.p = buf_text(text), .len = text->len};
    return config_send(cli, all, true, ret, &e) == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}

static int diff_show(struct cli *cli, const struct api_reply *reply)
{
    const size_t count = change_count(reply->doc);
    if (!show_json(cli, reply)) {
        diff_print(cli, reply->doc);
        effects_say(reply->doc);
        if (count == 0) {
            context_say("nothing would change: the server is as the file says");
        }
    }
    return item_number(reply->doc, "refused", 0) > 0 ? EXIT_CONFLICT
           : count > 0                               ? EXIT_WOULD_CHANGE
                                                     : EXIT_OK;
}

int cmd_config_diff(struct cli *cli)
{
    struct buf text;
    struct api_reply reply;
    buf_init(&text, DIFF_MAX);
    int code = config_ask(cli, &text, &reply);
    if (code == EXIT_OK) {
        code = diff_show(cli, &reply);
    }
    buf_done(&text);
    return code;
}

/* True: make the changes. False: *ret_code is the exit status. */
static bool apply_agreed(struct cli *cli, const struct doc *answer, int *ret_code)
{
    struct error e;
    bool go = true;
    const size_t count = change_count(answer);
    const bool costs = deletions(answer) > 0 || item_number(answer, "effects.stops_total", 0) > 0;
    const bool json = args_has(&cli->args, "json");
    if (!json) {
        diff_print(cli, answer);
        effects_say(answer);
    }
    *ret_code = EXIT_OK;
    if (item_number(answer, "refused", 0) > 0) {
        context_say("nothing was changed: the server refuses the changes marked with !");
        *ret_code = EXIT_CONFLICT;
        return false;
    }
    if (count == 0) {
        context_say("nothing to change: the server is as the file says");
        return false;
    }
    /* Two objects: without a terminal --yes is needed. */
    if (costs && !args_has(&cli->args, "yes") && context_confirm(cli, 2, &go, &e) != ERR_OK) {
        *ret_code = context_fail(cli, &e);
        return false;
    }
    return go;
}

static int config_apply(struct cli *cli, struct str text)
{
    struct error e;
    struct api_reply reply;
    if (config_send(cli, text, false, &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    const size_t count = change_count(reply.doc);
    if (!show_json(cli, &reply)) {
        context_say("%zu change%s made", count, count == 1 ? "" : "s");
    }
    return EXIT_OK;
}

int cmd_config_apply(struct cli *cli)
{
    struct buf text;
    struct api_reply reply;
    buf_init(&text, DIFF_MAX);
    int code = config_ask(cli, &text, &reply);
    if (code == EXIT_OK && cost_is_dry(cli)) {
        code = diff_show(cli, &reply);
    } else if (code == EXIT_OK && apply_agreed(cli, reply.doc, &code)) {
        code = config_apply(cli, (struct str){.p = buf_text(&text), .len = text.len});
    }
    buf_done(&text);
    return code;
}
