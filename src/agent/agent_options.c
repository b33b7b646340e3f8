/* agent_options.c - the command lines of both roles, and the agent's configuration file. One table
 * serves command line and file: `--join-token-file X` is `join_token_file: X`.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent_options.h"

#include "agent/dirs.h"
#include "base/suggest.h"
#include "base/amount.h"
#include "base/doc.h"
#include "base/str.h"
#include "spec/problem.h"

#include <stddef.h>
#include <unistd.h>

enum { DESCRIPTOR_MAX = 1 << 20, SLOTS_LIMIT = 100000, TASK_PIDS_LIMIT = 1 << 22 };

enum agent_option_kind {
    KIND_TEXT,
    KIND_NUMBER,
    KIND_DURATION,
    KIND_SIZE,
    KIND_FD,
    KIND_FLAG,
    KIND_LABEL
};

struct option_row {
    const char *name;
    enum agent_option_kind kind;
    size_t offset;
    int64_t max;
};

#define ROW(name_, kind_, type_, field_, max_)                                                     \
    {                                                                                              \
        name_, kind_, offsetof(type_, field_), max_                                                \
    }

static const struct option_row agent_rows[] = {
    ROW("config", KIND_TEXT, struct agent_options, config, 0),
    ROW("server", KIND_TEXT, struct agent_options, server, 0),
    ROW("pool", KIND_TEXT, struct agent_options, pool, 0),
    ROW("join-token", KIND_TEXT, struct agent_options, join_token, 0),
    ROW("join-token-file", KIND_TEXT, struct agent_options, join_token_file, 0),
    ROW("ca", KIND_TEXT, struct agent_options, ca, 0),
    ROW("dir", KIND_TEXT, struct agent_options, dir, 0),
    ROW("name", KIND_TEXT, struct agent_options, name, 0),
    ROW("run-as", KIND_TEXT, struct agent_options, run_as, 0),
    ROW("task-uids", KIND_TEXT, struct agent_options, task_uids, 0),
    ROW("isolate-by", KIND_TEXT, struct agent_options, isolate_by, 0),
    ROW("task-pids", KIND_NUMBER, struct agent_options, task_pids, TASK_PIDS_LIMIT),
    ROW("task-disk", KIND_SIZE, struct agent_options, task_disk, 0),
    ROW("confine", KIND_TEXT, struct agent_options, confine, 0),
    ROW("cpu-binding", KIND_TEXT, struct agent_options, cpu_binding, 0),
    ROW("hide", KIND_TEXT, struct agent_options, hide, 0),
    ROW("resources", KIND_TEXT, struct agent_options, resources, 0),
    ROW("address", KIND_TEXT, struct agent_options, address, 0),
    ROW("label", KIND_LABEL, struct agent_options, labels, 0),
    ROW("slots", KIND_NUMBER, struct agent_options, slots, SLOTS_LIMIT),
    ROW("fake-gpus", KIND_NUMBER, struct agent_options, fake_gpus, NODE_DEVICES_MAX),
    ROW("health-check", KIND_TEXT, struct agent_options, health_check, 0),
    ROW("health-every", KIND_DURATION, struct agent_options, health_every_ms, 0),
    ROW("stop-after", KIND_DURATION, struct agent_options, stop_after_ms, 0),
    ROW("ready-fd", KIND_FD, struct agent_options, ready_fd, DESCRIPTOR_MAX),
    ROW("parent", KIND_NUMBER, struct agent_options, parent, INT32_MAX),
    ROW("runtime", KIND_TEXT, struct agent_options, runtime, 0),
    ROW("image-dirs", KIND_TEXT, struct agent_options, image_dirs, 0),
    ROW("allow-binds", KIND_TEXT, struct agent_options, allow_binds, 0),
    ROW("plain-registries", KIND_TEXT, struct agent_options, plain_registries, 0),
    ROW("keep-files", KIND_DURATION, struct agent_options, keep_files_ms, 0),
    ROW("image-cache", KIND_TEXT, struct agent_options, image_cache, 0),
    ROW("replace", KIND_FLAG, struct agent_options, replace, 0),
};

static const struct option_row supervisor_rows[] = {
    ROW("dir", KIND_TEXT, struct supervisor_options, dir, 0),
    ROW("run-as", KIND_TEXT, struct supervisor_options, run_as, 0),
    ROW("task-uids", KIND_TEXT, struct supervisor_options, task_uids, 0),
    ROW("task-pids", KIND_NUMBER, struct supervisor_options, task_pids, TASK_PIDS_LIMIT),
    ROW("task-disk", KIND_SIZE, struct supervisor_options, task_disk, 0),
    ROW("confine", KIND_TEXT, struct supervisor_options, confine, 0),
    ROW("cpu-binding", KIND_TEXT, struct supervisor_options, cpu_binding, 0),
    ROW("hide", KIND_TEXT, struct supervisor_options, hide, 0),
    ROW("ready-fd", KIND_FD, struct supervisor_options, ready_fd, DESCRIPTOR_MAX),
};

struct option_table {
    const struct option_row *rows;
    size_t count;
};

/* The table's row of a name. The file writes `_` where the command line has `-`. */
static const struct option_row *row_find(struct option_table table, struct str name)
{
    for (size_t i = 0; i < table.count; i++) {
        const char *row = table.rows[i].name;
        size_t j = 0;
        while (j < name.len && row[j] != '\0' &&
               (row[j] == name.p[j] || (row[j] == '-' && name.p[j] == '_'))) {
            j++;
        }
        if (j == name.len && row[j] == '\0') {
            return &table.rows[i];
        }
    }
    return NULL;
}

static must_use enum err number_set(const struct option_row *row, const char *value, void *options,
                                    struct error *e)
{
    char *field = (char *)options + row->offset;
    uint64_t number;
    if (!str_to_u64(str_of(value), &number) || number > (uint64_t)row->max) {
        return fail(e, ERR_USAGE, "a whole number from 0 to %lld is wanted, not '%s'",
                    (long long)row->max, value);
    }
    if (row->kind == KIND_FD) {
        *(int *)(void *)field = (int)number;
    } else {
        *(int64_t *)(void *)field = (int64_t)number;
    }
    return ERR_OK;
}

static must_use enum err label_add(struct agent_options *options, const char *value,
                                   struct error *e)
{
    if (strchr(value, '=') == NULL || value[0] == '=') {
        return fail(e, ERR_USAGE, "KEY=VALUE is wanted, not '%s'", value);
    }
    if (options->label_count == NODE_LABELS_MAX) {
        return fail(e, ERR_LIMIT, "a node has at most %d labels", NODE_LABELS_MAX);
    }
    options->labels[options->label_count++] = value;
    return ERR_OK;
}

/* Refuses a text that the option cannot mean. An agent tries for ever to reach its server, so an
 * address without http:// or https:// must be refused at the start. */
static must_use enum err text_check(const struct option_row *row, const char *value,
                                    struct error *e)
{
    if (strcmp(row->name, "server") == 0 && strncmp(value, "http://", 7) != 0 &&
        strncmp(value, "https://", 8) != 0) {
        return fail(e, ERR_USAGE, "an address like http://127.0.0.1:8080 is wanted, not '%.100s'",
                    value);
    }
    if (strcmp(row->name, "health-check") == 0 && value[0] != '/') {
        return fail(e, ERR_USAGE, "a whole path that begins with / is wanted, not '%.80s'", value);
    }
    return ERR_OK;
}

static must_use enum err row_set(const struct option_row *row, const char *value, void *options,
                                 struct error *e)
{
    char *field = (char *)options + row->offset;
    switch (row->kind) {
    case KIND_TEXT:
        *(const char **)(void *)field = value;
        return text_check(row, value, e);
    case KIND_NUMBER:
    case KIND_FD:
        return number_set(row, value, options, e);
    case KIND_DURATION:
        return amount_duration(str_of(value), (int64_t *)(void *)field, e);
    case KIND_SIZE:
        return amount_bytes(str_of(value), (int64_t *)(void *)field, e);
    case KIND_FLAG:
        *(bool *)(void *)field = true;
        return ERR_OK;
    case KIND_LABEL:
        return label_add(options, value, e);
    }
    return ERR_OK;
}

static must_use enum err line_parse(struct option_table table, int argc, char **argv, void *options,
                                    struct error *e)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            return fail(e, ERR_USAGE, "unexpected argument '%s'", argv[i]);
        }
        struct str value;
        struct str name = str_cut(str_of(argv[i] + 2), '=', &value);
        const struct option_row *row = row_find(table, name);
        if (row == NULL || memchr(name.p, '_', name.len) != NULL) {
            return fail(e, ERR_USAGE, "there is no option '%s'", argv[i]);
        }
        const char *text = value.p;
        if (row->kind != KIND_FLAG && text == NULL) {
            if (i + 1 == argc) {
                return fail(e, ERR_USAGE, "--%s wants a value", row->name);
            }
            text = argv[++i];
        }
        if (row_set(row, text, options, e) != ERR_OK) {
            return fail_in(e, "--%s", row->name);
        }
    }
    return ERR_OK;
}

must_use enum err agent_options_supervisor_parse(int argc, char **argv,
                                                 struct supervisor_options *ret, struct error *e)
{
    struct option_table table = {supervisor_rows,
                                 sizeof supervisor_rows / sizeof supervisor_rows[0]};
    struct supervisor_options options = {.ready_fd = -1};
    enum err r = line_parse(table, argc, argv, &options, e);
    if (r == ERR_OK && options.dir == NULL) {
        r = fail(e, ERR_USAGE, "--dir is missing");
    }
    if (r == ERR_OK) {
        *ret = options;
    }
    return r;
}

void agent_options_supervisor_ready(int fd, const char *text)
{
    if (fd < 0) {
        return;
    }
    (void)!write(fd, text, strlen(text));
    (void)!write(fd, "\n", 1);
    (void)close(fd);
}

/* ---- the file ---- */

static void problem_add(struct problems *problems, const struct doc *at, struct arena *arena,
                        const char *text)
{
    if (problems->count < PROBLEMS_MAX) {
        problems->at[problems->count++] =
            (struct problem){.line = at->line,
                             .column = at->column,
                             .path = arena_strn(arena, at->key.p, at->key.len),
                             .text = arena_str(arena, text)};
    }
    problems->total++;
}

static void labels_read(const struct doc *labels, struct arena *arena,
                        struct agent_options *options, struct problems *problems)
{
    if (labels->kind != DOC_MAP) {
        problem_add(problems, labels, arena, "a map is wanted, like {zone: a}");
        return;
    }
    for (const struct doc *label = labels->first; label != NULL; label = label->next) {
        const char *value;
        struct error e;
        if (!doc_text(label, &value)) {
            problem_add(problems, label, arena, "the value of a label is a text");
            continue;
        }
        const char *pair = arena_fmt(arena, "%.*s=%s", (int)label->key.len, label->key.p, value);
        if (label_add(options, pair, &e) != ERR_OK) {
            problem_add(problems, label, arena, e.text);
        }
    }
}

/* Adds a problem for a setting that agents do not have. The problem stands at the setting's key and
 * names the nearest setting, spelled as in the file. */
static void unknown_add(struct option_table table, const struct doc *field, struct arena *arena,
                        struct problems *problems)
{
    struct suggest suggest;
    suggest_init(&suggest, field->key);
    suggest_offer(&suggest, "labels");
    for (size_t i = 0; i < table.count; i++) {
        char *name = arena_str(arena, table.rows[i].name);
        for (char *p = strchr(name, '-'); p != NULL; p = strchr(p, '-')) {
            *p = '_';
        }
        if (table.rows[i].kind != KIND_LABEL) {
            suggest_offer(&suggest, name);
        }
    }
    const bool near = suggest.best != NULL && !str_is(field->key, suggest.best);
    struct doc at = *field;
    at.line = field->key_line;
    at.column = field->key_column;
    problem_add(problems, &at, arena,
                arena_fmt(arena, "there is no such setting of an agent%s%s%s",
                          near ? "; did you mean '" : "", near ? suggest.best : "",
                          near ? "'?" : ""));
}

static void setting_read(struct option_table table, const struct doc *field, struct arena *arena,
                         struct agent_options *options, struct problems *problems)
{
    const struct option_row *row = row_find(table, field->key);
    const char *value;
    struct error e;
    if (str_is(field->key, "labels")) {
        labels_read(field, arena, options, problems);
    } else if (row == NULL || row->kind == KIND_LABEL) {
        unknown_add(table, field, arena, problems);
    } else if (!doc_text(field, &value)) {
        problem_add(problems, field, arena, "one value is wanted, not a list or a map");
    } else if (row_set(row, value, options, &e) != ERR_OK) {
        problem_add(problems, field, arena, e.text);
    }
}

static must_use enum err file_read(struct option_table table, const char *path, struct arena *arena,
                                   struct agent_options *options, const char **report,
                                   struct error *e)
{
    struct str text;
    struct doc *doc;
    struct problems problems = {0};
    enum err r = dirs_read(NULL, path, arena, &text, e);
    if (r != ERR_OK) {
        return fail_in(e, "%s", path);
    }
    r = doc_yaml_parse(arena, text, &doc, e);
    if (r != ERR_OK) {
        problem_syntax(&problems, arena, e);
    }
    for (const struct doc *field = r == ERR_OK ? doc->first : NULL; field != NULL;
         field = field->next) {
        setting_read(table, field, arena, options, &problems);
    }
    if (problems.total > 0) {
        *report = problem_report(&problems, path, text, arena);
    }
    return problem_count_error(&problems, path, e);
}

/* A system directory for root, else a directory in the user's home. */
static const char *dir_default(struct arena *arena)
{
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    if (geteuid() == 0) {
        return "/var/lib/weir/agent";
    }
    if (data != NULL && data[0] == '/') {
        return arena_fmt(arena, "%s/weir/agent", data);
    }
    return arena_fmt(arena, "%s/.local/share/weir/agent", home == NULL ? "" : home);
}

must_use enum err agent_options_parse(int argc, char **argv, struct arena *arena,
                                      struct agent_options *ret, const char **report,
                                      struct error *e)
{
    struct option_table table = {agent_rows, sizeof agent_rows / sizeof agent_rows[0]};
    const struct agent_options none = {.slots = -1, .fake_gpus = -1, .ready_fd = -1};
    struct agent_options options = none;
    *report = NULL;
    enum err r = line_parse(table, argc, argv, &options, e);
    if (r == ERR_OK && options.config != NULL) {
        const char *path = options.config;
        options = none;
        r = file_read(table, path, arena, &options, report, e);
        r = r == ERR_OK ? line_parse(table, argc, argv, &options, e) : r;
    }
    if (r != ERR_OK) {
        return r;
    }
    options.dir = options.dir == NULL ? dir_default(arena) : options.dir;
    *ret = options;
    return ERR_OK;
}
