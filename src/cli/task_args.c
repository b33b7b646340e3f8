/* task_args.c - see task_args.h. Amounts are checked with the functions that the server uses, so
 * that a typing error needs no call. Amounts are sent as they were typed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_args.h"

#include "base/amount.h"
#include "base/json_out.h"
#include "base/utf8.h"
#include "cli/item.h"
#include "cli/object_args.h"
#include "spec/resources_text.h"
#include "cli/topology_arg.h"
#include "core/model/limits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JSON_MAX = 1 << 20 };

struct draft {
    struct cli *cli;
    struct task_args *out;
    struct error *e;
};

static const char *json_of(struct draft *draft, struct str text)
{
    struct buf json;
    buf_init(&json, JSON_MAX);
    item_json_text(&json, text);
    const char *copy = arena_strn(&draft->cli->arena, buf_text(&json), json.len);
    buf_done(&json);
    return copy;
}

static void field_add(struct draft *draft, const char *name, const char *json)
{
    must(draft->out->field_count < TASK_FIELDS_MAX);
    draft->out->fields[draft->out->field_count++] = (struct task_field){name, json};
}

/* Writes the value of a flag. */
typedef void (*value_fn)(struct draft *draft, const struct object_flag *flag, struct json_out *j);

static void value_add(struct draft *draft, const struct object_flag *flag, value_fn write)
{
    struct buf json;
    struct json_out j;
    buf_init(&json, JSON_MAX);
    json_out_init(&j, &json);
    write(draft, flag, &j);
    field_add(draft, flag->field, arena_strn(&draft->cli->arena, buf_text(&json), json.len));
    buf_done(&json);
}

static void regular_value(struct draft *draft, const struct object_flag *flag, struct json_out *j)
{
    object_args_value(&draft->cli->args, flag, j);
}

/* Writes 12,13 or 12:any as a list. Plain numbers become JSON numbers. */
static void numbers_value(struct draft *draft, const struct object_flag *flag, struct json_out *j)
{
    size_t cursor = 0;
    const char *value;
    json_out_array(j);
    while ((value = args_each(&draft->cli->args, flag->flag, &cursor)) != NULL) {
        /* '': an empty list. */
        struct str rest = value[0] != '\0' ? str_of(value) : (struct str){0};
        while (rest.p != NULL) {
            struct str one = str_trim(str_cut(rest, ',', &rest));
            memchr(one.p, ':', one.len) == NULL ? json_out_raw(j, one) : json_out_str(j, one);
        }
    }
    json_out_end(j);
}

static enum err usage(struct draft *draft, const char *flag)
{
    (void)fail_in(draft->e, "--%s", flag);
    draft->e->code = ERR_USAGE;
    return ERR_USAGE;
}

static enum err resource_add(struct draft *draft, const char *flag, struct str name,
                             const char *json)
{
    for (size_t i = 0; i < draft->out->resource_count; i++) {
        if (str_is(name, draft->out->resources[i].name)) {
            (void)fail(draft->e, ERR_USAGE, "'%.*s' is given twice", (int)name.len, name.p);
            return usage(draft, flag);
        }
    }
    must(draft->out->resource_count < TASK_FIELDS_MAX);
    const char *copy = arena_strn(&draft->cli->arena, name.p, name.len);
    draft->out->resources[draft->out->resource_count++] = (struct task_field){copy, json};
    return ERR_OK;
}

static const char *milli_json(struct draft *draft, int64_t milli)
{
    struct buf json;
    buf_init(&json, JSON_MAX);
    struct json_out j;
    json_out_init(&j, &json);
    json_out_milli(&j, milli);
    const char *copy = arena_strn(&draft->cli->arena, buf_text(&json), json.len);
    buf_done(&json);
    return copy;
}

/* Reads --slots, --gpus, --gpu-devices or --cpu: one amount each. */
static enum err amount_flag(struct draft *draft, const char *flag, const char *name)
{
    const char *text = args_text(&draft->cli->args, flag);
    int64_t milli;
    if (text == NULL) {
        return ERR_OK;
    }
    if (amount_milli(str_of(text), &milli, draft->e) != ERR_OK) {
        return usage(draft, flag);
    }
    return resource_add(draft, flag, str_of(name), milli_json(draft, milli));
}

static enum err bytes_flag(struct draft *draft, const char *flag, const char *name)
{
    const char *text = args_text(&draft->cli->args, flag);
    int64_t bytes;
    if (text == NULL) {
        return ERR_OK;
    }
    if (amount_bytes(str_of(text), &bytes, draft->e) != ERR_OK) {
        return usage(draft, flag);
    }
    return resource_add(draft, flag, str_of(name),
                        arena_fmt(&draft->cli->arena, "%lld", (long long)bytes));
}

/* Reads --resources 'foo=5 memory=2Gi'. */
static enum err named_flag(struct draft *draft)
{
    size_t cursor = 0;
    const char *text;
    struct arena *arena = &draft->cli->arena;
    while ((text = args_each(&draft->cli->args, "resources", &cursor)) != NULL) {
        struct resources_text parsed;
        if (resources_text_parse(str_of(text), TASK_RESOURCES_MAX, arena, &parsed, draft->e) !=
            ERR_OK) {
            return usage(draft, "resources");
        }
        const struct {
            const char *name;
            int64_t amount;
            bool bytes;
        } known[] = {{"slots", parsed.slots_milli, false},
                     {"gpu", parsed.gpu_milli, false},
                     {"cpu", parsed.cpu_milli, false},
                     {"memory", parsed.memory_bytes, true},
                     {"gpu_memory", parsed.gpu_memory_bytes, true}};
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            const char *json = known[i].bytes ? arena_fmt(arena, "%lld", (long long)known[i].amount)
                                              : milli_json(draft, known[i].amount);
            if (known[i].amount != ASK_NOTHING &&
                resource_add(draft, "resources", str_of(known[i].name), json) != ERR_OK) {
                return ERR_USAGE;
            }
        }
        for (uint32_t i = 0; i < parsed.named_count; i++) {
            if (draft->out->resource_count >= TASK_RESOURCES_MAX + 6) {
                return fail(draft->e, ERR_USAGE, "--resources: more than %d names",
                            TASK_RESOURCES_MAX);
            }
            if (resource_add(draft, "resources", str_of(parsed.named[i].name),
                             milli_json(draft, parsed.named[i].milli)) != ERR_OK) {
                return ERR_USAGE;
            }
        }
    }
    return ERR_OK;
}

static enum err resources_read(struct draft *draft)
{
    enum err r = amount_flag(draft, "slots", "slots");
    r = r != ERR_OK ? r : amount_flag(draft, "gpus", "gpu");
    r = r != ERR_OK ? r : bytes_flag(draft, "gpu-memory", "gpu_memory");
    r = r != ERR_OK ? r : amount_flag(draft, "gpu-devices", "gpu_devices");
    r = r != ERR_OK ? r : amount_flag(draft, "cpu", "cpu");
    r = r != ERR_OK ? r : bytes_flag(draft, "memory", "memory");
    return r != ERR_OK ? r : named_flag(draft);
}

/* Writes one value of a flag as an entry of a map. */
typedef enum err (*pair_fn)(struct draft *draft, const char *text, struct json_out *j);

/* Reads a flag that is given once for each entry of a map. */
static enum err map_flag(struct draft *draft, const char *flag, const char *field, pair_fn pair)
{
    if (!args_has(&draft->cli->args, flag)) {
        return ERR_OK;
    }
    struct buf json;
    buf_init(&json, JSON_MAX);
    struct json_out j;
    json_out_init(&j, &json);
    json_out_object(&j);
    size_t cursor = 0;
    const char *text;
    enum err r = ERR_OK;
    while (r == ERR_OK && (text = args_each(&draft->cli->args, flag, &cursor)) != NULL) {
        r = pair(draft, text, &j);
    }
    json_out_end(&j);
    field_add(draft, field, arena_strn(&draft->cli->arena, buf_text(&json), json.len));
    buf_done(&json);
    return r == ERR_OK ? r : usage(draft, flag);
}

/* Reads --node-label gpu.model=A100. */
static enum err label_pair(struct draft *draft, const char *text, struct json_out *j)
{
    struct label label;
    enum err r = resources_text_label(str_of(text), &draft->cli->arena, &label, draft->e);
    if (r == ERR_OK) {
        json_out_kv_text(j, label.key, label.value);
    }
    return r;
}

/* Reads --env NAME=VALUE, or --env NAME, which copies the caller's variable. A variable that the
 * caller does not have stays unset. */
static enum err env_pair(struct draft *draft, const char *text, struct json_out *j)
{
    struct str value;
    struct str name = str_cut(str_of(text), '=', &value);
    const bool own = value.p == NULL;
    enum err r =
        own ? resources_text_env_name(name, draft->e) : resources_text_env(str_of(text), draft->e);
    const char *found = own ? getenv(text) : NULL;
    value = found != NULL ? str_of(found) : value;
    if (r == ERR_OK && value.p != NULL) {
        json_out_key(j, arena_strn(&draft->cli->arena, name.p, name.len));
        json_out_str(j, value);
    }
    return r;
}

/* The word "none" removes all labels, or all levels. */
static bool says_none(const struct args *args, const char *flag)
{
    size_t cursor = 0;
    const char *value = args_each(args, flag, &cursor);
    return value != NULL && strcmp(value, "none") == 0 && args_each(args, flag, &cursor) == NULL;
}

static enum err topology_flag(struct draft *draft, const char *field)
{
    const char *text = args_text(&draft->cli->args, "topology");
    enum err r = topology_arg_json(text, &draft->cli->arena, &text, draft->e);
    if (r == ERR_OK) {
        field_add(draft, field, text);
    }
    return r;
}

/* Checks the flags that have a form of their own: --devices 0,1, --array 0-99, --after 12:any. */
static enum err form_check(struct draft *draft, const char *flag)
{
    uint64_t mask;
    uint32_t first;
    uint32_t count;
    uint64_t number;
    size_t cursor = 0;
    const char *text = args_text(&draft->cli->args, flag);
    if (strcmp(flag, "devices") == 0) {
        enum err r = resources_text_devices(str_of(text), &mask, draft->e);
        return r == ERR_OK ? r : usage(draft, flag);
    }
    if (strcmp(flag, "array") == 0) {
        enum err r = resources_text_array(str_of(text), &first, &count, draft->e);
        return r == ERR_OK ? r : usage(draft, flag);
    }
    while (strcmp(flag, "after") == 0 &&
           (text = args_each(&draft->cli->args, flag, &cursor)) != NULL) {
        struct str rest = str_of(text);
        while (rest.p != NULL) {
            struct str how;
            struct str id = str_cut(str_trim(str_cut(rest, ',', &rest)), ':', &how);
            bool known = how.p == NULL || str_is(how, "any") || str_is(how, "success");
            if (!known || !str_to_u64(id, &number) || number == 0) {
                return fail(draft->e, ERR_USAGE,
                            "--after takes task ids, like 12,13 or 12:any, not '%.60s'", text);
            }
        }
    }
    return ERR_OK;
}

/* A duration, or a word that the row of the field has for it: --stale-grace never. Other fields pass. */
static enum err duration_check(struct draft *draft, const struct object_flag *flag)
{
    const struct object_field *row = object_find(&task_object, flag->field);
    const bool duration = row != NULL && row->record.type == RECORD_MS;
    const char *text = duration ? args_text(&draft->cli->args, flag->flag) : NULL;
    struct str rest = str_of(duration ? row->words : NULL);
    int64_t ms;
    while (text != NULL && rest.p != NULL) {
        if (str_is(str_cut(rest, ' ', &rest), text)) {
            return ERR_OK;
        }
    }
    return text == NULL || amount_duration(str_of(text), &ms, draft->e) == ERR_OK
               ? ERR_OK
               : usage(draft, flag->flag);
}

/* Adds the field of one flag that was given. */
static enum err flag_read(struct draft *draft, const struct object_flag *flag)
{
    const bool labels = strcmp(flag->field, "node_labels") == 0;
    const bool topology = strcmp(flag->field, "topology") == 0;
    const bool numbers =
        strcmp(flag->field, "depends_on") == 0 || strcmp(flag->field, "devices") == 0;
    if ((labels || topology) && says_none(&draft->cli->args, flag->flag)) {
        field_add(draft, flag->field, "{}");
        return ERR_OK;
    }
    if (labels || strcmp(flag->field, "env") == 0) {
        return map_flag(draft, flag->flag, flag->field, labels ? label_pair : env_pair);
    }
    if (topology) {
        return topology_flag(draft, flag->field);
    }
    enum err r = form_check(draft, flag->flag);
    r = r == ERR_OK ? duration_check(draft, flag) : r;
    if (r == ERR_OK) {
        value_add(draft, flag, numbers ? numbers_value : regular_value);
    }
    return r;
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

static void command_read(struct draft *draft)
{
    const struct args *args = &draft->cli->args;
    if (args->rest_count == 0) {
        return;
    }
    struct buf json;
    buf_init(&json, 4 * JSON_MAX);
    struct json_out j;
    json_out_init(&j, &json);
    json_out_array(&j);
    for (size_t i = 0; i < args->rest_count; i++) {
        json_out_text(&j, args->rest[i]);
    }
    json_out_end(&j);
    field_add(draft, "command", arena_strn(&draft->cli->arena, buf_text(&json), json.len));
    buf_done(&json);
}

enum err task_args_read(struct cli *cli, struct task_args *ret, struct error *e)
{
    *ret = (struct task_args){0};
    struct draft draft = {.cli = cli, .out = ret, .e = e};
    enum err r = unicode_check(&draft);
    r = r != ERR_OK ? r : flags_read(&draft);
    if (r == ERR_OK) {
        command_read(&draft);
    }
    return r;
}

void task_args_workdir(struct cli *cli, struct task_args *args)
{
    struct draft draft = {.cli = cli};
    char cwd[4096];
    bool own = !args_has(&cli->args, "workdir") && login_is_local(cli->login.url);
    if (own && getcwd(cwd, sizeof cwd) != NULL) {
        args->workdir = json_of(&draft, str_of(cwd));
    }
}
