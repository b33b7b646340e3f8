/* cmd_task.c - `weir task list|show`: commands that read tasks. Commands that change
 * tasks are in cmd_task_change.c, logs in cmd_task_logs.c.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cells.h"
#include "cli/cmd.h"
#include "cli/fallback_text.h"
#include "cli/ids.h"
#include "cli/list.h"
#include "cli/list_table.h"
#include "cli/show.h"
#include "cli/task_query.h"
#include "cli/task_text.h"
#include "cli/text.h"
#include "cli/item.h"
#include "base/vec.h"

#include <stdio.h>
#include <string.h>

enum { TASK_LIST_DEFAULT = 100 };

/* ---- list ---- */

/* Writes how long instances of the task ran. Time between an eviction and the next start does
 * not count. A task that waits again shows nothing. An ended task of an older version has no
 * `ran_ms`: there the time from start to end is shown. */
static void cell_runtime(struct buf *out, const struct doc *item, int64_t now_ms)
{
    int64_t start_ms;
    int64_t end_ms = now_ms;
    const char *state = item_text(item, "state");
    if (strcmp(state, "pending") == 0 || strcmp(state, "paused") == 0) {
        return;
    }
    if (!item_time(item, "started_at", &start_ms)) {
        return;
    }
    int64_t ran_ms;
    if (!doc_i64(doc_get(item, "ran_ms"), &ran_ms)) {
        (void)item_time(item, "ended_at", &end_ms);
        ran_ms = end_ms - start_ms;
    } else if (item_time(item, "running_since", &start_ms)) {
        ran_ms += now_ms - start_ms;
    }
    text_span(out, ran_ms);
}

static void cell_cause(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const char *cause = item_text(item, "cause");
    buf_add_str(out, strcmp(cause, "none") == 0 ? "" : cause);
}

static const struct list_column task_columns[] = {
    {"id", "ID", COLUMN_NUMBER, "id", COLUMN_ALWAYS, NULL},
    {"state", "STATE", COLUMN_STATE, "state", COLUMN_ALWAYS, NULL},
    {"name", "NAME", COLUMN_CUSTOM, "name", COLUMN_ALWAYS, task_text_name},
    {"kind", "KIND", COLUMN_TEXT, "kind", COLUMN_WIDE, NULL},
    {"user", "USER", COLUMN_TEXT, "user", COLUMN_LESS, NULL},
    {"project", "PROJECT", COLUMN_TEXT, "project", COLUMN_SPARE, NULL},
    {"pool", "POOL", COLUMN_TEXT, "pool", COLUMN_SPARE, NULL},
    {"priority", "PRIO", COLUMN_NUMBER, "priority", COLUMN_WIDE, NULL},
    {"resources", "RESOURCES", COLUMN_RESOURCES, "resources", COLUMN_ALWAYS, NULL},
    {"instances", "INST", COLUMN_NUMBER, "instances", COLUMN_SPARE, NULL},
    {"submitted", "SUBMITTED", COLUMN_TIME, "submitted_at", COLUMN_LESS, NULL},
    {"started", "STARTED", COLUMN_TIME, "started_at", COLUMN_WIDE, NULL},
    {"ended", "ENDED", COLUMN_TIME, "ended_at", COLUMN_WIDE, NULL},
    {"runtime", "RUNTIME", COLUMN_CUSTOM_NUMBER, "started_at", COLUMN_ALWAYS, cell_runtime},
    {"exit", "EXIT", COLUMN_NUMBER, "exit_code", COLUMN_WIDE, NULL},
    {"command", "COMMAND", COLUMN_COMMAND, "command", COLUMN_WIDE, NULL},
    {"detail", "DETAIL", COLUMN_SENTENCE, "reason.code", COLUMN_ALWAYS, task_text_detail},
    {0},
};

static const struct list_def task_list = {
    .what = "tasks",
    .id_path = "id",
    .columns = task_columns,
    .limit = TASK_LIST_DEFAULT,
    .filters = task_query_filters,
    .empty_say = task_query_empty,
};

/* A list of ended tasks alone shows when and with which exit code they ended. */
static const struct list_column *ended_columns(struct arena *arena)
{
    struct list_column *columns = arena_dup(arena, task_columns, sizeof task_columns);
    for (struct list_column *c = columns; c->name != NULL; c++) {
        const bool end = strcmp(c->name, "ended") == 0 || strcmp(c->name, "exit") == 0;
        c->when = end ? COLUMN_SPARE : c->when;
    }
    return columns;
}

int cmd_task_list(struct cli *cli)
{
    struct error e;
    const char *path;
    if (task_query_path(cli, &path, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    struct list_def def = task_list;
    const bool active = args_has(&cli->args, "active");
    const bool ended = args_has(&cli->args, "ended") || args_has(&cli->args, "until");
    def.columns = ended && !active ? ended_columns(&cli->arena) : task_columns;
    return list_run(cli, &def, path);
}

/* ---- show ---- */

/* Writes "8, a gang that runs with 2". */
static void cell_instances(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t count = item_number(item, "instances", 1);
    const int64_t least = item_number(item, "min_instances", count);
    buf_addf(out, "%lld", (long long)count);
    if (item_true(item, "gang")) {
        buf_add_str(out, ", a gang");
    }
    if (item_true(item, "gang") && least < count) {
        buf_addf(out, " that runs with %lld", (long long)least);
    }
}

/* Writes "once" or "3 times". */
static void times_add(struct buf *out, int64_t n)
{
    if (n == 1) {
        buf_add_str(out, "once");
    } else {
        buf_addf(out, "%lld times", (long long)n);
    }
}

static void cell_lost(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t n = item_number(item, "counts.lost", 0);
    if (n > 0) {
        times_add(out, n);
        buf_add_str(out, " with its node");
    }
}

static void cell_preempted(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const int64_t n = item_number(item, "counts.preempted", 0);
    if (n > 0) {
        times_add(out, n);
    }
    if (n > 1) { /* the last eviction has a line of its own */
        buf_addf(out, "; `weir events --task %s --type evicted` shows each", item_text(item, "id"));
    }
}

/* An instance that waits again is shown with its last attempt, which has ended. */
static void cell_attempt_state(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const char *state = item_text(item, "state");
    const bool rests = strcmp(state, "waiting") == 0 || strcmp(state, "held") == 0;
    const bool again = rests && item_text(item, "ended_at")[0] != '\0';
    buf_add_str(out, again ? "ended" : state);
}

static void cell_list(struct buf *out, const struct doc *list)
{
    for (const struct doc *d = list == NULL ? NULL : list->first; d != NULL; d = d->next) {
        buf_addf(out, "%s%s", d == list->first ? "" : ", ", d->text.p == NULL ? "" : d->text.p);
    }
}

static void cell_tags(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cell_list(out, item_at(item, "tags"));
}

static void cell_depends(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cell_list(out, item_at(item, "depends_on"));
}

static void cell_devices(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cell_list(out, item_at(item, "devices"));
}

static void cell_avoid(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cell_list(out, item_at(item, "avoid"));
}

static void cell_node_labels(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    cells_labels_text(out, item_at(item, "node_labels"));
}

static void cell_topology(struct buf *out, const struct doc *item, int64_t now_ms)
{
    static const char *const words[] = {"required", "preferred"};
    (void)now_ms;
    for (size_t i = 0; i < 2; i++) {
        const struct doc *level = doc_get(item_at(item, "topology"), words[i]);
        if (level != NULL && level->kind == DOC_STRING) {
            buf_addf(out, "%s%s=%s", out->len > 0 ? "," : "", words[i], level->text.p);
        }
    }
}

/* Writes the top groups: "leader x1, worker x2-4, 1 needed". */
static void cell_groups(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    const struct doc *groups = item_at(item, "groups");
    for (const struct doc *group = groups == NULL ? NULL : groups->first; group != NULL;
         group = group->next) {
        buf_addf(out, "%s%s", group == groups->first ? "" : ", ", item_text(group, "name"));
        if (doc_get(group, "instances") != NULL) {
            const bool fewer = doc_get(group, "min") != NULL;
            buf_addf(out, " x%s%s%s", fewer ? item_text(group, "min") : "", fewer ? "-" : "",
                     item_text(group, "instances"));
        }
    }
    if (doc_get(item, "min_groups") != NULL) {
        buf_addf(out, ", %s needed", item_text(item, "min_groups"));
    }
}

static void cell_limit(struct buf *out, const struct doc *item, int64_t now_ms)
{
    (void)now_ms;
    int64_t ms = item_number(item, "time_limit_ms", 0);
    if (ms > 0) {
        text_span(out, ms);
    }
}

static const struct list_column task_fields[] = {
    {"id", "task", COLUMN_NUMBER, "id", COLUMN_ALWAYS, NULL},
/* Every text of the table; other kinds of values have a line of their own below where they have one. */
#define FIELD(id, kept, tag, change, place, flag) SHOW_##kept
#define SHOW_TEXT(id, least, most) {#id, #id, COLUMN_TEXT, #id, COLUMN_ALWAYS, NULL},
#define SHOW_DURATION(...)
#define SHOW_LABELS(...)
#define SHOW_NAME(...)
#define SHOW_NUMBER(...)
#define SHOW_PART
#define SHOW_PARTS(...)
#define SHOW_TABLE_OF(...)
#define SHOW_TABLE_SAID(...)
#define SHOW_PATH(...)
#define SHOW_SWITCH(...)
#define SHOW_TEXTS(...)
#define SHOW_WORD(...)
#include "core/model/task_fields.def"
    {"state", "state", COLUMN_STATE, "state", COLUMN_ALWAYS, NULL},
    {"detail", "detail", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_detail},
    {"exit", "exit code", COLUMN_NUMBER, "exit_code", COLUMN_ALWAYS, NULL},
    {"position", "place", COLUMN_NUMBER, "position", COLUMN_ALWAYS, NULL},
    {"kind", "kind", COLUMN_TEXT, "kind", COLUMN_ALWAYS, NULL},
    {"project", "project", COLUMN_TEXT, "project", COLUMN_ALWAYS, NULL},
    {"pool", "pool", COLUMN_TEXT, "pool", COLUMN_ALWAYS, NULL},
    {"pools", "open pools", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, fallback_text_pools},
    {"resources", "resources", COLUMN_RESOURCES, "resources", COLUMN_ALWAYS, NULL},
    {"devices", "devices", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_devices},
    {"node_labels", "node labels", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_node_labels},
    {"avoid", "avoids", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_avoid},
    {"instances", "instances", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_instances},
    {"groups", "groups", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_groups},
    {"counts", "", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_counts},
    {"update", "update", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_update},
    {"topology", "topology", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_topology},
    {"preempted", "preempted", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_preempted},
    {"lost", "lost", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_lost},
    {"evicted", "last evicted", COLUMN_TEXT, "evicted.message", COLUMN_ALWAYS, NULL},
    {"work_lost", "work lost", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_work_lost},
    {"priority", "priority", COLUMN_NUMBER, "priority", COLUMN_ALWAYS, NULL},
    {"limit", "time limit", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_limit},
    {"command", "command", COLUMN_COMMAND, "command", COLUMN_ALWAYS, NULL},
    {"workdir", "workdir", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_workdir},
    {"tags", "tags", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_tags},
    {"depends", "after", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_depends},
    {"submitted", "submitted", COLUMN_TIME, "submitted_at", COLUMN_ALWAYS, NULL},
    {"queued", "queued", COLUMN_TIME, "queued_at", COLUMN_WIDE, NULL},
    {"started", "started", COLUMN_TIME, "started_at", COLUMN_ALWAYS, NULL},
    {"ended", "ended", COLUMN_TIME, "ended_at", COLUMN_ALWAYS, NULL},
    {"runtime", "runtime", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, cell_runtime},
    {"cpu_time", "cpu time", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_cpu},
    {"memory_peak", "peak memory", COLUMN_CUSTOM, NULL, COLUMN_ALWAYS, task_text_memory},
    {0},
};

static const struct list_column attempt_columns[] = {
    {"attempt", "ATTEMPT", COLUMN_TEXT, "key", COLUMN_ALWAYS, NULL},
    {"instance", "INSTANCE_ID", COLUMN_NUMBER, "instance", COLUMN_ALWAYS, NULL},
    {"state", "STATE", COLUMN_STATE, "state", COLUMN_ALWAYS, cell_attempt_state},
    {"health", "HEALTH", COLUMN_TEXT, "health", COLUMN_SPARE, NULL},
    {"node", "NODE", COLUMN_TEXT, "node", COLUMN_ALWAYS, NULL},
    {"devices", "DEVICES", COLUMN_CUSTOM, "devices", COLUMN_SPARE, cell_devices},
    {"cause", "CAUSE", COLUMN_CUSTOM, "cause", COLUMN_ALWAYS, cell_cause},
    {"exit", "EXIT", COLUMN_NUMBER, "exit_code", COLUMN_ALWAYS, NULL},
    {"started", "STARTED", COLUMN_TIME, "started_at", COLUMN_ALWAYS, NULL},
    {"checkpoint", "CHECKPOINT", COLUMN_TIME, "checkpoint_at", COLUMN_ALWAYS, NULL},
    {"ended", "ENDED", COLUMN_TIME, "ended_at", COLUMN_ALWAYS, NULL},
    {"cpu_time", "CPU", COLUMN_CUSTOM_NUMBER, "cpu_ms", COLUMN_SPARE, task_text_cpu},
    {"memory_peak", "MEMORY", COLUMN_CUSTOM_NUMBER, "memory_peak", COLUMN_SPARE, task_text_memory},
    {"use", "USES NOW", COLUMN_CUSTOM, "use", COLUMN_SPARE, task_text_use},
    {"why", "WHY", COLUMN_SENTENCE, "why", COLUMN_SPARE, NULL},
    {0},
};

/* Most tasks never report a checkpoint: the column is left out when no attempt has one. The
 * INSTANCE_ID is left out where it is the number in the name of the attempt. */
static bool column_used(const struct list_column *column, const struct doc *attempts)
{
    if (strcmp(column->name, "instance") == 0) {
        return item_number(attempts->first, "instance", 0) !=
               item_number(attempts->first, "index", 0);
    }
    if (strcmp(column->name, "checkpoint") != 0 && column->when != COLUMN_SPARE) {
        return true;
    }
    for (const struct doc *d = attempts->first; d != NULL; d = d->next) {
        const struct doc *value = item_at(d, column->path);
        if (item_text(d, column->path)[0] != '\0' || (value != NULL && value->count > 0)) {
            return true;
        }
    }
    return false;
}

static void attempts_show(const struct cli *cli, const struct doc *doc)
{
    enum { TABLE_MAX = 1 << 20 };
    const struct doc *attempts = item_at(doc, "attempts");
    struct attempt_name name;
    if (attempts == NULL || attempts->count == 0 ||
        ids_name_parse(cli->args.words[0], &name, NULL) != ERR_OK) {
        return;
    }
    const struct list_column *used[TABLE_COLUMNS_MAX];
    size_t used_count = 0;
    for (const struct list_column *c = attempt_columns; c->name != NULL; c++) {
        if (column_used(c, attempts)) {
            used[used_count++] = c;
        }
    }
    VEC(const struct doc *) items = {0};
    for (const struct doc *d = attempts->first; d != NULL; d = d->next) {
        if (name.instance < 0 || item_number(d, "index", -1) == name.instance) {
            vec_push(&items, d);
        }
    }
    const bool wide = args_has(&cli->args, "wide");
    const struct list_table_view view = {.items = items.at,
                                         .count = items.count,
                                         .width = wide ? 0 : cli->width,
                                         .colour = cli->colour,
                                         .now_ms = context_now_ms(cli),
                                         .wide = wide};
    struct buf out;
    buf_init(&out, TABLE_MAX);
    buf_add_char(&out, '\n');
    list_table_put(&view, used, used_count, &out);
    context_out((struct str){.p = buf_text(&out), .len = out.len});
    buf_done(&out);
    vec_done(&items);
}

int cmd_task_show(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    if (ids_name_parse(cli->args.words[0], &name, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    unsigned long long id = name.task;
    const char *path = arena_fmt(&cli->arena, "/tasks/%llu", id);
    struct api_reply reply;
    if (name.instance >= 0 && (api_get(cli, &cli->arena, path, &reply, &e) != ERR_OK ||
                               ids_name_check(&name, reply.doc, &e) != ERR_OK)) {
        return context_fail(cli, &e);
    }
    return show_run(cli, path, arena_fmt(&cli->arena, "task=%llu", id), task_fields, attempts_show);
}
