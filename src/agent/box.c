/* box.c - see box.h.
 *
 * The process begins as the node's own account (root, where the agent is root) with an environment that
 * names nothing of the task. It fetches and unpacks, and then either becomes the task's user and executes
 * the program, or gives the program to a container runtime, which starts it as that user. What it tells the
 * user goes to the task's standard error. SPDX-License-Identifier: Apache-2.0 */
#include "agent/box.h"

#include "agent/box_confine.h"
#include "agent/box_image.h"
#include "agent/box_keep.h"
#include "agent/tasknet.h"
#include "agent/box_upload.h"
#include "agent/box_view.h"
#include "agent/taskenv.h"
#include "base/inert.h"
#include "base/mem.h"
#include "base/must.h"
#include "wire/attempt_key.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIGNAL_BASE = 128 };

must_use enum err box_become_user(const struct box_start *start, struct error *e)
{
    if (!start->switch_user) {
        return ERR_OK;
    }
    must(start->uid != 0);
    must(start->gid != 0);
    if (syscall(SYS_setgroups, start->group_count, start->groups) != 0 ||
        syscall(SYS_setresgid, start->gid, start->gid, start->gid) != 0 ||
        syscall(SYS_setresuid, start->uid, start->uid, start->uid) != 0 || geteuid() == 0) {
        return fail_errno(e, ERR_DENIED, errno, "cannot become the task's user");
    }
    /* The change of user has cleared what ends this process with its supervisor. */
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
               ? ERR_OK
               : fail_errno(e, ERR_IO, errno, "cannot become the task's user");
}

must_use enum err box_run(const char *const *argv, int output, struct error *e)
{
    static const char *const env[] = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
        "LC_ALL=C.UTF-8", NULL};
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(output >= 0 ? output : STDERR_FILENO, STDOUT_FILENO);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)execvpe(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)env);
        _exit(BOX_EXIT_NOT_FOUND);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return fail_errno(e, ERR_IO, errno, "cannot run '%s'", argv[0]);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == BOX_EXIT_NOT_FOUND) {
        return fail(e, ERR_NOT_FOUND, "this node has no program '%s'", argv[0]);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ERR_OK
                                                         : fail(e, ERR_IO, "'%s' failed", argv[0]);
}

int box_code_of(int status)
{
    return WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

void box_signals_leave(void)
{
    static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) {
        (void)signal(passed[i], SIG_IGN);
    }
}

/* Limits the memory of the program that this process executes next. */
static void data_limit(const struct box_start *start)
{
    struct rlimit limit;
    if (start->data_bytes != 0 && !MEM_SANITIZED && getrlimit(RLIMIT_DATA, &limit) == 0) {
        limit.rlim_max = limit.rlim_max < start->data_bytes ? limit.rlim_max : start->data_bytes;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_DATA, &limit);
    }
}

/* Executes the task's program as a plain process of the task's user. Returns only on failure. */
static int program_execute(struct box *box, struct error *e)
{
    const struct box_start *start = &box->start;
    char *const *env = (char *const *)(uintptr_t)start->env;
    char *const *argv = (char *const *)(uintptr_t)start->argv;
    const char *path = taskenv_get(env, "PATH");
    const char **candidates = taskenv_candidates(&box->arena, argv[0], path == NULL ? "" : path);
    const bool there = chdir(start->job_dir) == 0;
    if (box_become_user(start, e) != ERR_OK) {
        return BOX_EXIT_FAILED;
    }
    if (!there && chdir(start->job_dir) != 0) {
        (void)fail_errno(e, ERR_IO, errno, "cannot enter the job directory");
        return BOX_EXIT_FAILED;
    }
    if (start->workdir[0] != '\0' && chdir(start->workdir) != 0) {
        (void)fprintf(stderr,
                      "weir: the work directory cannot be entered; running in the job directory\n");
    }
    int worst = ENOENT;
    data_limit(start);
    for (; *candidates != NULL; candidates++) {
        (void)execve(*candidates, argv, env);
        if (errno == ENOEXEC) {
            const char **shell = arena_new(&box->arena, const char *, start->argv_count + 2);
            shell[0] = "sh";
            shell[1] = *candidates;
            for (size_t i = 1; i <= start->argv_count; i++) {
                shell[i + 1] = start->argv[i];
            }
            (void)execve("/bin/sh", (char *const *)(uintptr_t)shell, env);
        }
        worst = errno != ENOENT && errno != ENOTDIR ? errno : worst;
    }
    (void)fail_errno(e, ERR_NOT_FOUND, worst, "cannot execute '%s'", argv[0]);
    return worst == ENOENT ? BOX_EXIT_NOT_FOUND : BOX_EXIT_NOT_EXECUTED;
}

static must_use enum err prepare(struct box *box, struct attempt_key *ret_key, struct error *e)
{
    if (!attempt_key_parse(str_of(box->name), ret_key)) {
        return fail(e, ERR_USAGE, "'%s' is no attempt", box->name);
    }
    box->order = (struct box_order){.upload = "", .image = ""};
    box->view = (struct box_view){.job = "", .pool = "", .buckets = ""};
    enum err r = box_files_start_get(box->dir, box->name, &box->arena, &box->start, e);
    if (r != ERR_OK || !box->start.ordered) {
        return r;
    }
    r = box_files_order_get(box->dir, box->name, &box->arena, &box->order, e);
    r = r == ERR_OK ? box_files_site_get(box->dir, &box->arena, &box->site, e) : r;
    r = r == ERR_OK ? box_view_read(box, e) : r;
    if (r == ERR_OK && box->order.upload[0] != '\0') {
        r = box_upload_take(box, ret_key->task.v, e);
    }
    return r;
}

int box_program(struct box *box, struct error *e)
{
    int home;
    if (box->start.network[0] != '\0' && tasknet_enter(box->start.network, &home, e) != ERR_OK) {
        return BOX_EXIT_FAILED;
    }
    if (box->order.image[0] != '\0') {
        data_limit(&box->start);
        return box_image_run(box, e);
    }
    box_view_name(box, box_view_enter(box));
    return box->start.confine != 0 ? box_confine_run(box, program_execute, e)
                                   : program_execute(box, e);
}

int box_main(int argc, char **argv)
{
    struct error e;
    struct attempt_key key;
    const bool enters = argc > 4 && strcmp(argv[1], "enter") == 0;
    if (argc != 3 && !enters) {
        (void)fprintf(stderr, "weir box: only the supervisor runs this\n");
        return BOX_EXIT_FAILED;
    }
    struct box box = {.dir = argv[enters ? 2 : 1], .name = argv[enters ? 3 : 2]};
    arena_init(&box.arena);
    int code = BOX_EXIT_FAILED;
    if (enters) {
        code = box_confine_enter(&box, argv + 4, &e);
    } else if (prepare(&box, &key, &e) == ERR_OK) {
        code = box.view.buckets[0] != '\0' ? box_keep_run(&box, &key, &e) : box_program(&box, &e);
    }
    if (code < 0) {
        code = -code - 1; /* the program has ended with this code */
    } else {
        inert_print_error("task", &e);
    }
    arena_done(&box.arena);
    return code;
}
