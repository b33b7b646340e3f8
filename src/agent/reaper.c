/* reaper.c - ended children, and the processes that tasks left behind.
 *
 * The supervisor is a subreaper: a process below it that loses its parent becomes the
 * supervisor's child. So a stray is either in the attempt's cgroup or, without cgroups, a child
 * of the supervisor that leads no attempt. A stray whose environment names no attempt is ended
 * when all attempts that ran when the stray was first seen have ended.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/reaper.h"

#include "agent/attempt.h"
#include "agent/strays.h"
#include "agent/supervisor_internal.h"
#include "base/mem.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

/* The pid of the next child that ended, without reaping the child; 0: no child has ended. */
static pid_t ended_peek(void)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        return 0;
    }
    return info.si_pid;
}

static void child_reap(struct supervisor *sup, pid_t pid)
{
    struct attempt *attempt = map_get(sup->by_pid, &pid, sizeof pid);
    const struct spawn_job *job = attempt == NULL ? spawner_find(sup->spawner, pid) : NULL;
    if (attempt != NULL || job != NULL) {
        /* Until its leader is reaped, the process group's number cannot belong to another group. */
        (void)kill(-pid, SIGKILL);
    }
    int status = 0;
    struct rusage use;
    if (wait4(pid, &status, 0, &use) != pid) {
        return;
    }
    if (attempt != NULL) {
        reaper_leader_ended(sup, attempt, status, &use);
    } else if (job != NULL &&
               !job->visit) { /* the child ended before its spawner reported the start */
        struct attempt *starting = job->ctx;
        starting->leader_ended = true;
        starting->leader_status = status;
        starting->leader_use = use;
    }
}

void reaper_leader_ended(struct supervisor *sup, struct attempt *attempt, int status,
                         const struct rusage *use)
{
    attempt_leader_ended(attempt, status, use);
    if (attempt->cgroup != NULL && cgroup_populated(sup->cgroups, attempt->cgroup)) {
        cgroup_kill(sup->cgroups, attempt->cgroup);
    }
    attempt->closing_next = sup->closing;
    sup->closing = attempt;
}

/* The lowest start number among the running attempts. */
static uint64_t sequence_oldest(const struct supervisor *sup)
{
    uint64_t oldest = UINT64_MAX;
    size_t cursor = 0;
    for (const struct attempt *attempt = map_next(sup->by_pid, &cursor); attempt != NULL;
         attempt = map_next(sup->by_pid, &cursor)) {
        oldest = attempt->sequence < oldest ? attempt->sequence : oldest;
    }
    return oldest;
}

struct reaper_look {
    bool unowned; /* a stray names no attempt */
    bool dying;   /* a stray is just ending; its children may still become ours */
};

/* Decides what to do with a child that leads no attempt. */
static void stray_judge(struct supervisor *sup, pid_t pid, struct reaper_look *look)
{
    struct attempt_key key;
    if (strays_owner(pid, sup->hex, &key)) {
        struct attempt *owner = map_get(sup->attempts, &key, sizeof key);
        if (owner != NULL && owner->state <= ATTEMPT_RUNNING) {
            return; /* a running attempt may have daemons */
        }
        (void)kill(pid, SIGKILL);
        if (owner != NULL) {
            owner->stray_seen = true;
        }
        return;
    }
    if (strays_dying(pid)) {
        look->dying = true;
        return;
    }
    look->unowned = true;
    if (sup->orphan_sequence == 0) {
        sup->orphan_sequence = sup->start_count;
    }
    if (sequence_oldest(sup) > sup->orphan_sequence) {
        (void)kill(pid, SIGKILL);
    }
}

/* Without cgroups: ends the strays among our children and marks their attempts. True: look again
 * before any attempt is finished. */
static bool strays_look(struct supervisor *sup)
{
    auto_free(freep) pid_t *children = xcalloc(ORPHANS_MAX, sizeof *children);
    size_t count = strays_children(children, ORPHANS_MAX);
    struct reaper_look look = {0};
    for (size_t i = 0; i < count; i++) {
        if (map_get(sup->by_pid, &children[i], sizeof children[i]) == NULL) {
            stray_judge(sup, children[i], &look);
        }
    }
    if (!look.unowned) {
        sup->orphan_sequence = 0;
    }
    return look.dying;
}

/* Finishes the closing attempts that have no process left. The other closing attempts stay for
 * another look. */
static void closing_look(struct supervisor *sup, bool dying)
{
    struct attempt *left = NULL;
    struct attempt *next;
    for (struct attempt *attempt = sup->closing; attempt != NULL; attempt = next) {
        next = attempt->closing_next;
        const bool populated =
            attempt->cgroup != NULL && cgroup_populated(sup->cgroups, attempt->cgroup);
        const bool strays = attempt->cgroup != NULL ? populated : attempt->stray_seen || dying;
        attempt->stray_seen = false;
        if (populated && cgroup_mode(sup->cgroups) == CGROUP_MODE_V1) {
            cgroup_kill(sup->cgroups, attempt->cgroup);
        }
        if (strays || attempt->entering > 0 || sup->spool_stuck || !attempt_finish(attempt)) {
            attempt->closing_next = left;
            left = attempt;
        }
    }
    sup->closing = left;
}

static bool any_without_cgroup(const struct supervisor *sup)
{
    const struct attempt *attempt = sup->closing;
    while (attempt != NULL && attempt->cgroup != NULL) {
        attempt = attempt->closing_next;
    }
    return attempt != NULL;
}

void reaper_run(struct supervisor *sup)
{
    for (pid_t pid = ended_peek(); pid > 0; pid = ended_peek()) {
        child_reap(sup, pid);
    }
    if (sup->closing == NULL) {
        return;
    }
    closing_look(sup, any_without_cgroup(sup) && strays_look(sup));
    if (sup->closing != NULL) {
        loop_timer_set(sup->stray_timer, loop_now_ms(sup->loop) + STRAY_ROUND_MS);
    }
}
