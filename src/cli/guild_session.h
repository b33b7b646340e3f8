/* guild_session.h - one `weir guild run-once` or `weir guild watch` at work: its runs, and what is known of them.
 *
 *   NEW ─▶ QUEUED ─▶ WAITING ─▶ TAKING ─▶ RUNNING ─▶ DONE         LEFT: stays staged, and the log says why
 *
 * QUEUED and WAITING runs are still `staged` for Guild: their files are untouched.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "cli/guild_desk.h"
#include "cli/guild_devices.h"
#include "cli/guild_flags.h"
#include "compat/guild/guild_home.h"
#include "compat/guild/guild_run.h"

#include <sys/types.h>

enum guild_stage {
    GUILD_STAGE_NEW,
    GUILD_STAGE_LEFT,
    GUILD_STAGE_QUEUED,  /* announced, and not yet shown to the scheduler */
    GUILD_STAGE_WAITING, /* the scheduler has the run */
    GUILD_STAGE_TAKING,  /* a starter was sent to take the run */
    GUILD_STAGE_RUNNING,
    GUILD_STAGE_DONE,
};

struct guild_entry {
    char id[GUILD_ID_MAX + 1];
    struct arena arena; /* of `run` */
    struct guild_run run;
    enum guild_stage stage;
    uint64_t task;       /* of the desk; 0: none */
    char *said;          /* why the run is left, as last logged; NULL: nothing was logged */
    bool warned;         /* of parts of tags without `=` */
    bool seen;           /* by the scan that goes on */
    bool announced;      /* `Scheduling run …` was logged */
    bool granted;        /* the scheduler has started the run, the starter is not yet sent */
    bool failed;         /* the last starter failed: no other is sent before judge_at_s */
    unsigned failures;   /* how often in a row; the pause doubles with each */
    pid_t pid;           /* of the starter; 0: none */
    int told;            /* read end: what the starter tells; -1: none */
    int streams[2];      /* read ends: what the run writes; -1: none */
    int64_t judge_at_s;  /* when a run that was left is read again */
    uint32_t order;      /* of staging, from 1; never given twice */
    uint64_t remote;     /* the task of the running Weir; 0: none */
    int64_t shown;       /* bytes of output shown so far, of a task */
    const char *devices; /* that the run holds; NULL: none */
};

struct guild_remote; /* guild_remote.h */

struct guild_session {
    struct cli *cli;
    struct guild_flags flags;
    struct guild_desk *desk;
    struct guild_remote *remote;       /* NULL: runs are started here */
    struct map *index;                 /* by id */
    VEC(struct guild_entry *) entries; /* in order of staging among those found together */
    uint32_t orders;                   /* as many were given to entries */
    uint32_t processed;
    bool ended; /* a run has ended since the last look at the home */
    int64_t look_at_ms;
    bool again;   /* a place became free during a pass */
    bool scanned; /* at least once */
    bool idle_said;
};
