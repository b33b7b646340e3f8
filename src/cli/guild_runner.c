/* guild_runner.c - a starter is a process of its own, in a session of its own: however this command ends, also by SIGKILL, the starter
 * records its run to the end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/guild_runner.h"

#include "cli/guild_screen.h"
#include "compat/guild/guild_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TOLD_FD = 3, /* in the starter */
    FIRST_OTHER_FD = 4,
    AWAIT_MS = 2000,
    FD_ROOM = 16,
    CHUNK_BYTES = 65536,
    PIPES = 3, /* output, errors, what the starter tells */
};

/* Never returns. */
static void starter(const struct guild_session *session, struct guild_entry *entry,
                    int pipes[PIPES][2])
{
    (void)setsid();
    int high[PIPES]; /* moved out of the way first: each may have the number that another gets */
    for (int i = 0; i < PIPES; i++) {
        high[i] = fcntl(pipes[i][1], F_DUPFD_CLOEXEC, FD_ROOM);
    }
    (void)dup2(high[0], STDOUT_FILENO);
    (void)dup2(high[1], STDERR_FILENO);
    (void)dup3(high[2], TOLD_FD, O_CLOEXEC);
    /* Pipes of other starters must not stay open here: their end tells the command that a starter is gone. */
    (void)close_range(FIRST_OTHER_FD, UINT_MAX, 0);
    const struct guild_start start = {
        .home = session->flags.home,
        .gpus = entry->run.gpus == NULL ? session->flags.gpus : NULL,
        .devices = entry->devices,
        .guild = session->flags.guild,
        .alone = session->flags.wait_for_running,
        .told = TOLD_FD,
    };
    const struct guild_told last = guild_start_run(&entry->run, &start, &entry->arena);
    _exit(last.kind == GUILD_TOLD_ENDED ? last.value : EXIT_WEIR_FAILED);
}

static void pipes_close(int pipes[PIPES][2], int end)
{
    for (int i = 0; i < PIPES; i++) {
        if (pipes[i][end] >= 0) {
            (void)close(pipes[i][end]);
        }
    }
}

enum err guild_runner_send(struct guild_session *session, struct guild_entry *entry,
                           struct error *e)
{
    int pipes[PIPES][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    int number = 0;
    entry->devices =
        guild_devices_take(&session->flags.devices, &entry->run.needs, entry->order, &entry->arena);
    for (int i = 0; i < PIPES && number == 0; i++) {
        number = pipe2(pipes[i], O_CLOEXEC) == 0 ? 0 : errno;
    }
    const pid_t pid = number != 0 ? -1 : fork();
    if (pid == 0) {
        starter(session, entry, pipes);
    }
    number = number != 0 || pid > 0 ? number : errno;
    pipes_close(pipes, 1);
    if (number != 0) {
        pipes_close(pipes, 0);
        return fail_errno(e, ERR_IO, number, "cannot start a process");
    }
    entry->pid = pid;
    entry->streams[0] = pipes[0][0];
    entry->streams[1] = pipes[1][0];
    entry->told = pipes[2][0];
    return ERR_OK;
}

bool guild_runner_await(const struct guild_entry *entry)
{
    struct pollfd fd = {.fd = entry->told, .events = POLLIN};
    return entry->run.why_guild == NULL && poll(&fd, 1, AWAIT_MS) == 1;
}

void guild_runner_output(struct guild_entry *entry, int stream)
{
    char chunk[CHUNK_BYTES];
    int *fd = &entry->streams[stream];
    const ssize_t n = read(*fd, chunk, sizeof chunk);
    if (n > 0) {
        guild_screen_output(entry->order, stream, (struct str){chunk, (size_t)n});
    } else if (n == 0 || errno != EINTR) {
        (void)close(*fd);
        *fd = -1;
    }
}

void guild_runner_rest(struct guild_entry *entry)
{
    for (int stream = 0; stream < 2; stream++) {
        struct pollfd fd = {.fd = entry->streams[stream], .events = POLLIN};
        while (fd.fd >= 0 && poll(&fd, 1, 0) == 1) {
            guild_runner_output(entry, stream);
            fd.fd = entry->streams[stream];
        }
    }
}

void guild_runner_done(struct guild_entry *entry)
{
    int *const fds[] = {&entry->streams[0], &entry->streams[1], &entry->told};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0) {
            (void)close(*fds[i]);
            *fds[i] = -1;
        }
    }
    if (entry->pid > 0) {
        (void)waitpid(entry->pid, NULL, 0);
        entry->pid = 0;
    }
}
