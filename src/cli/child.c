/* child.c - see child.h. Uses fork() and not posix_spawn(), because the child must ask for its
 * parent-death signal itself. `weir up` has only a few pages of memory, so that fork() costs
 * nothing.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/child.h"

#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void child_arg(struct child_args *args, const char *word)
{
    must(args->count + 1 < CHILD_ARGS_MAX);
    args->at[args->count++] = word;
}

/* Runs in the child, where only calls that are safe after fork() are allowed. */
static void child_become(pid_t parent, int ready_fd, char *const *argv)
{
    sigset_t none;
    (void)sigemptyset(&none);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
        _exit(1); /* the parent ended before this process asked for the signal */
    }
    (void)setpgid(0, 0);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)fcntl(ready_fd, F_SETFD, 0);
    /* Standard output is reserved for the line that `weir up` prints when it is ready. */
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    (void)execv("/proc/self/exe", argv);
    _exit(127);
}

enum err child_start(struct child *child, const char *role, struct child_args *args,
                     struct arena *arena, struct error *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
    }
    child_arg(args, "--ready-fd");
    child_arg(args, arena_fmt(arena, "%d", ends[1]));
    char **argv = arena_new(arena, char *, args->count + 1);
    for (size_t i = 0; i < args->count; i++) {
        argv[i] = arena_str(arena, args->at[i]);
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        child_become(parent, ends[1], argv);
    }
    int number = errno;
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return fail_errno(e, ERR_IO, number, "cannot start the %s", role);
    }
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    must(pidfd >= 0); /* the child exists: it is not collected yet */
    *child = (struct child){.role = role, .pid = pid, .pidfd = pidfd, .ready = ends[0]};
    return ERR_OK;
}

bool child_ready_read(struct child *child)
{
    ssize_t n =
        read(child->ready, child->line + child->line_len, sizeof child->line - 1 - child->line_len);
    child->line_len += n > 0 ? (size_t)n : 0;
    child->line[child->line_len] = '\0';
    bool whole = memchr(child->line, '\n', child->line_len) != NULL;
    /* A full line, or a last line without an end, means ready. The end of the stream alone means
     * that the child is ending. */
    if (whole || n <= 0) {
        (void)close(child->ready);
        child->ready = -1;
    }
    return whole || (n <= 0 && child->line_len > 0);
}

static void how_text(int status, char *how, size_t size)
{
    if (WIFSIGNALED(status)) {
        (void)snprintf(how, size, "was killed by signal %d (%s)", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    } else {
        (void)snprintf(how, size, "exited with status %d", WEXITSTATUS(status));
    }
}

bool child_ended(struct child *child, char *how, size_t size)
{
    int status;
    if (child->pid == 0 || waitpid(child->pid, &status, WNOHANG) != child->pid) {
        return false;
    }
    how_text(status, how, size);
    (void)close(child->pidfd);
    if (child->ready >= 0) {
        (void)close(child->ready);
    }
    child->pid = 0;
    child->ready = -1;
    return true;
}

void child_stop(struct child *child, int wait_ms)
{
    char how[128];
    if (child->pid == 0) {
        return;
    }
    (void)kill(child->pid, SIGTERM);
    struct pollfd ended = {.fd = child->pidfd, .events = POLLIN};
    int r;
    do {
        r = poll(&ended, 1, wait_ms);
    } while (r < 0 && errno == EINTR);
    if (r == 0) {
        (void)kill(child->pid, SIGKILL);
        (void)poll(&ended, 1, -1);
    }
    (void)child_ended(child, how, sizeof how);
}
