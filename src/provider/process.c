/* process.c - see process.h.
 *
 * The child runs in the parent's memory while the parent waits (CLONE_VM, CLONE_VFORK), as with posix_spawn(), which cannot
 * ask for the parent-death signal. So the child only makes system calls, and no signal handler of the parent may run in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/process.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_STACK_BYTES = 64 * 1024, KERNEL_SIGSET_BYTES = 8, SIGNALS = 64, STREAMS = 3 };

/* The sanitizers' notes about stacks are wrong for code that runs in borrowed memory. */
#define CHILD_CODE __attribute__((no_sanitize("address", "undefined", "thread"), noinline))

struct process_child {
    const struct process_order *order;
    const char *const *paths; /* of the program, tried in this order */
    pid_t parent;
    volatile int number; /* errno of what failed; 0: the program runs */
};

/* Streams, group, directory, signals, and the tie to the parent. False: `number` says what failed. */
static CHILD_CODE bool set_up(struct process_child *child)
{
    static const uint64_t usual[8] = {0}; /* the kernel's struct sigaction with SIG_DFL */
    bool good = syscall(SYS_setpgid, 0, 0) == 0 && syscall(SYS_chdir, "/") == 0;
    for (int i = 0; i < STREAMS; i++) {
        good = good && syscall(SYS_dup3, child->order->fds[i], i, 0) >= 0;
    }
    good = good && syscall(SYS_close_range, STREAMS, ~0U, 0) == 0;
    for (int i = 1; i <= SIGNALS; i++) {
        (void)syscall(SYS_rt_sigaction, i, usual, NULL, KERNEL_SIGSET_BYTES);
    }
    good = good && syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0;
    child->number = good ? 0 : errno;
    if (good && syscall(SYS_getppid) != child->parent) {
        child->number = ESRCH; /* the parent is dead already and would send no signal */
    }
    return child->number == 0;
}

static CHILD_CODE int child_run(void *arg)
{
    struct process_child *child = arg;
    const uint64_t none = 0;
    if (set_up(child)) {
        int worst = ENOENT; /* another error than "not found" says more */
        (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, KERNEL_SIGSET_BYTES);
        for (const char *const *path = child->paths; *path != NULL; path++) {
            (void)syscall(SYS_execve, *path, child->order->argv, child->order->env);
            worst = errno != ENOENT && errno != ENOTDIR ? errno : worst;
        }
        child->number = worst;
    }
    (void)syscall(SYS_exit, 127);
    return 127;
}

/* Where the program may be: its path, or its name in each directory of PATH. */
static const char *const *paths_of(struct arena *arena, const char *name)
{
    const char *path = getenv("PATH");
    struct str rest = str_of(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin");
    const char **paths = arena_new(arena, const char *, rest.len + 2);
    size_t count = 0;
    if (strchr(name, '/') != NULL) {
        paths[count++] = name;
        rest.p = NULL;
    }
    while (rest.p != NULL) {
        const struct str dir = str_cut(rest, ':', &rest);
        if (dir.len > 0 && dir.p[0] == '/') {
            paths[count++] = arena_fmt(arena, "%.*s/%s", (int)dir.len, dir.p, name);
        }
    }
    paths[count] = NULL;
    return paths;
}

int process_start(const struct process_order *order, pid_t *ret_pid)
{
    struct arena arena;
    sigset_t all;
    sigset_t before;
    arena_init(&arena);
    char *stack = aligned_alloc(16, CHILD_STACK_BYTES);
    must(stack != NULL);
    struct process_child child = {
        .order = order, .paths = paths_of(&arena, order->argv[0]), .parent = getpid()};
    (void)sigfillset(&all);
    must(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    const pid_t pid =
        clone(child_run, stack + CHILD_STACK_BYTES, CLONE_VM | CLONE_VFORK | SIGCHLD, &child);
    const int number = pid < 0 ? errno : child.number;
    must(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    if (pid > 0 && number != 0) {
        (void)waitpid(pid, NULL, 0);
    }
    free(stack);
    arena_done(&arena);
    *ret_pid = pid;
    return number;
}
