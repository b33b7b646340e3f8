/* cmd_task_change.c - `weir task kill|start|pause|activate|edit|move|retry`: commands that
 * change tasks, with one call for each task (`kill`: one for many tasks). A task that could not
 * be changed is reported, and the other tasks are still changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/ids.h"
#include "cli/kill.h"
#include "cli/show.h"
#include "cli/task_args.h"
#include "cli/item.h"

#include <stdio.h>
#include <string.h>

enum {
    EDIT_MAX = 1 << 16,
    PROGRESS_EVERY = 50,
    NAMED_MAX = 8, /* tasks that a question names */
    SAID_MAX = 1024,
};

/* Says what was done, when --json is not given. */
typedef void (*said_fn)(const struct cli *cli, uint64_t task, const struct doc *answer);

static void edit_said(const struct cli *cli, uint64_t task, const struct doc *answer)
{
    if (cli->err_tty) {
        context_say("task %llu is changed; it is %s", (unsigned long long)task,
                    item_text(answer, "state"));
    }
}

static void move_said(const struct cli *cli, uint64_t task, const struct doc *answer)
{
    if (cli->err_tty && item_number(answer, "position", 0) > 0) {
        context_say("task %llu has place %s in the queue of pool %s", (unsigned long long)task,
                    item_text(answer, "position"), item_text(answer, "pool"));
    }
}

/* "task 12 is killed", or "… stops" while its program has its grace time. */
static void state_said(const struct cli *cli, uint64_t task, const struct doc *answer)
{
    const bool held = item_number(answer, "counts.active", 0) > 0;
    if (cli->err_tty && held) {
        context_say("task %llu is told to stop", (unsigned long long)task);
    } else if (cli->err_tty) {
        context_say("task %llu is %s", (unsigned long long)task, item_text(answer, "state"));
    }
}

/* A change of several tasks. */
struct change {
    struct cli *cli;
    struct arena arena; /* of the task that is changed now */
    said_fn said;
};

/* Changes one task, or with --dry-run says what the change would do. *ret_exit is the exit status, if this does not fail. */
static enum err one_change(struct change *change, uint64_t task, const struct cost_call *call,
                           int *ret_exit, struct error *e)
{
    /* A change that may stop tasks of others is tried on the server first. */
    const bool costs = change->said == edit_said || change->said == move_said;
    struct cli *cli = change->cli;
    struct api_reply reply;
    bool go = true;
    *ret_exit = EXIT_OK;
    if (cost_is_dry(cli)) {
        return cost_dry(cli, call, ret_exit, e);
    }
    enum err r = costs ? cost_confirm(cli, call, COST_NEEDS_YES, &go, e) : ERR_OK;
    if (r != ERR_OK || !go) {
        *ret_exit = EXIT_FAILED;
        return r;
    }
    r = api_change(cli, &change->arena, call->method, call->path, call->body, &reply, e);
    if (r == ERR_OK && !show_json(cli, &reply)) {
        change->said(cli, task, reply.doc);
    }
    return r;
}

/* Makes the same call for every id. The exit status is that of the first failure. */
static int each_said(struct cli *cli, const struct ids *ids, const char *method, const char *action,
                     struct str body, said_fn said)
{
    int code = EXIT_OK;
    struct change change = {.cli = cli, .said = said};
    arena_init(&change.arena);
    for (size_t i = 0; i < ids->at.count; i++) {
        struct error e;
        int one = EXIT_OK;
        arena_clear(&change.arena);
        const char *path =
            arena_fmt(&change.arena, "/tasks/%llu%s", (unsigned long long)ids->at.at[i], action);
        const struct cost_call call = {method, path, body, NULL};
        enum err r = one_change(&change, ids->at.at[i], &call, &one, &e);
        if (r != ERR_OK) {
            (void)fail_in(&e, "task %llu", (unsigned long long)ids->at.at[i]);
            one = context_fail(cli, &e);
        }
        const bool worse = code == EXIT_WOULD_CHANGE && one != EXIT_OK;
        code = code == EXIT_OK || worse ? one : code;
        if (r == ERR_UNREACHABLE || r == ERR_DENIED) {
            break; /* every further call would fail in the same way */
        }
        if (cli->err_tty && ids->at.count > PROGRESS_EVERY && i % PROGRESS_EVERY == 0) {
            (void)fprintf(stderr, "\r\033[K%zu of %zu", i + 1, ids->at.count);
        }
    }
    if (cli->err_tty && ids->at.count > PROGRESS_EVERY) {
        (void)fputs("\r\033[K", stderr);
    }
    arena_done(&change.arena);
    return code;
}

static int each_action(struct cli *cli, const char *action)
{
    struct error e;
    struct ids ids;
    int code = ids_read(cli, &ids, &e) == ERR_OK
                   ? each_said(cli, &ids, "POST", action, (struct str){0}, state_said)
                   : context_fail(cli, &e);
    ids_done(&ids);
    return code;
}

/* "this kills 12 tasks: 3, 4, 5, 6, 7, 8, 9, 10 and 4 more" */
static void kill_ask_say(const struct ids *ids)
{
    struct buf out;
    buf_init(&out, SAID_MAX);
    buf_addf(&out, "this kills %zu tasks: ", ids->at.count);
    for (size_t i = 0; i < ids->at.count && i < NAMED_MAX; i++) {
        buf_addf(&out, "%s%llu", i == 0 ? "" : ", ", (unsigned long long)ids->at.at[i]);
    }
    if (ids->at.count > NAMED_MAX) {
        buf_addf(&out, " and %zu more", ids->at.count - NAMED_MAX);
    }
    context_say("%s", buf_text(&out));
    buf_done(&out);
}

int cmd_task_change_kill(struct cli *cli)
{
    struct error e;
    struct ids ids;
    bool yes = true;
    enum err r = ids_read(cli, &ids, &e);
    if (r == ERR_OK && ids.at.count > 1 && cost_is_dry(cli)) {
        int dry = kill_dry(cli, ids.at.at, ids.at.count);
        ids_done(&ids);
        return dry;
    }
    if (r == ERR_OK && ids.at.count > 1 && !args_has(&cli->args, "yes")) {
        kill_ask_say(&ids);
        kill_say(cli, ids.at.at, ids.at.count);
        r = context_confirm(cli, ids.at.count, &yes, &e);
    }
    int code = r != ERR_OK ? context_fail(cli, &e) : EXIT_FAILED;
    if (r == ERR_OK && yes) {
        code = ids.at.count == 1
                   ? each_said(cli, &ids, "POST", "/kill", (struct str){0}, state_said)
                   : kill_many(cli, ids.at.at, ids.at.count);
    }
    ids_done(&ids);
    return code;
}

int cmd_task_change_start(struct cli *cli)
{
    return each_action(cli, "/start");
}

int cmd_task_change_pause(struct cli *cli)
{
    return each_action(cli, "/pause");
}

int cmd_task_change_activate(struct cli *cli)
{
    return each_action(cli, "/activate");
}

int cmd_task_change_edit(struct cli *cli)
{
    struct error e;
    struct ids ids;
    struct buf body;
    buf_init(&body, EDIT_MAX);
    struct task_args asks;
    enum err r = ids_read(cli, &ids, &e);
    r = r != ERR_OK ? r : task_args_read(cli, &asks, &e);
    if (r == ERR_OK && !task_args_json(&asks, NULL, &body)) {
        r = fail(&e, ERR_USAGE, "nothing to change; `weir task edit --help` lists the flags");
    }
    int code = r != ERR_OK ? context_fail(cli, &e)
                           : each_said(cli, &ids, "PATCH", "",
                                       (struct str){.p = body.data, .len = body.len}, edit_said);
    buf_done(&body);
    ids_done(&ids);
    return code;
}

int cmd_task_change_move(struct cli *cli)
{
    struct error e;
    struct ids ids;
    const struct args *args = &cli->args;
    const char *flag = args_has(args, "behind") ? "behind" : "ahead-of";
    enum err r = ids_read(cli, &ids, &e);
    if (r == ERR_OK && args_has(args, "behind") == args_has(args, "ahead-of")) {
        r = fail(&e, ERR_USAGE, "give one of --ahead-of TASK and --behind TASK");
    }
    const char *body =
        arena_fmt(&cli->arena, "{\"%s\":%llu}", args_has(args, "behind") ? "behind" : "ahead_of",
                  (unsigned long long)args_number(args, flag, 0));
    int code = r != ERR_OK ? context_fail(cli, &e)
                           : each_said(cli, &ids, "POST", "/move", str_of(body), move_said);
    ids_done(&ids);
    return code;
}

/* Prints only the new ids when the output is a pipe, so that a script can read the ids. */
static void retry_said(const struct cli *cli, uint64_t task, const struct doc *answer)
{
    (void)cli;
    const struct doc *tasks = item_at(answer, "tasks");
    const bool several = tasks != NULL && tasks->count > 1;
    for (const struct doc *d = tasks != NULL ? tasks->first : NULL; d != NULL; d = d->next) {
        unsigned long long id = (unsigned long long)item_number(d, "id", 0);
        (void)printf("%llu\n", id);
        const int64_t first = item_number(d, "array_first", 0);
        const int64_t count = item_number(d, "instances", 1);
        if (!several && first == 0) {
            context_say("task %llu is submitted again as task %llu", (unsigned long long)task, id);
        } else if (count == 1) {
            context_say("INSTANCE_ID %lld of task %llu is submitted again as task %llu",
                        (long long)first, (unsigned long long)task, id);
        } else {
            context_say("INSTANCE_ID %lld to %lld of task %llu are submitted again as task %llu",
                        (long long)first, (long long)(first + count - 1), (unsigned long long)task,
                        id);
        }
    }
}

/* Submits one instance again: 12.3. */
static int retry_instance(struct cli *cli, const struct attempt_name *name)
{
    struct ids ids = {0};
    vec_push(&ids.at, name->task);
    const char *body = arena_fmt(&cli->arena, "{\"instance\":%lld}", (long long)name->instance);
    int code = each_said(cli, &ids, "POST", "/retry", str_of(body), retry_said);
    ids_done(&ids);
    return code;
}

static struct str retry_body(const struct cli *cli)
{
    return str_of(args_has(&cli->args, "failed") ? "{\"failed\":true}" : "");
}

/* Submits again what each word names: a task, or one instance of a task. */
static int retry_each(struct cli *cli)
{
    int code = EXIT_OK;
    for (size_t i = 0; i < cli->args.word_count; i++) {
        struct error e;
        struct attempt_name name;
        int one;
        if (ids_name_parse(cli->args.words[i], &name, &e) != ERR_OK) {
            one = context_fail(cli, &e);
        } else if (name.instance >= 0) {
            one = retry_instance(cli, &name);
        } else {
            struct ids ids = {0};
            vec_push(&ids.at, name.task);
            one = each_said(cli, &ids, "POST", "/retry", retry_body(cli), retry_said);
            ids_done(&ids);
        }
        code = code == EXIT_OK ? one : code;
    }
    return code;
}

int cmd_task_change_retry(struct cli *cli)
{
    struct error e;
    struct ids ids;
    for (size_t i = 0; i < cli->args.word_count; i++) {
        struct attempt_name name;
        if (ids_name_parse(cli->args.words[i], &name, NULL) == ERR_OK && name.instance >= 0) {
            return retry_each(cli);
        }
    }
    int code = ids_read(cli, &ids, &e) == ERR_OK
                   ? each_said(cli, &ids, "POST", "/retry", retry_body(cli), retry_said)
                   : context_fail(cli, &e);
    ids_done(&ids);
    return code;
}
