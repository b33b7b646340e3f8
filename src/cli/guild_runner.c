/* guild_runner.c - a starter is a process of its own, in a session of its own: however this command ends, also by SIGKILL, the starter
 * records its run to the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_runner.h"
#include "compat/guild/guild_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TOLD_FD = 3, /* in the starter */
    GO_FD = 4,
    FIRST_OTHER_FD = 5,
    AWAIT_MS = 2000,
    FD_ROOM = 16,
};

/* Never returns. */
static void starter(const struct guild_session *session, struct guild_entry *entry, int told,
                    int go)
{
    (void)setsid();
    /* Both are moved out of the way first: either may have the number that the other gets. */
    const int told_high = fcntl(told, F_DUPFD_CLOEXEC, FD_ROOM);
    const int go_high = fcntl(go, F_DUPFD_CLOEXEC, FD_ROOM);
    (void)dup3(told_high, TOLD_FD, O_CLOEXEC);
    (void)dup3(go_high, GO_FD, O_CLOEXEC);
    /* Pipes of other starters must not stay open here: their end tells the other side that this command is gone. */
    (void)close_range(FIRST_OTHER_FD, UINT_MAX, 0);
    const struct guild_start start = {
        .home = session->flags.home,
        .gpus = entry->run.gpus == NULL ? session->flags.gpus : NULL,
        .guild = session->flags.guild,
        .told = TOLD_FD,
        .go = GO_FD,
    };
    const struct guild_told last = guild_start_run(&entry->run, &start, &entry->arena);
    _exit(last.kind == GUILD_TOLD_ENDED ? last.value : EXIT_WEIR_FAILED);
}

enum err guild_runner_send(struct guild_session *session, struct guild_entry *entry,
                           struct error *e)
{
    int told[2];
    int go[2];
    if (pipe2(told, O_CLOEXEC) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
    }
    if (pipe2(go, O_CLOEXEC) != 0) {
        (void)close(told[0]);
        (void)close(told[1]);
        return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
    }
    const pid_t pid = fork();
    if (pid == 0) {
        starter(session, entry, told[1], go[0]);
    }
    (void)close(told[1]);
    (void)close(go[0]);
    if (pid < 0) {
        (void)close(told[0]);
        (void)close(go[1]);
        return fail_errno(e, ERR_IO, errno, "cannot start a process");
    }
    entry->pid = pid;
    entry->told = told[0];
    entry->go = go[1];
    return ERR_OK;
}

bool guild_runner_await(const struct guild_entry *entry)
{
    struct pollfd fd = {.fd = entry->told, .events = POLLIN};
    return entry->run.why_guild == NULL && poll(&fd, 1, AWAIT_MS) == 1;
}

void guild_runner_go(struct guild_entry *entry)
{
    if (entry->go >= 0) {
        (void)close(entry->go);
        entry->go = -1;
    }
}

void guild_runner_done(struct guild_entry *entry)
{
    guild_runner_go(entry);
    if (entry->told >= 0) {
        (void)close(entry->told);
        entry->told = -1;
    }
    if (entry->pid > 0) {
        (void)waitpid(entry->pid, NULL, 0);
        entry->pid = 0;
    }
}
