/* cmd_update.c - `weir task update`: another task takes the place of a service, instance by instance.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/doc_make.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/cost.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/show.h"
#include "cli/task_args.h"
#include "cli/task_read.h"
#include "spec/object_again.h"

#include <inttypes.h>
#include <stdio.h>

enum { UPDATE_MAX = 2 << 20 };

/* Makes the call, or with --dry-run says what the call would do. */
static enum err call_make(struct cli *cli, const char *path, struct str body, struct api_reply *ret,
                          int *ret_exit, struct error *e)
{
    const struct cost_call call = {"POST", path, body, NULL};
    *ret = (struct api_reply){0};
    *ret_exit = EXIT_OK;
    return cost_is_dry(cli) ? cost_dry(cli, &call, ret_exit, e)
                            : api_change(cli, &cli->arena, "POST", path, body, ret, e);
}

/* The task that a file describes: what says which service it is comes from the old task where the file leaves it out. */
static enum err file_base(struct cli *cli, const struct doc *old, const struct doc **ret,
                          struct error *e)
{
    static const char *const identity[] = {"kind", "name", "project"};
    struct doc *merged = doc_make(&cli->arena, DOC_MAP, NULL);
    const struct doc *file = NULL;
    uint32_t count = 0;
    size_t problems = 0;
    const char *name = args_text(&cli->args, "file");
    const enum err r = task_read(cli, name, &file, &count, &problems, e);
    if (r != ERR_OK) {
        return r;
    }
    if (problems > 0) {
        return fail(e, ERR_INVALID, "%zu problem%s in the file; nothing was changed", problems,
                    problems == 1 ? "" : "s");
    }
    if (file->kind != DOC_MAP) {
        return fail(e, ERR_USAGE, "%s has %u tasks; one task takes the place of a service", name,
                    count);
    }
    for (size_t i = 0; i < sizeof identity / sizeof identity[0]; i++) {
        if (doc_get(file, identity[i]) == NULL) {
            doc_make_put(&cli->arena, merged, identity[i], doc_get(old, identity[i]));
        }
    }
    for (const struct doc *d = file->first; d != NULL; d = d->next) {
        doc_make_put(&cli->arena, merged, arena_strn(&cli->arena, d->key.p, d->key.len), d);
    }
    *ret = merged;
    return ERR_OK;
}

/* Writes the whole new task: the file or the old task, with the flags above it. */
static enum err body_make(struct cli *cli, uint64_t task, struct buf *out, struct error *e)
{
    struct task_args asks;
    struct api_reply reply;
    const bool file = args_has(&cli->args, "file");
    enum err r = task_args_read(cli, &asks, e);
    r = r != ERR_OK ? r : api_open(cli, e);
    r = r != ERR_OK ? r : task_args_upload(cli, &asks, e);
    r = r != ERR_OK
            ? r
            : api_get(cli, &cli->arena, arena_fmt(&cli->arena, "/tasks/%" PRIu64, task), &reply, e);
    if (r != ERR_OK) {
        return r;
    }
    const struct doc *base = object_again_task_map(reply.doc, &cli->arena);
    r = file ? file_base(cli, base, &base, e) : ERR_OK;
    if (r == ERR_OK && !task_args_json(&asks, base, out) && !file) {
        r = fail(e, ERR_USAGE, "nothing to change; `weir task update --help` lists the flags");
    }
    return r;
}

static const char *update_path(struct cli *cli, uint64_t task)
{
    struct arena *arena = &cli->arena;
    const char *drain = args_text(&cli->args, "drain");
    const char *within = args_text(&cli->args, "within");
    return arena_fmt(arena, "/tasks?spread=refuse&replaces=%" PRIu64 "%s%s%s%s%s", task,
                     drain != NULL ? "&drain=" : "", drain != NULL ? api_escape(arena, drain) : "",
                     within != NULL ? "&within=" : "",
                     within != NULL ? api_escape(arena, within) : "",
                     args_has(&cli->args, "old-first") ? "&old_first=true" : "");
}

static int update_begin(struct cli *cli, uint64_t task)
{
    struct error e;
    struct buf body;
    struct api_reply reply;
    int code = EXIT_OK;
    buf_init(&body, UPDATE_MAX);
    enum err r = body_make(cli, task, &body, &e);
    r = r != ERR_OK ? r
                    : call_make(cli, update_path(cli, task),
                                (struct str){.p = body.data, .len = body.len}, &reply, &code, &e);
    buf_done(&body);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!cost_is_dry(cli) && !show_json(cli, &reply)) {
        const struct doc *tasks = item_at(reply.doc, "tasks");
        const char *next =
            tasks != NULL && tasks->first != NULL ? item_text(tasks->first, "id") : "";
        (void)printf("%s\n", next);
        context_say("task %s takes the place of task %" PRIu64
                    ", instance by instance; `weir task show %s` says how far it is",
                    next, task, next);
    }
    return code;
}

static int update_ask(struct cli *cli, uint64_t task, const char *what, const char *said)
{
    struct error e;
    struct api_reply reply;
    int code = EXIT_OK;
    const char *path = arena_fmt(&cli->arena, "/tasks/%" PRIu64 "/update/%s", task, what);
    enum err r = api_open(cli, &e);
    r = r != ERR_OK ? r : call_make(cli, path, (struct str){0}, &reply, &code, &e);
    if (r != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (!cost_is_dry(cli) && !show_json(cli, &reply)) {
        context_say("the update of task %" PRIu64 " %s", task, said);
    }
    return code;
}

int cmd_update(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    const bool back = args_has(&cli->args, "back");
    const bool resume = args_has(&cli->args, "resume");
    if (ids_name_parse(cli->args.words[0], &name, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    if (name.instance >= 0 || (back && resume)) {
        (void)fail(&e, ERR_USAGE,
                   back && resume ? "give one of --back and --resume"
                                  : "a service is updated as a whole: give the number of a task");
        return context_fail(cli, &e);
    }
    return back     ? update_ask(cli, name.task, "back", "goes back to the old task")
           : resume ? update_ask(cli, name.task, "resume", "goes on")
                    : update_begin(cli, name.task);
}
