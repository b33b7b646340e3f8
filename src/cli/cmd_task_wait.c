/* cmd_task_wait.c - `weir task wait`: waits for the end of tasks, or of one instance, says meanwhile
 * why they wait, and exits with their exit code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/follow.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/show.h"
#include "cli/task_text.h"
#include "cli/text.h"
#include "cli/wait_line.h"
#include "cli/watch.h"

#include <string.h>

enum { WAIT_STEP_S = 30, WAIT_STEP_MS = WAIT_STEP_S * 1000, WAIT_LOOK_MS = 1000 };

static bool has_ended(const char *state)
{
    return strcmp(state, "completed") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "killed") == 0 || strcmp(state, "unknown") == 0;
}

/* Waits for one task, until its end or the deadline. */
static enum err wait_one(struct cli *cli, uint64_t task, int64_t deadline_ms, struct arena *arena,
                         struct api_reply *ret, struct error *e)
{
    for (;;) {
        int64_t left_ms = deadline_ms == 0 ? WAIT_STEP_MS : deadline_ms - text_now_ms();
        int64_t step_ms = left_ms < 0 ? 0 : left_ms > WAIT_STEP_MS ? WAIT_STEP_MS : left_ms;
        arena_clear(arena);
        const char *path = arena_fmt(arena, "/tasks/%llu/wait?timeout=%lld",
                                     (unsigned long long)task, (long long)((step_ms + 999) / 1000));
        enum err r = api_get_patient(cli, arena, path, ret, e);
        if (r != ERR_OK || has_ended(item_text(ret->doc, "state"))) {
            return r;
        }
        if (deadline_ms != 0 && text_now_ms() >= deadline_ms) {
            return fail(e, ERR_TIMEOUT, "task %llu is still %s", (unsigned long long)task,
                        item_text(ret->doc, "state"));
        }
    }
}

static int wait_all(struct cli *cli, const struct ids *ids)
{
    struct error e;
    struct arena arena;
    arena_init(&arena);
    int code = EXIT_OK;
    int64_t timeout_ms = args_duration(&cli->args, "timeout", 0);
    int64_t deadline_ms = timeout_ms == 0 ? 0 : text_now_ms() + timeout_ms;
    for (size_t i = 0; i < ids->at.count; i++) {
        struct api_reply reply;
        int64_t evicted_ms = WAIT_LINE_EARLIER;
        struct wait_line *line = wait_line_start(&cli->login, ids->at.at[i], &evicted_ms);
        const enum err r = wait_one(cli, ids->at.at[i], deadline_ms, &arena, &reply, &e);
        wait_line_free(line);
        if (r != ERR_OK) {
            code = context_fail_run(cli, &e);
            break;
        }
        (void)show_json(cli, &reply);
        struct follow_end end = {.code = item_number(reply.doc, "exit_code", -1)};
        (void)str_copy(end.state, sizeof end.state, item_text(reply.doc, "state"));
        if (code == EXIT_OK) {
            code = follow_exit(&end);
        }
    }
    arena_done(&arena);
    return code;
}

/* Finds the end of one instance in a task; NULL: the instance has not ended. An attempt that has ended
 * is not the end of its instance while the instance waits again. */
static const struct doc *instance_end(const struct doc *task, int64_t instance)
{
    const bool over = has_ended(item_text(task, "state"));
    const struct doc *attempts = item_at(task, "attempts");
    for (const struct doc *d = attempts == NULL ? NULL : attempts->first; d != NULL; d = d->next) {
        if (item_number(d, "index", -1) == instance && task_text_newest(d) &&
            strcmp(item_text(d, "state"), "ended") == 0 && (over || !item_true(d, "again"))) {
            return d;
        }
    }
    return over ? task : NULL; /* the task ended before the instance started */
}

/* Waits for one instance (12.3), and exits with its code. */
static int wait_instance(struct cli *cli, const struct attempt_name *name)
{
    struct error e;
    struct api_reply reply;
    const int64_t timeout_ms = args_duration(&cli->args, "timeout", 0);
    const int64_t deadline_ms = timeout_ms == 0 ? 0 : text_now_ms() + timeout_ms;
    const char *path = arena_fmt(&cli->arena, "/tasks/%llu", (unsigned long long)name->task);
    int64_t evicted_ms = WAIT_LINE_EARLIER;
    struct wait_line *line = wait_line_start(&cli->login, name->task, &evicted_ms);
    enum err r = ERR_OK;
    struct cli_watch *watch = watch_start(
        &cli->login, arena_fmt(&cli->arena, "task=%llu", (unsigned long long)name->task));
    const struct doc *ended = NULL;
    struct arena arena;
    arena_init(&arena);
    while (r == ERR_OK && ended == NULL) {
        arena_clear(&arena);
        r = api_get_patient(cli, &arena, path, &reply, &e);
        r = r == ERR_OK ? ids_name_check(name, reply.doc, &e) : r;
        ended = r == ERR_OK ? instance_end(reply.doc, name->instance) : NULL;
        if (r == ERR_OK && ended == NULL && deadline_ms != 0 && text_now_ms() >= deadline_ms) {
            r = fail(&e, ERR_TIMEOUT, "instance %lld of task %llu has not ended",
                     (long long)name->instance, (unsigned long long)name->task);
        } else if (r == ERR_OK && ended == NULL) {
            (void)watch_wait(watch, WAIT_LOOK_MS);
        }
    }
    watch_free(watch);
    wait_line_free(line);
    int code = EXIT_OK;
    if (r != ERR_OK) {
        code = context_fail_run(cli, &e);
    } else {
        (void)show_json(cli, &reply);
        struct follow_end end = {.code = item_number(ended, "exit_code", -1)};
        (void)str_copy(end.state, sizeof end.state, end.code == 0 ? "completed" : "failed");
        code = follow_exit(&end);
    }
    arena_done(&arena);
    return code;
}

int cmd_task_wait(struct cli *cli)
{
    struct error e;
    struct ids ids = {0};
    struct attempt_name name;
    const bool one = cli->args.word_count == 1 &&
                     ids_name_parse(cli->args.words[0], &name, NULL) == ERR_OK &&
                     name.instance >= 0;
    int code = EXIT_OK;
    if (!one && ids_read(cli, &ids, &e) != ERR_OK) {
        code = context_fail(cli, &e);
    } else if (api_open(cli, &e) != ERR_OK) {
        code = context_fail_run(cli, &e);
    } else {
        cli->watched = true;
        code = one ? wait_instance(cli, &name) : wait_all(cli, &ids);
    }
    ids_done(&ids);
    return code;
}
