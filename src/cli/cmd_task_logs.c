/* cmd_task_logs.c - `weir task logs`: the output of a task, or a part of it, now or live.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/follow.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/log_filter.h"
#include "cli/task_query.h"
#include "cli/wait_line.h"

static void line_clear(void *ctx)
{
    wait_line_clear(ctx);
}

/* Which output: task, instance and attempt. The flags --instance and --attempt win over the name. */
static enum err name_read(const struct cli *cli, struct attempt_name *ret, struct error *e)
{
    enum err r = ids_name_parse(cli->args.words[0], ret, e);
    if (r == ERR_OK && args_has(&cli->args, "instance")) {
        ret->instance = (int64_t)args_number(&cli->args, "instance", 0);
    }
    if (r == ERR_OK && args_has(&cli->args, "attempt")) {
        ret->attempt = (int64_t)args_number(&cli->args, "attempt", 0);
    }
    return r;
}

/* Writes the parameters of GET /tasks/{id}/logs: "&stream=stderr&instance=0". */
static enum err query_write(struct cli *cli, const struct attempt_name *name, const char **ret,
                            struct error *e)
{
    struct arena *arena = &cli->arena;
    const char *stream = args_text(&cli->args, "stream");
    const char *query = stream == NULL ? "" : arena_fmt(arena, "&stream=%s", stream);
    if (name->instance >= 0) {
        query = arena_fmt(arena, "%s&instance=%lld", query, (long long)name->instance);
    }
    if (name->attempt >= 0) {
        query = arena_fmt(arena, "%s&attempt=%lld", query, (long long)name->attempt);
    }
    if (args_has(&cli->args, "tail")) {
        query = arena_fmt(arena, "%s&tail=%llu", query,
                          (unsigned long long)args_number(&cli->args, "tail", 0));
    }
    enum err r = task_query_moment(cli, "since", &query, e);
    *ret = query;
    return r;
}

/* Writes the output. While it follows, a line says why the task waits. */
static enum err logs_write(struct cli *cli, struct follow_options *options, struct error *e)
{
    int64_t evicted_ms = WAIT_LINE_EARLIER;
    struct wait_line *line =
        options->follow ? wait_line_start(&cli->login, options->task, &evicted_ms) : NULL;
    options->before_output = line != NULL ? line_clear : NULL;
    options->ctx = line;
    struct follow_end end;
    const enum err r = follow_run(cli, options, &end, e);
    wait_line_free(line);
    return r;
}

int cmd_task_logs(struct cli *cli)
{
    struct error e;
    struct attempt_name name;
    struct log_lines lines;
    struct follow_options options = {
        .follow = args_has(&cli->args, "follow"),
        .json = args_has(&cli->args, "json"),
        .lines = &lines,
    };
    enum err r = name_read(cli, &name, &e);
    r = r != ERR_OK ? r : query_write(cli, &name, &options.query, &e);
    const char *grep = args_text(&cli->args, "grep");
    const bool timestamps = args_has(&cli->args, "timestamps");
    if (r == ERR_OK && (grep != NULL || timestamps)) {
        r = log_filter_new(grep, timestamps, &options.filter, &e);
    }
    if (r == ERR_OK) {
        struct api_reply reply;
        options.task = name.task;
        const char *path = arena_fmt(&cli->arena, "/tasks/%llu", (unsigned long long)name.task);
        r = options.follow ? api_get_patient(cli, &cli->arena, path, &reply, &e)
                           : api_get(cli, &cli->arena, path, &reply, &e);
        r = r == ERR_OK ? ids_name_check(&name, reply.doc, &e) : r;
        const bool several =
            r == ERR_OK && name.instance < 0 && item_number(reply.doc, "instances", 1) > 1;
        follow_lines_init(cli, several, &lines);
    }
    r = r != ERR_OK ? r : logs_write(cli, &options, &e);
    log_filter_free(options.filter);
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}
