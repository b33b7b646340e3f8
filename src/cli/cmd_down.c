/* cmd_down.c - `weir down`: ends the `weir up` of a directory. With --stop-tasks ends the tasks
 * first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/kill.h"
#include "cli/updir.h"
#include "cli/item.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DOWN_MS = 40000, WAIT_S = 5, SKIPPED_MAX = 999 };

struct down {
    struct cli *cli;
    struct arena arena; /* holds one page of tasks */
    size_t killed;
};

/* Fetches a page of tasks in these states. */
static enum err tasks_page(struct down *down, const char *states, int limit, const struct doc **ret,
                           struct error *e)
{
    struct api_reply page;
    arena_clear(&down->arena);
    enum err r = api_get_patient(down->cli, &down->arena,
                                 arena_fmt(&down->arena, "/tasks?state=%s&limit=%d", states, limit),
                                 &page, e);
    *ret = r == ERR_OK ? item_at(page.doc, "items") : NULL;
    return r;
}

/* Kills tasks page after page, until no task is left to kill. */
static enum err tasks_kill(struct down *down, struct error *e)
{
    for (;;) {
        const struct doc *items;
        uint64_t ids[KILL_IDS_MAX];
        size_t count = 0;
        enum err r = tasks_page(down, "staged,pending,paused,starting,running,unavailable",
                                KILL_IDS_MAX, &items, e);
        for (const struct doc *d = items == NULL ? NULL : items->first;
             d != NULL && count < KILL_IDS_MAX; d = d->next) {
            ids[count++] = (uint64_t)item_number(d, "id", 0);
        }
        if (r != ERR_OK || count == 0) {
            return r;
        }
        struct api_reply reply;
        r = kill_call(down->cli, &down->arena, ids, count, &reply, e);
        if (r != ERR_OK) {
            return r;
        }
        down->killed += count;
        if (down->cli->err_tty) {
            (void)fprintf(stderr, "\r\033[K%zu task%s told to end", down->killed,
                          down->killed == 1 ? "" : "s");
        }
    }
}

/* Does the node have an attempt of the task? Attempts read "12.0:1". */
static bool node_has(const struct doc *node, const char *task)
{
    const struct doc *tasks = item_at(node, "tasks");
    const size_t len = strlen(task);
    for (const struct doc *d = tasks == NULL ? NULL : tasks->first; d != NULL; d = d->next) {
        if (strncmp(d->text.p, task, len) == 0 && d->text.p[len] == '.') {
            return true;
        }
    }
    return false;
}

/* Says which task is waited for, and on which node. False: the node does not answer, so no wait would
 * end the task now. */
static bool wait_say(struct down *down, const char *task)
{
    struct api_reply reply;
    struct error e;
    if (api_get_patient(down->cli, &down->arena, "/nodes", &reply, &e) != ERR_OK) {
        return true;
    }
    const struct doc *nodes = item_at(reply.doc, "items");
    for (const struct doc *d = nodes == NULL ? NULL : nodes->first; d != NULL; d = d->next) {
        if (!node_has(d, task)) {
            continue;
        }
        const char *name = item_text(d, "name");
        const char *state = item_text(d, "state");
        if (strcmp(state, "up") != 0) {
            context_say(
                "task %s is on node %s, which is %s: not waiting for it; the node ends the task "
                "when the node is back",
                task, name, state);
            return false;
        }
        context_say("waiting for task %s on node %s to end", task, name);
    }
    return true;
}

/* Waits until no task is stopping any more, except on nodes that do not answer. */
static enum err tasks_wait(struct down *down, struct error *e)
{
    uint32_t skipped = 0;
    for (;;) {
        const struct doc *items;
        enum err r = tasks_page(down, "stopping", (int)skipped + 1, &items, e);
        if (r != ERR_OK || items == NULL || items->count <= skipped) {
            return r;
        }
        const struct doc *item = items->first;
        for (uint32_t i = 0; i < skipped; i++) {
            item = item->next;
        }
        struct api_reply reply;
        r = api_get_patient(
            down->cli, &down->arena,
            arena_fmt(&down->arena, "/tasks/%s/wait?timeout=%d", item_text(item, "id"), WAIT_S),
            &reply, e);
        if (r != ERR_OK && r != ERR_NOT_FOUND) {
            return r;
        }
        if (r == ERR_OK && strcmp(item_text(reply.doc, "state"), "stopping") == 0 &&
            !wait_say(down, item_text(item, "id"))) {
            skipped += skipped < SKIPPED_MAX;
        }
    }
}

/* Makes all calls go to the server of this directory, whatever the saved login says. */
static enum err login_use(struct cli *cli, const char *dir, const struct updir_info *info,
                          struct error *e)
{
    const char *token;
    enum err r =
        login_file_read(&cli->arena, arena_fmt(&cli->arena, "%s/admin.token", dir), &token, e);
    if (r != ERR_OK) {
        return r;
    }
    (void)setenv("WEIR_SERVER", info->url, 1);
    (void)setenv("WEIR_TOKEN", token, 1);
    return api_open(cli, e);
}

static enum err stop_tasks(struct cli *cli, const char *dir, const struct updir_info *info,
                           struct error *e)
{
    bool yes = true;
    enum err r = info->url == NULL ? fail(e, ERR_CONFLICT, "it is still starting")
                                   : login_use(cli, dir, info, e);
    if (r == ERR_OK && !args_has(&cli->args, "yes")) {
        context_say("this kills every task of %s", info->url);
        r = context_confirm(cli, 1, &yes, e);
    }
    if (r != ERR_OK) {
        return r;
    }
    if (!yes) {
        return fail(e, ERR_CONFLICT, "not done");
    }
    struct down down = {.cli = cli};
    arena_init(&down.arena);
    r = tasks_kill(&down, e);
    r = r == ERR_OK ? tasks_wait(&down, e) : r;
    arena_done(&down.arena);
    if (down.cli->err_tty && down.killed > 0) {
        (void)fputs("\n", stderr);
    }
    return r;
}

/* Signals the process through a pidfd, so that a reused process id cannot be hit. */
static enum err up_end(pid_t pid, struct error *e)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0) {
        return errno == ESRCH ? ERR_OK : fail_errno(e, ERR_IO, errno, "process %d", (int)pid);
    }
    enum err r = ERR_OK;
    if (syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) != 0 && errno != ESRCH) {
        r = fail_errno(e, errno == EPERM ? ERR_DENIED : ERR_IO, errno, "cannot end process %d",
                       (int)pid);
    }
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    if (r == ERR_OK && poll(&ended, 1, DOWN_MS) == 0) {
        r = fail(e, ERR_TIMEOUT, "process %d has not ended after %d s", (int)pid, DOWN_MS / 1000);
    }
    (void)close(fd);
    return r;
}

int cmd_down(struct cli *cli)
{
    struct error e;
    struct updir_info info;
    const char *named = args_text(&cli->args, "dir");
    struct login login;
    const char *dir = named;
    if (dir == NULL && login_find(&cli->arena, NULL, &login, &e) == ERR_OK && login.dir != NULL) {
        dir = login.dir; /* the directory of the server that other commands use */
    }
    dir = dir == NULL ? login_default_dir(&cli->arena) : dir;
    if (!updir_read(&cli->arena, dir, &info) || info.holder == 0) {
        (void)fail(&e, ERR_NOT_FOUND, "no `weir up` runs on %s", dir);
        return context_fail(cli, &e);
    }
    enum err r = ERR_OK;
    if (args_has(&cli->args, "stop-tasks")) {
        r = stop_tasks(cli, dir, &info, &e);
    }
    r = r == ERR_OK ? up_end(info.holder, &e) : r;
    return r == ERR_OK ? EXIT_OK : context_fail(cli, &e);
}
