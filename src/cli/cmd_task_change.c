/* cmd_task_change.c - `weir task kill|start|pause|activate|edit`: changing tasks, one call each.
 * What could not be changed is said, the rest is done. SPDX-License-Identifier: Apache-2.0 */
#include "base/json_out.h"
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/ids.h"
#include "cli/kill.h"
#include "cli/show.h"
#include "cli/item.h"

#include <stdio.h>
#include <string.h>

enum { EDIT_MAX = 1 << 16, PROGRESS_EVERY = 50 };

/* The same call for every id; the first failure's status is the command's. */
static int each(struct cli *cli, const struct ids *ids, const char *method, const char *action,
                struct str body)
{
    int code = EXIT_OK;
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < ids->at.count; i++) {
        struct error e;
        struct api_reply reply;
        arena_clear(&arena);
        const char *path =
            arena_fmt(&arena, "/tasks/%llu%s", (unsigned long long)ids->at.at[i], action);
        enum err r = api_change(cli, &arena, method, path, body, &reply, &e);
        if (r == ERR_OK) {
            (void)show_json(cli, &reply);
        } else {
            (void)fail_in(&e, "task %llu", (unsigned long long)ids->at.at[i]);
            int failed = cli_fail(cli, &e);
            code = code == EXIT_OK ? failed : code;
        }
        if (r == ERR_UNREACHABLE || r == ERR_DENIED) {
            break; /* the others would fail alike */
        }
        if (cli->err_tty && ids->at.count > PROGRESS_EVERY && i % PROGRESS_EVERY == 0) {
            (void)fprintf(stderr, "\r\033[K%zu of %zu", i + 1, ids->at.count);
        }
    }
    if (cli->err_tty && ids->at.count > PROGRESS_EVERY) {
        (void)fputs("\r\033[K", stderr);
    }
    arena_done(&arena);
    return code;
}

static int each_action(struct cli *cli, const char *action)
{
    struct error e;
    struct ids ids;
    int code = ids_read(cli, &ids, &e) == ERR_OK ? each(cli, &ids, "POST", action, (struct str){0})
                                                 : cli_fail(cli, &e);
    ids_done(&ids);
    return code;
}

int cmd_task_kill(struct cli *cli)
{
    struct error e;
    struct ids ids;
    bool yes = true;
    enum err r = ids_read(cli, &ids, &e);
    if (r == ERR_OK && ids.at.count > 1 && !args_has(&cli->args, "yes")) {
        cli_say("this kills %zu tasks: %llu to %llu", ids.at.count,
                (unsigned long long)ids.at.at[0], (unsigned long long)ids.at.at[ids.at.count - 1]);
        r = cli_confirm(cli, ids.at.count, &yes, &e);
    }
    int code = r != ERR_OK ? cli_fail(cli, &e) : EXIT_FAILED;
    if (r == ERR_OK && yes) {
        code = ids.at.count == 1 ? each(cli, &ids, "POST", "/kill", (struct str){0})
                                 : kill_many(cli, ids.at.at, ids.at.count);
    }
    ids_done(&ids);
    return code;
}

int cmd_task_start(struct cli *cli)
{
    return each_action(cli, "/start");
}

int cmd_task_pause(struct cli *cli)
{
    return each_action(cli, "/pause");
}

int cmd_task_activate(struct cli *cli)
{
    return each_action(cli, "/activate");
}

/* The flags as a PATCH body; false when none was given. */
static bool edit_json(const struct cli *cli, struct buf *out)
{
    static const char *const texts[][2] = {
        {"time", "time_limit"}, {"grace", "grace"}, {"name", "name"}, {"pool", "pool"}};
    static const char *const numbers[][2] = {{"priority", "priority"}, {"retries", "max_retries"}};
    const struct args *args = &cli->args;
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    bool any = false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *value = args_text(args, texts[i][0]);
        if (value != NULL) {
            json_out_kv_text(&j, texts[i][1], value);
            any = true;
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (args_has(args, numbers[i][0])) {
            json_out_kv_u64(&j, numbers[i][1], args_number(args, numbers[i][0], 0));
            any = true;
        }
    }
    if (args_has(args, "tag")) {
        json_out_key(&j, "tags");
        json_out_array(&j);
        size_t cursor = 0;
        const char *tag;
        while ((tag = args_each(args, "tag", &cursor)) != NULL) {
            json_out_text(&j, tag);
        }
        json_out_end(&j);
        any = true;
    }
    json_out_end(&j);
    return any;
}

int cmd_task_edit(struct cli *cli)
{
    struct error e;
    struct ids ids;
    struct buf body;
    buf_init(&body, EDIT_MAX);
    enum err r = ids_read(cli, &ids, &e);
    if (r == ERR_OK && !edit_json(cli, &body)) {
        r = fail(&e, ERR_USAGE, "nothing to change; `weir task edit --help` lists what can be");
    }
    int code = r != ERR_OK
                   ? cli_fail(cli, &e)
                   : each(cli, &ids, "PATCH", "", (struct str){.p = body.data, .len = body.len});
    buf_done(&body);
    ids_done(&ids);
    return code;
}
