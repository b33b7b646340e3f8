/* task_args.c - see task_args.h. Amounts are checked here with the same functions as the server's, so
 * that a typing error costs no round trip and never depends on one; they are sent as they were
 * typed. SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_args.h"

#include "base/amount.h"
#include "base/json_out.h"
#include "base/utf8.h"
#include "cli/item.h"
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

/* A flag that becomes a text of the same meaning. */
static void text_field(struct draft *draft, const char *flag, const char *name)
{
    const char *text = args_text(&draft->cli->args, flag);
    if (text != NULL) {
        field_add(draft, name, json_of(draft, str_of(text)));
    }
}

static void number_field(struct draft *draft, const char *flag, const char *name)
{
    if (args_has(&draft->cli->args, flag)) {
        field_add(draft, name,
                  arena_fmt(&draft->cli->arena, "%llu",
                            (unsigned long long)args_number(&draft->cli->args, flag, 0)));
    }
}

static void switch_field(struct draft *draft, const char *flag, const char *name, const char *value)
{
    if (args_has(&draft->cli->args, flag)) {
        field_add(draft, name, value);
    }
}

/* Every value of a flag that may be given again, each a comma-separated list, as a JSON array. */
static void list_field(struct draft *draft, const char *flag, const char *name, bool numbers)
{
    if (!args_has(&draft->cli->args, flag)) {
        return;
    }
    struct buf json;
    buf_init(&json, JSON_MAX);
    struct json_out j;
    json_out_init(&j, &json);
    json_out_array(&j);
    size_t cursor = 0;
    const char *value;
    while ((value = args_each(&draft->cli->args, flag, &cursor)) != NULL) {
        struct str rest = value[0] != '\0' ? str_of(value) : (struct str){0}; /* '': none */
        while (rest.p != NULL) {
            struct str one = str_trim(str_cut(rest, ',', &rest));
            bool number = numbers && memchr(one.p, ':', one.len) == NULL;
            number ? json_out_raw(&j, one) : json_out_str(&j, one);
        }
    }
    json_out_end(&j);
    field_add(draft, name, arena_strn(&draft->cli->arena, buf_text(&json), json.len));
    buf_done(&json);
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
            (void)fail(draft->e, ERR_USAGE, "'%.*s' is asked for twice", (int)name.len, name.p);
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

/* --slots, --gpus, --gpu-devices, --cpu: one amount each. */
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

/* --resources 'foo=5 memory=2Gi'. */
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

/* Writes what one value of a flag says. */
typedef enum err (*pair_fn)(struct draft *draft, const char *text, struct json_out *j);

/* A flag that is given once for each entry of a map. */
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

/* --node-label gpu.model=A100 --node-label zone=a. */
static enum err label_pair(struct draft *draft, const char *text, struct json_out *j)
{
    struct label label;
    enum err r = resources_text_label(str_of(text), &draft->cli->arena, &label, draft->e);
    if (r == ERR_OK) {
        json_out_kv_text(j, label.key, label.value);
    }
    return r;
}

/* --env NAME=VALUE; --env NAME hands on the caller's: what the caller does not have stays unset. */
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

static enum err topology_flag(struct draft *draft)
{
    const char *text = args_text(&draft->cli->args, "topology");
    if (text == NULL) {
        return ERR_OK;
    }
    enum err r = topology_arg_json(text, &draft->cli->arena, &text, draft->e);
    if (r == ERR_OK) {
        field_add(draft, "topology", text);
    }
    return r;
}

/* What an edit may change of where a task runs; "none" is no label and no level any more. */
static enum err nodes_edit(struct draft *draft)
{
    const struct args *args = &draft->cli->args;
    size_t cursor = 0;
    const char *topology = args_text(args, "topology");
    const char *label = args_each(args, "node-label", &cursor);
    enum err r = ERR_OK;
    if (label != NULL && strcmp(label, "none") == 0 &&
        args_each(args, "node-label", &cursor) == NULL) {
        field_add(draft, "node_labels", "{}");
    } else {
        r = map_flag(draft, "node-label", "node_labels", label_pair);
    }
    if (topology != NULL && strcmp(topology, "none") == 0) {
        field_add(draft, "topology", "{}");
        return r;
    }
    return r == ERR_OK ? topology_flag(draft) : r;
}

enum err task_args_asks(struct cli *cli, struct task_args *ret, struct error *e)
{
    struct draft draft = {.cli = cli, .out = ret, .e = e};
    uint64_t mask;
    const char *devices = args_text(&cli->args, "devices");
    *ret = (struct task_args){0};
    if (devices != NULL && resources_text_devices(str_of(devices), &mask, e) != ERR_OK) {
        return usage(&draft, "devices");
    }
    list_field(&draft, "devices", "devices", true);
    list_field(&draft, "avoid", "avoid", false);
    enum err r = nodes_edit(&draft);
    return r == ERR_OK ? resources_read(&draft) : r;
}

/* Flags whose text has a form of its own. */
static enum err forms_check(struct draft *draft)
{
    uint64_t mask;
    uint32_t first;
    uint32_t count;
    uint64_t number;
    const struct args *args = &draft->cli->args;
    const char *devices = args_text(args, "devices");
    if (devices != NULL && resources_text_devices(str_of(devices), &mask, draft->e) != ERR_OK) {
        return usage(draft, "devices");
    }
    const char *array = args_text(args, "array");
    if (array != NULL && resources_text_array(str_of(array), &first, &count, draft->e) != ERR_OK) {
        return usage(draft, "array");
    }
    size_t cursor = 0;
    const char *after;
    while ((after = args_each(args, "after", &cursor)) != NULL) {
        struct str rest = str_of(after);
        while (rest.p != NULL) {
            struct str one = str_trim(str_cut(rest, ',', &rest));
            struct str how;
            struct str id = str_cut(one, ':', &how);
            bool known = how.p == NULL || str_is(how, "any") || str_is(how, "success");
            if (!known || !str_to_u64(id, &number) || number == 0) {
                return fail(draft->e, ERR_USAGE,
                            "--after is '%.60s'; task ids, like 12,13 or 12:any, would do", after);
            }
        }
    }
    if (args_has(args, "preemptible") && args_has(args, "no-preempt")) {
        return fail(draft->e, ERR_USAGE, "--preemptible and --no-preempt exclude each other");
    }
    return topology_flag(draft);
}

static void fields_read(struct draft *draft)
{
    text_field(draft, "name", "name");
    text_field(draft, "kind", "kind");
    text_field(draft, "image", "image");
    text_field(draft, "project", "project");
    text_field(draft, "workdir", "workdir");
    text_field(draft, "array", "array");
    text_field(draft, "time", "time_limit");
    text_field(draft, "grace", "grace");
    text_field(draft, "stale-grace", "stale_grace");
    text_field(draft, "preemption-delay", "preemption_delay");
    list_field(draft, "pool", "pools", false);
    list_field(draft, "tag", "tags", false);
    list_field(draft, "devices", "devices", true);
    list_field(draft, "avoid", "avoid", false);
    list_field(draft, "after", "depends_on", true);
    number_field(draft, "instances", "instances");
    number_field(draft, "min-instances", "min_instances");
    number_field(draft, "priority", "priority");
    number_field(draft, "retries", "max_retries");
    switch_field(draft, "gang", "gang", "true");
    switch_field(draft, "preemptible", "preemptible", "true");
    switch_field(draft, "no-preempt", "preemptible", "false");
    switch_field(draft, "no-repeat", "repeatable", "false");
    switch_field(draft, "stage", "stage", "true");
}

/* A task is JSON, and JSON is Unicode: other bytes would arrive as something else, so they are
 * refused here, where the place is known. */
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
    r = r != ERR_OK ? r : forms_check(&draft);
    r = r != ERR_OK ? r : resources_read(&draft);
    r = r != ERR_OK ? r : map_flag(&draft, "env", "env", env_pair);
    r = r != ERR_OK ? r : map_flag(&draft, "node-label", "node_labels", label_pair);
    if (r != ERR_OK) {
        return r;
    }
    fields_read(&draft);
    command_read(&draft);
    return ERR_OK;
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
