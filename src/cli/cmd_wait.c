/* cmd_wait.c - `weir task wait`: waits until tasks have ended, says meanwhile why they wait, and exits
 * with their exit status. SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/follow.h"
#include "cli/ids.h"
#include "cli/item.h"
#include "cli/show.h"
#include "cli/text.h"
#include "cli/wait_line.h"

#include <string.h>

enum { WAIT_STEP_S = 30, WAIT_STEP_MS = WAIT_STEP_S * 1000 };

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
        struct wait_line *line = wait_line_start(&cli->login, ids->at.at[i]);
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

int cmd_wait_tasks(struct cli *cli)
{
    struct error e;
    struct ids ids;
    enum err r = ids_read(cli, &ids, &e);
    r = r != ERR_OK ? r : api_open(cli, &e);
    cli->watched = true;
    int code = r == ERR_OK ? wait_all(cli, &ids) : context_fail(cli, &e);
    ids_done(&ids);
    return code;
}
