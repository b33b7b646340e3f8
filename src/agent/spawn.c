/* spawn.c - makes a process, changes to the task's user, executes the program.
 *
 * The child runs in the parent's memory (CLONE_VM) while the parent waits (CLONE_VFORK): a fork of
 * a process with much memory is sixty times slower. So the child may only make system calls. The
 * child must not use libc's setuid family, which would change the parent's threads too. The child
 * has a stack of its own.
 *
 * A supervisor of many tasks has thousands of descriptors. To copy and close them all costs more
 * than the rest of a start. So the child shares the parent's descriptors until it takes a copy of
 * the lowest ones, which are all that the program needs. Most settings that a task inherits are
 * made once in the supervisor (spawn_prepare). Holds (README.md): A1 never uid 0.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/spawn.h"

#include "base/must.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_STACK_BYTES = 64 * 1024, KERNEL_SIGSET_BYTES = 8, NICE_AHEAD = 10, STREAMS = 3 };

/* The nice value of tasks. The supervisor gives itself a better value where it may. Otherwise, with
 * hundreds of short tasks on few cores, each start would wait behind all the tasks. */
static int task_nice;

/* Whether the kernel can copy only the low descriptors of a shared table. */
static bool low_copies;

/* The sanitizers track stacks and functions, and their notes are wrong for code that runs in
 * borrowed memory. */
#define CHILD_CODE __attribute__((no_sanitize("address", "undefined", "thread"), noinline))

struct spawn_child {
    const struct spawn_order *order;
    int streams[STREAMS]; /* become standard input, standard output and standard error */
    /* the child keeps the descriptors below this one; 0: the child has a copy of all descriptors */
    unsigned low_end;
    pid_t parent;
    volatile int error_number;
    const char *volatile step;
    volatile bool workdir_used;
    volatile bool no_cgroup;
    volatile bool no_job_dir;
};

struct spawn_stack {
    char bytes[CHILD_STACK_BYTES] __attribute__((aligned(16)));
    int slots[STREAMS]; /* low descriptors; each is /dev/null while no child starts */
    int idle_fd;
    unsigned low_end; /* the first descriptor above the slots; 0: there are no slots */
};

struct spawn_stack *spawn_stack_new(void)
{
    struct spawn_stack *stack = aligned_alloc(16, sizeof *stack);
    must(stack != NULL);
    stack->idle_fd = low_copies ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
    int highest = stack->idle_fd;
    bool all = stack->idle_fd >= 0;
    for (size_t i = 0; i < STREAMS; i++) {
        stack->slots[i] = all ? fcntl(stack->idle_fd, F_DUPFD_CLOEXEC, STREAMS) : -1;
        all = all && stack->slots[i] >= 0;
        highest = stack->slots[i] > highest ? stack->slots[i] : highest;
    }
    stack->low_end = all ? (unsigned)highest + 1 : 0;
    return stack;
}

void spawn_stack_free(struct spawn_stack *stack)
{
    for (size_t i = 0; i < STREAMS; i++) {
        if (stack->slots[i] >= 0) {
            (void)close(stack->slots[i]);
        }
    }
    if (stack->idle_fd >= 0) {
        (void)close(stack->idle_fd);
    }
    free(stack);
}

/* Puts copies of the child's streams into the stack's slots, whose numbers are low enough for the
 * child to keep. Where a copy fails, the child gets a copy of all descriptors. */
static void slots_fill(const struct spawn_stack *stack, struct spawn_child *child)
{
    child->low_end = stack->low_end;
    for (size_t i = 0; i < STREAMS && child->low_end != 0; i++) {
        if ((unsigned)child->streams[i] < stack->low_end) {
            continue;
        }
        if (dup3(child->streams[i], stack->slots[i], O_CLOEXEC) < 0) {
            child->low_end = 0;
        } else {
            child->streams[i] = stack->slots[i];
        }
    }
}

static void slots_empty(const struct spawn_stack *stack, const struct spawn_child *child)
{
    for (size_t i = 0; i < STREAMS; i++) {
        if (child->streams[i] == stack->slots[i]) {
            (void)dup3(stack->idle_fd, stack->slots[i], O_CLOEXEC);
        }
    }
}

static CHILD_CODE bool failed(struct spawn_child *child, const char *step)
{
    child->error_number = errno;
    child->step = step;
    return false;
}

static CHILD_CODE bool become_user(struct spawn_child *child)
{
    const struct runas_account *account = child->order->account;
    if (!account->switch_user) {
        return true;
    }
    if (syscall(SYS_setgroups, account->group_count, account->groups) != 0 ||
        syscall(SYS_setresgid, account->gid, account->gid, account->gid) != 0 ||
        syscall(SYS_setresuid, account->uid, account->uid, account->uid) != 0) {
        return failed(child, "change user");
    }
    if (syscall(SYS_geteuid) == 0) {
        errno = EPERM;
        return failed(child, "change user");
    }
    return true;
}

/* Enters the cgroups of version 1. A thread that moves itself alone needs no lock of the whole node;
 * the child has one thread, so this is the whole process. */
static CHILD_CODE bool enter_cgroups(struct spawn_child *child)
{
    const struct cgroup_entry *entry = &child->order->entry;
    for (size_t i = 0; i < entry->join_count; i++) {
        if (syscall(SYS_write, entry->join_fds[i], "0", 1) != 1) {
            child->no_cgroup = true;
            return failed(child, "enter the cgroup of");
        }
    }
    return true;
}

static CHILD_CODE void limit_set(unsigned resource, uint64_t value)
{
    struct rlimit limit;
    if (value != 0 && syscall(SYS_prlimit64, 0, resource, NULL, &limit) == 0) {
        limit.rlim_max = limit.rlim_max < value ? limit.rlim_max : value;
        limit.rlim_cur = limit.rlim_max;
        (void)syscall(SYS_prlimit64, 0, resource, &limit, NULL);
    }
}

static CHILD_CODE bool set_up(struct spawn_child *child)
{
    const struct spawn_order *order = child->order;
    if (!enter_cgroups(child)) {
        return false;
    }
    if (order->net_fd >= 0 && syscall(SYS_setns, order->net_fd, CLONE_NEWNET) != 0) {
        return failed(child, "enter the network for");
    }
    /* The child gets a process group and no session. The kernel schedules sessions as units
     * (autogroup); among hundreds of sessions of one short process each, the supervisor would wait
     * milliseconds for every turn. */
    if (syscall(SYS_setpgid, 0, 0) < 0) {
        return failed(child, "make a process group");
    }
    if (child->low_end != 0 &&
        syscall(SYS_close_range, child->low_end, ~0U, CLOSE_RANGE_UNSHARE) != 0) {
        return failed(child, "copy the descriptors for");
    }
    for (int i = 0; i < STREAMS; i++) {
        if (syscall(SYS_dup3, child->streams[i], i, 0) < 0) {
            return failed(child, "set up output");
        }
    }
    (void)syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, order->files, NULL);
    if (order->cpus != NULL) { /* a thread that was switched off meanwhile binds to nothing */
        (void)syscall(SYS_sched_setaffinity, 0, sizeof *order->cpus, order->cpus);
    }
    limit_set(RLIMIT_DATA, order->limits.data_bytes);
    limit_set(RLIMIT_NPROC, order->limits.processes);
    /* Tried as root first, because the user may not be allowed to pass the directory's parents. */
    long in_job_dir = syscall(SYS_chdir, order->job_dir);
    if (!become_user(child)) {
        return false;
    }
    if (in_job_dir != 0 && syscall(SYS_chdir, order->job_dir) != 0) {
        child->no_job_dir = true;
        return failed(child, "enter the job directory");
    }
    child->workdir_used = order->workdir[0] == '\0' || syscall(SYS_chdir, order->workdir) == 0;
    /* Set after the change of user, because that change clears the setting. A parent that is dead
     * already would never send the signal. */
    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 ||
        syscall(SYS_getppid) != child->parent) {
        return failed(child, "tie it to the supervisor");
    }
    return true;
}

static CHILD_CODE void execute(struct spawn_child *child)
{
    const struct spawn_order *order = child->order;
    const uint64_t no_signals = 0;
    (void)syscall(SYS_setpriority, PRIO_PROCESS, 0, task_nice);
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, NULL, KERNEL_SIGSET_BYTES);
    int worst = ENOENT;
    for (const char **path = order->candidates; *path != NULL; path++) {
        (void)syscall(SYS_execve, *path, order->argv + 1, order->env);
        /* A script without an interpreter line: run by the shell, as execvp does. */
        if (errno == ENOEXEC) {
            order->argv[0] = (char *)(uintptr_t) "sh";
            order->argv[1] = (char *)(uintptr_t)*path;
            (void)syscall(SYS_execve, "/bin/sh", order->argv, order->env);
        }
        if (errno != ENOENT && errno != ENOTDIR) {
            worst = errno; /* an error other than "not found" says more to the user */
        }
    }
    errno = worst;
    (void)failed(child, "execute");
}

static CHILD_CODE void child_run(void *arg)
{
    struct spawn_child *child = arg;
    if (set_up(child)) {
        execute(child);
    }
    for (;;) {
        (void)syscall(SYS_exit, 127);
    }
}

#if defined(__x86_64__)
/* Calls clone3 with a function to run on the new stack. libc has no such call, and clone() takes no
 * cgroup to start the process in. */
static long clone_call(struct clone_args *args, void (*run)(void *), void *arg)
{
    long result;
    __asm__ volatile(
        "syscall\n\t"
        "test %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "mov %[arg], %%rdi\n\t"
        "mov %[run], %%rax\n\t"
        "xor %%ebp, %%ebp\n\t" /* ends a backtrace; `run` and `arg` may have been in rbp */
        "call *%%rax\n\t"
        "ud2\n"
        "1:"
        : "=a"(result)
        : "a"((long)SYS_clone3), "D"(args), "S"(sizeof *args), [run] "r"(run), [arg] "r"(arg)
        : "rcx", "r11", "cc", "memory");
    return result;
}
#else
struct trampoline {
    void (*run)(void *);
    void *arg;
};

static CHILD_CODE int trampoline_run(void *arg)
{
    struct trampoline *trampoline = arg;
    trampoline->run(trampoline->arg);
    return 127;
}

static long clone_call(struct clone_args *args, void (*run)(void *), void *arg)
{
    if ((args->flags & CLONE_INTO_CGROUP) != 0) {
        return -EINVAL;
    }
    struct trampoline trampoline = {run, arg};
    char *top = (char *)(uintptr_t)args->stack + args->stack_size;
    int pid = clone(trampoline_run, top, (int)args->flags | SIGCHLD, &trampoline,
                    (pid_t *)(uintptr_t)args->parent_tid);
    return pid < 0 ? -errno : pid;
}
#endif

struct spawn_result spawn_start(const struct spawn_order *order, struct spawn_stack *stack,
                                pid_t *ret_pid)
{
    struct spawn_child child = {.order = order,
                                .streams = {order->null_fd, order->out_fd, order->err_fd},
                                .parent = getpid()};
    slots_fill(stack, &child);
    struct clone_args args = {.flags = (uint64_t)CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID,
                              .exit_signal = SIGCHLD,
                              .parent_tid = (uintptr_t)ret_pid,
                              .stack = (uintptr_t)stack->bytes,
                              .stack_size = sizeof stack->bytes};
    if (order->entry.cgroup_fd >= 0) {
        args.flags |= (unsigned long long)CLONE_INTO_CGROUP;
        args.cgroup = (unsigned)order->entry.cgroup_fd;
    }
    if (child.low_end != 0) {
        args.flags |= (uint64_t)CLONE_FILES;
    }
    long pid = clone_call(&args, child_run, &child);
    slots_empty(stack, &child);
    if (pid < 0) {
        return (struct spawn_result){
            .error_number = (int)-pid, .no_process = true, .step = "make a process for"};
    }
    struct spawn_result result = {.pid = (pid_t)pid, .workdir_used = child.workdir_used};
    if (child.step != NULL) {
        (void)waitpid(result.pid, NULL, 0);
        result = (struct spawn_result){.error_number = child.error_number,
                                       .no_cgroup = child.no_cgroup,
                                       .no_job_dir = child.no_job_dir,
                                       .step = child.step};
    }
    return result;
}

void spawn_prepare(int keep_fd)
{
    for (int i = 1; i <= SIGRTMAX; i++) {
        struct sigaction now;
        if (sigaction(i, NULL, &now) == 0 && now.sa_handler == SIG_IGN) {
            (void)signal(i, SIG_DFL); /* exec resets handlers, but not an ignored signal */
        }
    }
    (void)umask(022);
    task_nice = getpriority(PRIO_PROCESS, 0);
    (void)setpriority(PRIO_PROCESS, 0, task_nice - NICE_AHEAD);
    struct rlimit none = {0, 0};
    must(setrlimit(RLIMIT_CORE, &none) == 0);
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    must(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    low_copies = syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_UNSHARE) == 0;
    const unsigned keep = keep_fd < 3 ? 2 : (unsigned)keep_fd;
    if (keep > 3) {
        (void)syscall(SYS_close_range, 3U, keep - 1, 0);
    }
    (void)syscall(SYS_close_range, keep + 1, ~0U, 0);
    if (keep_fd >= 3) {
        (void)fcntl(keep_fd, F_SETFD, FD_CLOEXEC);
    }
}
