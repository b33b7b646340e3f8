/* box_confine.c - see box_confine.h.
 *
 *   weir box ──▶ first process of the view ──▶ the task's program
 *                ends the view when the program has ended
 *
 * The pids of both, as the node names them, stand in D/box/ATTEMPT/inside. The first process cannot be reached by the program: it has
 * rights over the view that the program lacks. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_confine.h"

#include "agent/box_view.h"
#include "agent/confine.h"
#include "base/inert.h"
#include "base/must.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PID_TEXT_MAX = 16, INSIDE_TEXT_MAX = 64 };

static const char *inside_path(struct arena *arena, const char *dir, const char *name)
{
    return arena_fmt(arena, "%s/box/%s/inside", dir, name);
}

/* Adds the pid of this process to the file, as the node's /proc names the process. */
static bool inside_add(int inside, int proc)
{
    char text[PID_TEXT_MAX + 1];
    const ssize_t len = readlinkat(proc, "self", text, PID_TEXT_MAX);
    if (len <= 0) {
        return false;
    }
    text[len] = '\n';
    return write(inside, text, (size_t)len + 1) == len + 1;
}

static _Noreturn void program_process(struct box *box, box_confine_fn program, int inside, int proc)
{
    struct error e;
    int code = BOX_EXIT_FAILED;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!inside_add(inside, proc)) {
        (void)fail_errno(&e, ERR_IO, errno, "cannot note the task's process");
    } else if (close(proc) == 0 && confine_domain(box->start.confine, &e) == ERR_OK) {
        code = program(box, &e);
    }
    inert_print_error("task", &e);
    (void)fflush(stderr);
    _exit(code);
}

/* The first process of the view. Processes whose parent has ended become its children. */
static _Noreturn void first_process(struct box *box, box_confine_fn program, int inside)
{
    const struct confine_view view = {.hidden = box->start.hidden,
                                      .keep = {box->start.job_dir, box_view_pool_dir(box)}};
    struct error e;
    int proc;
    int status = 0;
    pid_t ended;
    if (confine_mounts(&view, &box->arena, &proc, &e) != ERR_OK) {
        inert_print_error("task", &e);
        _exit(BOX_EXIT_FAILED);
    }
    const pid_t child = inside_add(inside, proc) ? fork() : -1;
    if (child == 0) {
        program_process(box, program, inside, proc);
    }
    (void)close(proc);
    do {
        ended = child < 0 ? -1 : waitpid(-1, &status, 0);
    } while (ended > 0 ? ended != child : child > 0 && errno == EINTR);
    _exit(ended > 0 ? box_code_of(status) : BOX_EXIT_FAILED);
}

/* Waits for a child and returns what box_program() returns for its end. */
static int child_wait(pid_t child, struct error *e)
{
    int status = 0;
    box_signals_leave();
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            (void)fail_errno(e, ERR_IO, errno, "the task's process is lost");
            return BOX_EXIT_FAILED;
        }
    }
    return -1 - box_code_of(status);
}

int box_confine_run(struct box *box, box_confine_fn program, struct error *e)
{
    int child;
    if ((box->start.confine & CONFINE_VIEW) == 0) {
        return confine_domain(box->start.confine, e) == ERR_OK ? program(box, e) : BOX_EXIT_FAILED;
    }
    const char *path = inside_path(&box->arena, box->dir, box->name);
    const int inside = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (inside < 0) {
        (void)fail_errno(e, ERR_IO, errno, "cannot make '%s'", path);
        return BOX_EXIT_FAILED;
    }
    if (confine_user(e) != ERR_OK || confine_fork(&child, e) != ERR_OK) {
        return BOX_EXIT_FAILED;
    }
    if (child == 0) {
        first_process(box, program, inside);
    }
    (void)close(inside);
    return child_wait((pid_t)child, e);
}

/* ---- joining ---- */

/* Reads the pids of the first process and of the program; 0: not known (yet). */
static void inside_read(const char *path, int *ret_first, int *ret_program)
{
    char text[INSIDE_TEXT_MAX];
    struct str rest;
    uint64_t first = 0;
    uint64_t program = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t len = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) {
        (void)close(fd);
    }
    text[len > 0 ? len : 0] = '\0';
    if (!str_to_u64(str_cut(str_of(text), '\n', &rest), &first) || rest.p == NULL ||
        !str_to_u64(str_cut(rest, '\n', &rest), &program)) {
        program = 0;
    }
    *ret_first = (int)first;
    *ret_program = (int)program;
}

int box_confine_pid(const char *dir, const struct attempt_key *key)
{
    char name[BOX_NAME_MAX];
    struct arena arena;
    int first;
    int program;
    arena_init(&arena);
    box_files_name(key, name);
    inside_read(inside_path(&arena, dir, name), &first, &program);
    arena_done(&arena);
    return program;
}

/* Enters the namespaces of the first process. The next child is in its namespace of processes. */
static must_use enum err view_enter(struct box *box, struct error *e)
{
    static const char *const names[] = {"user", "ipc", "pid", "mnt"};
    enum { NAMES = sizeof names / sizeof names[0] };
    int fds[NAMES];
    int first;
    int program;
    inside_read(inside_path(&box->arena, box->dir, box->name), &first, &program);
    if (program == 0) {
        return fail(e, ERR_CONFLICT, "the task's program has not begun");
    }
    for (size_t i = 0; i < NAMES; i++) {
        const char *path = arena_fmt(&box->arena, "/proc/%d/ns/%s", first, names[i]);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0) {
            return fail_errno(e, ERR_IO, errno, "cannot open '%s'", path);
        }
    }
    for (size_t i = 0; i < NAMES; i++) {
        if (setns(fds[i], 0) != 0) {
            return fail_errno(e, ERR_IO, errno, "cannot enter the task's view");
        }
    }
    return ERR_OK;
}

static int role_execute(struct box *box, char **argv, struct error *e)
{
    const struct box_start *start = &box->start;
    if (chdir(start->job_dir) != 0) {
        (void)fail_errno(e, ERR_IO, errno, "cannot enter the job directory");
        return BOX_EXIT_FAILED;
    }
    if (start->workdir[0] != '\0') {
        (void)!chdir(start->workdir); /* else the program is in the job directory, as the task is */
    }
    if (confine_domain(start->confine, e) == ERR_OK) {
        argv[-1] = arena_str(&box->arena, "weir");
        (void)execve("/proc/self/exe", argv - 1, (char *const *)(uintptr_t)start->env);
        (void)fail_errno(e, ERR_IO, errno, "cannot start '%s'", argv[0]);
    }
    return BOX_EXIT_FAILED;
}

int box_confine_enter(struct box *box, char **argv, struct error *e)
{
    if (box_files_start_get(box->dir, box->name, &box->arena, &box->start, e) != ERR_OK) {
        return BOX_EXIT_FAILED;
    }
    if ((box->start.confine & CONFINE_VIEW) == 0) {
        return role_execute(box, argv, e);
    }
    if (view_enter(box, e) != ERR_OK) {
        return BOX_EXIT_FAILED;
    }
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        return role_execute(box, argv, e);
    }
    if (child < 0) {
        (void)fail_errno(e, ERR_IO, errno, "cannot start a process");
        return BOX_EXIT_FAILED;
    }
    const int code = child_wait(child, e);
    if (code < 0) {
        /* Ends at once: this process sees the /proc of the task, where the leak check of a sanitizer looks for this
         * process without an end. */
        _exit(-code - 1);
    }
    return code;
}
