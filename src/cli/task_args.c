/* task_args.c - see task_args.h. Values are checked with the readers that the server uses, so
 * that a typing error needs no call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/upload.h"
#include "cli/task_args.h"

#include "base/amount.h"
#include "base/doc_make.h"
#include "base/utf8.h"
#include "cli/cells.h"
#include "cli/item.h"
#include "cli/object_args.h"
#include "spec/resources_text.h"
#include "spec/task_file.h"
#include "core/model/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct draft {
    struct cli *cli;
    struct task_args *out;
    struct error *e;
};

static enum err usage(struct draft *draft, const char *flag)
{
    (void)fail_in(draft->e, "--%s", flag);
    draft->e->code = ERR_USAGE;
    return ERR_USAGE;
}

/* ---- resources ---- */

static enum err resource_add(struct draft *draft, const char *flag, struct str name,
                             struct str value)
{
    struct arena *arena = &draft->cli->arena;
    const char *key = arena_strn(arena, name.p, name.len);
    const bool bytes = str_is(name, "memory") || str_is(name, "gpu_memory");
    char text[AMOUNT_TEXT_MAX];
    int64_t amount;
    if (doc_get(draft->out->resources, key) != NULL) {
        (void)fail(draft->e, ERR_USAGE, "'%s' is given twice", key);
        return usage(draft, flag);
    }
    if ((bytes ? amount_bytes : amount_milli)(value, &amount, draft->e) != ERR_OK) {
        return usage(draft, flag);
    }
    amount_milli_text(amount, text);
    doc_make_add(draft->out->resources, key,
                 doc_make_scalar(arena, DOC_NUMBER,
                                 str_of(bytes ? arena_fmt(arena, "%" PRId64, amount) : text)));
    return ERR_OK;
}

/* Reads --resources 'foo=5 memory=2Gi'. */
static enum err named_read(struct draft *draft)
{
    size_t cursor = 0;
    const char *text;
    while ((text = args_each(&draft->cli->args, "resources", &cursor)) != NULL) {
        struct resources_text parsed;
        struct str rest = str_of(text);
        struct str item;
        if (resources_text_parse(rest, TASK_RESOURCES_MAX, &draft->cli->arena, &parsed, draft->e) !=
            ERR_OK) {
            return usage(draft, "resources");
        }
        while (resources_text_cut(&rest, &item)) {
            struct str value;
            struct str name = str_cut(item, '=', &value);
            if (resource_add(draft, "resources", name, value) != ERR_OK) {
                return ERR_USAGE;
            }
        }
    }
    return ERR_OK;
}

static enum err resources_read(struct draft *draft)
{
    static const struct {
        const char *flag;
        const char *resource;
    } amounts[] = {{"slots", "slots"},
                   {"gpus", "gpu"},
                   {"gpu-memory", "gpu_memory"},
                   {"gpu-devices", "gpu_devices"},
                   {"cpu", "cpu"},
                   {"memory", "memory"}};
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        const char *text = args_text(&draft->cli->args, amounts[i].flag);
        if (text != NULL && resource_add(draft, amounts[i].flag, str_of(amounts[i].resource),
                                         str_of(text)) != ERR_OK) {
            return ERR_USAGE;
        }
    }
    return named_read(draft);
}

/* ---- fields with a form of their own ---- */

/* Adds one key=value to a map. */
typedef enum err (*pair_fn)(struct draft *draft, struct str text, struct doc *map);

static void pair_add(struct draft *draft, struct doc *map, struct str key, struct str value)
{
    struct arena *arena = &draft->cli->arena;
    doc_make_add(map, arena_strn(arena, key.p, key.len), doc_make_scalar(arena, DOC_STRING, value));
}

/* Reads --node-label gpu.model=A100. */
static enum err label_pair(struct draft *draft, struct str text, struct doc *map)
{
    struct label label;
    enum err r = resources_text_label(text, &draft->cli->arena, &label, draft->e);
    if (r == ERR_OK) {
        pair_add(draft, map, str_of(label.key), str_of(label.value));
    }
    return r;
}

/* Reads --env NAME=VALUE, or --env NAME, which copies the caller's variable. A variable that the
 * caller does not have stays unset. */
static enum err env_pair(struct draft *draft, struct str text, struct doc *map)
{
    struct str value;
    struct str name = str_cut(text, '=', &value);
    enum err r = resources_text_env_name(name, draft->e);
    value = value.p == NULL ? str_of(getenv(text.p)) : value;
    if (r == ERR_OK && value.p != NULL) {
        pair_add(draft, map, name, value);
    }
    return r;
}

/* Reads --topology required=zone,preferred=rack. */
static enum err levels_pair(struct draft *draft, struct str text, struct doc *map)
{
    struct str rest = text;
    while (rest.p != NULL) {
        struct str level;
        struct str key = str_trim(str_cut(str_cut(rest, ',', &rest), '=', &level));
        if (level.p == NULL || level.len == 0) {
            return fail(draft->e, ERR_USAGE,
                        "levels of the pool's topology are wanted, like required=zone or "
                        "required=zone,preferred=rack, not '%.60s'",
                        text.p);
        }
        pair_add(draft, map, key, str_trim(level));
    }
    return ERR_OK;
}

/* Reads --fallback after=5m,on=no-capacity,on=lost. */
static enum err conditions_pair(struct draft *draft, struct str text, struct doc *map)
{
    struct arena *arena = &draft->cli->arena;
    struct doc *on = doc_make(arena, DOC_LIST, NULL);
    struct str rest = text;
    while (rest.p != NULL) {
        struct str value;
        struct str key = str_trim(str_cut(str_cut(rest, ',', &rest), '=', &value));
        if (value.p == NULL || value.len == 0) {
            return fail(draft->e, ERR_USAGE,
                        "conditions are wanted, like after=5m or after=5m,on=no-capacity,on=lost, "
                        "not '%.60s'",
                        text.p);
        }
        value = str_trim(value);
        if (str_is(key, "on")) {
            doc_make_add(on, NULL, doc_make_scalar(arena, DOC_STRING, value));
        } else {
            pair_add(draft, map, key, value);
        }
    }
    if (on->count > 0) {
        doc_make_add(map, "on", on);
    }
    return ERR_OK;
}

/* Reads a flag that is given once for each entry of a map. The word "none" alone makes an empty
 * map. */
static enum err map_read(struct draft *draft, const char *flag, pair_fn pair, struct doc *map)
{
    const struct args *args = &draft->cli->args;
    size_t cursor = 0;
    const char *text = args_each(args, flag, &cursor);
    size_t next = cursor;
    if (strcmp(text, "none") == 0 && args_each(args, flag, &next) == NULL && pair != env_pair) {
        return ERR_OK;
    }
    enum err r = ERR_OK;
    for (; r == ERR_OK && text != NULL; text = args_each(args, flag, &cursor)) {
        r = pair(draft, str_of(text), map);
    }
    return r;
}

static pair_fn pair_of(const char *field)
{
    return strcmp(field, "node_labels") == 0 ? label_pair
           : strcmp(field, "env") == 0       ? env_pair
           : strcmp(field, "topology") == 0  ? levels_pair
           : strcmp(field, "fallback") == 0  ? conditions_pair
                                             : NULL;
}

/* True for a value with a form of its own, which the field's reader checks here. Other values are
 * checked by the server alone. */
static bool is_checked(const char *field, const struct doc *value)
{
    const struct object_field *row = object_find(&task_object, field);
    const bool text = value->kind == DOC_STRING || value->kind == DOC_LIST;
    return value->kind == DOC_MAP
               ? value->count > 0
               : text && (row->record.type == RECORD_MS || row->record.type == RECORD_OWN ||
                          row->record.type == RECORD_PART || strcmp(field, "array") == 0);
}

/* Adds the field of one flag that was given. */
static enum err flag_read(struct draft *draft, const struct object_flag *flag)
{
    const struct args *args = &draft->cli->args;
    struct arena *arena = &draft->cli->arena;
    const pair_fn pair = pair_of(flag->field);
    const bool numbers =
        strcmp(flag->field, "depends_on") == 0 || strcmp(flag->field, "devices") == 0;
    enum err r = ERR_OK;
    struct doc *value;
    if (pair != NULL) {
        value = doc_make(arena, DOC_MAP, NULL);
        r = map_read(draft, flag->flag, pair, value);
    } else {
        value = numbers ? object_args_list(args, flag->flag, DOC_NUMBER, arena)
                        : object_args_value(args, flag, arena);
    }
    doc_make_add(draft->out->fields, flag->field, value);
    if (r == ERR_OK && is_checked(flag->field, value)) {
        r = task_file_field_check(value, arena, draft->e);
    }
    return r == ERR_OK ? r : usage(draft, flag->flag);
}

static enum err flags_read(struct draft *draft)
{
    enum err r = ERR_OK;
    const struct args *args = &draft->cli->args;
    if (object_args_given(args, "preemptible") && object_args_given(args, "no-preempt")) {
        return fail(draft->e, ERR_USAGE, "--preemptible and --no-preempt exclude each other");
    }
    for (const struct object_flag *flag = object_args_task; r == ERR_OK && flag->field != NULL;
         flag++) {
        r = object_args_given(args, flag->flag) ? flag_read(draft, flag) : ERR_OK;
    }
    return r == ERR_OK ? resources_read(draft) : r;
}

/* JSON can carry only valid UTF-8. Other bytes would be changed on the way, so they are refused
 * here, where the flag is known. */
static enum err unicode_check(struct draft *draft)
{
    const struct args *args = &draft->cli->args;
    for (size_t i = 0; i < args->flags.count; i++) {
        const struct arg_flag *given = &args->flags.at[i];
        if (given->value != NULL && !utf8_valid(given->value, strlen(given->value))) {
            return fail(draft->e, ERR_USAGE, "--%s: its value is not valid UTF-8",
                        given->flag->name);
        }
    }
    for (size_t i = 0; i < args->rest_count; i++) {
        if (!utf8_valid(args->rest[i], strlen(args->rest[i]))) {
            return fail(draft->e, ERR_USAGE, "word %zu of the command is not valid UTF-8", i + 1);
        }
    }
    return ERR_OK;
}

enum err task_args_read(struct cli *cli, struct task_args *ret, struct error *e)
{
    struct arena *arena = &cli->arena;
    *ret = (struct task_args){.fields = doc_make(arena, DOC_MAP, NULL),
                              .resources = doc_make(arena, DOC_MAP, NULL)};
    struct draft draft = {.cli = cli, .out = ret, .e = e};
    enum err r = unicode_check(&draft);
    r = r != ERR_OK ? r : flags_read(&draft);
    if (r == ERR_OK && cli->args.rest_count > 0) {
        struct doc *command = doc_make(arena, DOC_LIST, NULL);
        for (size_t i = 0; i < cli->args.rest_count; i++) {
            const struct str word = str_of(cli->args.rest[i]);
            doc_make_add(command, NULL, doc_make_scalar(arena, DOC_STRING, word));
        }
        doc_make_add(ret->fields, "command", command);
    }
    return r;
}

void task_args_workdir(struct cli *cli, struct task_args *args)
{
    char cwd[4096];
    bool own = !args_has(&cli->args, "workdir") && !args_has(&cli->args, "image") &&
               login_is_local(cli->login.url);
    if (own && getcwd(cwd, sizeof cwd) != NULL) {
        args->workdir = arena_str(&cli->arena, cwd);
    }
}

enum err task_args_upload(struct cli *cli, struct task_args *args, struct error *e)
{
    const char *dir = args_text(&cli->args, "upload");
    const char *digest = NULL;
    if (dir == NULL) {
        return ERR_OK;
    }
    args->workdir = NULL; /* the task runs in its own copy */
    const enum err r = upload_send(cli, dir, &digest, e);
    if (r == ERR_OK) {
        doc_make_add(args->fields, "upload",
                     doc_make_scalar(&cli->arena, DOC_STRING, str_of(digest)));
    }
    return r;
}

/* ---- the task as the API takes it ---- */

/* True for a field whose YAML scalars are texts, whatever they look like: `name: 12`. */
static bool field_is_text(const char *name)
{
    static const char *const texts[] = {"command", "entrypoint", "env", "pool", "pools", "array"};
    const struct object_field *row = object_find(&task_object, name);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(texts[i], name) == 0) {
            return true;
        }
    }
    return row != NULL && (row->record.type == RECORD_TEXT || row->record.type == RECORD_TEXTS ||
                           row->record.type == RECORD_WORD || row->record.type == RECORD_MS);
}

/* Writes the values of the file that no flag sets, then the values of the flags. */
static void merged_json(struct json_out *j, const struct doc *file, const struct doc *flags,
                        bool task)
{
    for (const struct doc *d = file == NULL ? NULL : file->first; d != NULL; d = d->next) {
        /* `pool` is the short spelling of a list of one */
        const char *name = task && str_is(d->key, "pool") ? "pools" : d->key.p;
        const bool later = task && str_is(d->key, "resources") && d->kind == DOC_MAP;
        if (!later && doc_get(flags, name) == NULL) {
            item_json_field(j, d, task && field_is_text(d->key.p));
        }
    }
    for (const struct doc *d = flags->first; d != NULL; d = d->next) {
        item_json_field(j, d, false);
    }
}

bool task_args_json(const struct task_args *args, const struct doc *file, struct buf *out)
{
    const struct doc *resources = doc_get(file, "resources");
    const bool own = resources != NULL && resources->kind == DOC_MAP;
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    merged_json(&j, file, args->fields, true);
    if (own || args->resources->count > 0) {
        json_out_key(&j, "resources");
        json_out_object(&j);
        merged_json(&j, own ? resources : NULL, args->resources, false);
        json_out_end(&j);
    }
    if (args->workdir != NULL && doc_get(file, "workdir") == NULL) {
        json_out_kv_text(&j, "workdir", args->workdir);
    }
    json_out_end(&j);
    return args->fields->count > 0 || args->resources->count > 0;
}

const char *task_args_path(const struct cli *cli)
{
    return args_has(&cli->args, "spread") ? "/tasks" : "/tasks?spread=refuse";
}

void task_args_spread_say(const struct cli *cli, const struct doc *tasks)
{
    if (!args_has(&cli->args, "spread") || tasks == NULL) {
        return;
    }
    for (const struct doc *d = tasks->first; d != NULL; d = d->next) {
        struct buf each;
        buf_init(&each, TABLE_CELL_MAX);
        cells_resources_text(&each, item_at(d, "resources"));
        if (item_number(d, "instances", 1) > 1) {
            context_say("weir: task %s runs as %s instances of %s each", item_text(d, "id"),
                        item_text(d, "instances"), buf_text(&each));
        }
        buf_done(&each);
    }
}
