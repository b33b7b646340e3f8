/* box_keep.c - see box_keep.h.
 *
 *   weir box ─┬─▶ the task's program, or its container
 *             └── waits; every few seconds it asks for snapshots; at the end it sends the results
 *
 * The program's process group gets the supervisor's signals, so this process only remembers that one came.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/box_keep.h"

#include "agent/box_buckets.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_S = 3 };

static int64_t now_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec + 1;
}

/* The signals that this process waits for, in place of being ended by them. */
static void signals_hold(sigset_t *ret_held, sigset_t *ret_old)
{
    static const int held[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    (void)sigemptyset(ret_held);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        (void)sigaddset(ret_held, held[i]);
    }
    (void)sigprocmask(SIG_BLOCK, ret_held, ret_old);
}

static _Noreturn void program_child(struct box *box, const sigset_t *old)
{
    struct error e;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)sigprocmask(SIG_SETMASK, old, NULL);
    const int code = box_program(box, &e);
    if (code >= 0) {
        (void)fprintf(stderr, "weir: task: %s\n", e.text);
    }
    (void)fflush(stderr);
    _exit(code < 0 ? -code - 1 : code);
}

/* Waits for the child. *ret_killed: somebody asked the task to end. */
static int child_wait(pid_t child, const sigset_t *held, struct box_buckets *buckets,
                      bool *ret_killed)
{
    const struct timespec pause = {.tv_sec = LOOK_S};
    int status = 0;
    while (waitpid(child, &status, WNOHANG) != child) {
        const int signal = sigtimedwait(held, NULL, &pause);
        *ret_killed = *ret_killed || signal == SIGTERM || signal == SIGINT;
        if (signal < 0 && errno == EAGAIN && box_buckets_watched(buckets)) {
            box_buckets_look(buckets, now_s());
        }
    }
    return box_code_of(status);
}

int box_keep_run(struct box *box, const struct attempt_key *key, struct error *e)
{
    struct box_buckets *buckets = NULL;
    bool killed = false;
    int code = BOX_EXIT_FAILED;
    sigset_t held;
    sigset_t old;
    if (box_buckets_open(box, key, &buckets, e) != ERR_OK) {
        return code;
    }
    enum err r = box_buckets_fetch(buckets, e);
    if (r == ERR_OK) {
        signals_hold(&held, &old);
        const pid_t child = fork();
        if (child == 0) {
            program_child(box, &old);
        }
        r = child < 0 ? fail_errno(e, ERR_IO, errno, "cannot start the program") : ERR_OK;
        if (r == ERR_OK) {
            code = -1 - child_wait(child, &held, buckets, &killed);
            r = box_buckets_results(buckets, killed, e);
        }
    }
    if (r != ERR_OK) {
        box_buckets_failed(buckets, e);
        code = BOX_EXIT_FAILED;
    }
    box_buckets_close(buckets);
    return code;
}
