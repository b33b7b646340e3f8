/* guild_start.h - takes one staged run, starts it, and records it to its end, in the calling process.
 *
 *   lock ─▶ still staged? ─▶ LOCK, attributes ─▶ child: unlink STAGED, exec ─▶ unlock ─▶ output ─▶ exit_status, stopped
 *
 * The child itself removes STAGED, directly before exec: there is no moment at which the run is neither staged nor running. The marker
 * PENDING is never used, because nothing turns a pending run back into a staged run when its starter is gone.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "compat/guild/guild_run.h"

#include <sys/types.h>

enum guild_told_kind {
    GUILD_TOLD_STARTED = 'S', /* the run is taken; the value is the process */
    GUILD_TOLD_GONE = 'G',    /* the run was not staged any more: nothing was done */
    GUILD_TOLD_BUSY = 'B',    /* nothing was done, because other runs run; the text names them */
    GUILD_TOLD_FAILED =
        'F', /* the run could not be started and stays staged; the value is an enum err */
    GUILD_TOLD_ENDED = 'E', /* the value is the exit code, 0 to 255 */
};

/* What a starter tells. It is written whole: it is shorter than PIPE_BUF. */
struct guild_told {
    enum guild_told_kind kind;
    int32_t value;
    char text[ERROR_TEXT_MAX];
};

/* What a starter shares with its guard: the only memory that both have. */
struct guild_shared {
    struct guild_told said; /* the last thing told; kind 0: nothing yet */
    pid_t child;            /* the process that is, or becomes, the run; 0: none yet */
};

struct guild_start {
    const char *home;
    const char *gpus; /* devices for a run that chose none; NULL: as staged */
    const char
        *devices;      /* devices for a run whose staged environment names none; NULL: as staged */
    const char *guild; /* the program `guild`; NULL: found by the run's command or on PATH */
    bool alone;        /* the run does not start beside other runs */
    struct guild_shared
        *shared; /* what the starter shares with its guard; NULL: there is no guard */
    int told;    /* where a struct guild_told is written for each step; -1: nowhere */
};

/* Returns the last thing told: gone, failed or ended. Standard output and standard error of the run are passed on. SIGTERM, SIGINT and
 * SIGHUP are handed to the run; they must be blocked. */
struct guild_told guild_start_run(const struct guild_run *run, const struct guild_start *start,
                                  struct arena *arena);

/* For guild_guard.c: tells something; records the end of a run (not `record`: Guild has done so) and tells it. */
struct guild_told guild_start_tell(const struct guild_start *start, struct guild_told told);
struct guild_told guild_start_ended(const struct guild_run *run, const struct guild_start *start,
                                    int status, bool record, struct arena *arena);
