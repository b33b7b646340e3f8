/* task_run.c - see task_run.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/task_run.h"

#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cost.h"
#include "cli/item.h"
#include "cli/task_args.h"
#include "cli/wait_line.h"

#include <string.h>
#include <unistd.h>

enum { TASK_RUN_BYTES_MAX = 8 << 20, LOOK_US = 150 * 1000 };

/* Kind, name and command as a task file would have them, so that flags win. */
static const struct doc *defaults(struct cli *cli, const struct task_run_kind *kind)
{
    struct json_out j;
    struct buf text;
    struct doc *doc;
    struct error e;
    buf_init(&text, TASK_RUN_BYTES_MAX);
    json_out_init(&j, &text);
    json_out_object(&j);
    json_out_kv_text(&j, "kind", kind->kind);
    json_out_kv_text(&j, "name", kind->name);
    json_out_key(&j, "command");
    json_out_array(&j);
    for (const char *const *word = kind->argv; *word != NULL; word++) {
        json_out_text(&j, *word);
    }
    json_out_end(&j);
    json_out_end(&j);
    must(!text.full);
    must(doc_json_parse(&cli->arena, (struct str){buf_text(&text), text.len}, &doc, &e) == ERR_OK);
    buf_done(&text);
    return doc;
}

/* Adds variables to those of --env; the command's own win. */
static void env_add(struct cli *cli, const struct task_run_kind *kind, struct task_args *task)
{
    struct json_out j;
    struct buf text;
    struct doc *doc;
    struct error e;
    if (kind->env == NULL) {
        return;
    }
    const struct doc *given = doc_get(task->fields, "env");
    buf_init(&text, TASK_RUN_BYTES_MAX);
    json_out_init(&j, &text);
    json_out_object(&j);
    for (const struct doc *d = given != NULL ? given->first : NULL; d != NULL; d = d->next) {
        item_json_field(&j, d, true);
    }
    for (const char *const *entry = kind->env; *entry != NULL; entry++) {
        struct str value;
        const struct str name = str_cut(str_of(*entry), '=', &value);
        json_out_kv_text(&j, arena_strn(&cli->arena, name.p, name.len), value.p);
    }
    json_out_end(&j);
    must(doc_json_parse(&cli->arena, (struct str){buf_text(&text), text.len}, &doc, &e) == ERR_OK);
    buf_done(&text);
    doc->key = str_of("env");
    struct doc **link = &task->fields->first;
    while (*link != NULL && !str_is((*link)->key, "env")) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        doc->next = (*link)->next;
    } else {
        task->fields->count++;
    }
    *link = doc;
}

must_use enum err task_run_submit(struct cli *cli, const struct task_run_kind *kind,
                                  uint64_t *ret_task, int *ret_exit, struct error *e)
{
    struct task_args task;
    struct api_reply reply;
    struct buf body;
    enum err r = task_args_read(cli, &task, e);
    r = r == ERR_OK ? api_open(cli, e) : r;
    if (r != ERR_OK) {
        return r;
    }
    task_args_workdir(cli, &task);
    env_add(cli, kind, &task);
    buf_init(&body, TASK_RUN_BYTES_MAX);
    (void)task_args_json(&task, defaults(cli, kind), &body);
    const struct cost_call call = {"POST", task_args_path(cli), {body.data, body.len}, NULL};
    *ret_task = 0;
    if (body.full) {
        r = fail(e, ERR_LIMIT, "the task is larger than %d bytes", TASK_RUN_BYTES_MAX);
    } else if (cost_is_dry(cli)) {
        r = cost_dry(cli, &call, ret_exit, e);
    } else {
        r = api_change(cli, &cli->arena, call.method, call.path, call.body, &reply, e);
    }
    buf_done(&body);
    if (r != ERR_OK || cost_is_dry(cli)) {
        return r;
    }
    const struct doc *tasks = item_at(reply.doc, "tasks");
    const int64_t id = tasks == NULL ? 0 : item_number(tasks->first, "id", 0);
    *ret_task = (uint64_t)id;
    return id > 0 ? ERR_OK : fail(e, ERR_INTERNAL, "the server's answer names no task");
}

/* *ret_runs: an instance runs. ERR_CONFLICT: the task has ended. */
static enum err look(struct cli *cli, uint64_t task, bool *ret_runs, struct error *e)
{
    struct api_reply reply;
    struct arena arena;
    arena_init(&arena);
    enum err r = api_get_patient(
        cli, &arena, arena_fmt(&arena, "/tasks/%llu", (unsigned long long)task), &reply, e);
    const char *state = r == ERR_OK ? item_text(reply.doc, "state") : "";
    *ret_runs = strcmp(state, "running") == 0;
    if (r == ERR_OK && item_text(reply.doc, "ended_at")[0] != '\0') {
        r = fail(e, ERR_CONFLICT, "task %llu has ended: %s; `weir task logs %llu` shows its output",
                 (unsigned long long)task, state, (unsigned long long)task);
    }
    arena_done(&arena);
    return r;
}

must_use enum err task_run_wait(struct cli *cli, uint64_t task, struct error *e)
{
    int64_t evicted_ms = WAIT_LINE_EARLIER;
    bool runs = false;
    enum err r = look(cli, task, &runs, e);
    if (r != ERR_OK || runs) {
        return r;
    }
    cli->watched = true;
    struct wait_line *line = wait_line_start(&cli->login, task, &evicted_ms);
    while (r == ERR_OK && !runs) {
        (void)usleep(LOOK_US);
        r = look(cli, task, &runs, e);
    }
    wait_line_clear(line);
    wait_line_free(line);
    return r;
}
