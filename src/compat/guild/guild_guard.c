/* guild_guard.c - see guild_guard.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "compat/guild/guild_guard.h"

#include "compat/guild/guild_attrs.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_pump.h"
#include "io/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct guild_told told_failed(const struct guild_start *start, const char *text)
{
    struct guild_told told = {.kind = GUILD_TOLD_FAILED};
    (void)str_copy(told.text, sizeof told.text, text);
    return guild_start_tell(start, told);
}

/* Waits for the starter, and hands signals on to it. Returns the status of waitpid(). */
static int starter_wait(pid_t pid)
{
    int status = 0;
    sigset_t set;
    signals_ending(&set);
    const int signals = signalfd(-1, &set, SFD_CLOEXEC);
    const int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    while (waitpid(pid, &status, WNOHANG) == 0) {
        struct pollfd fds[] = {{.fd = signals, .events = POLLIN}, {.fd = pidfd, .events = POLLIN}};
        struct signalfd_siginfo info;
        if (poll(fds, 2, -1) > 0 && fds[0].revents != 0 &&
            read(signals, &info, sizeof info) == (ssize_t)sizeof info) {
            (void)kill(pid, (int)info.ssi_signo);
        }
    }
    (void)close(signals);
    (void)close(pidfd);
    return status;
}

/* True when the process is ours to wait for. A process that the run has left in the background is ours, too, but it is not the run. */
static bool is_child(pid_t pid)
{
    siginfo_t info;
    return pid > 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* The starter was killed. Its child either waits at its gate and ends without having done anything, or is the run. */
static struct guild_told take_over(const struct guild_run *run, const struct guild_start *start,
                                   const struct guild_shared *shared, int streams[2][2],
                                   bool records, struct arena *arena)
{
    const struct guild_told *said = &shared->said;
    struct guild_process process = {
        .pid = shared->child,
        .streams = {streams[0][0], streams[1][0]},
        .records = records,
        .goes_on = true,
    };
    if (said->kind != 0 && said->kind != GUILD_TOLD_STARTED) {
        return *said;
    }
    if (!is_child(process.pid)) {
        return told_failed(start, "the process that starts it was killed");
    }
    process.pidfd = (int)syscall(SYS_pidfd_open, process.pid, 0);
    const int status = guild_pump_run(run, &process, arena);
    if (guild_home_status(arena, run->dir) == GUILD_STAGED) {
        return told_failed(start, "the process that starts it was killed");
    }
    if (said->kind != GUILD_TOLD_STARTED) {
        (void)guild_start_tell(start, (struct guild_told){.kind = GUILD_TOLD_STARTED});
    }
    return guild_start_ended(run, start, status, records, arena);
}

struct guild_told guild_guard_run(const struct guild_run *run, const struct guild_start *start,
                                  guild_starter_fn starter, bool records, struct arena *arena)
{
    int streams[2][2];
    struct guild_shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe2(streams[0], O_CLOEXEC) != 0 ||
        pipe2(streams[1], O_CLOEXEC) != 0) {
        return told_failed(start, "no pipe or memory for a process can be had");
    }
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    struct guild_start its = *start;
    its.shared = shared;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)prctl(PR_SET_NAME, "guild-starter", 0, 0, 0);
        (void)starter(run, &its, streams, arena);
        _exit(0);
    }
    (void)prctl(PR_SET_NAME, "guild-guard", 0, 0, 0);
    (void)close(streams[0][1]);
    (void)close(streams[1][1]);
    if (pid < 0) {
        return told_failed(start, "no process can be started");
    }
    const int status = starter_wait(pid);
    if (WIFEXITED(status)) {
        return shared->said;
    }
    guild_attrs_draft_remove(arena, run->dir, pid);
    return take_over(run, start, shared, streams, records, arena);
}
