/* supervisor_internal.h - the supervisor's parts and what they share. Private to its files: supervisor.c
 * (life), attempt.c (one attempt from start to end), reaper.c (children that ended, strays),
 * link.c (the agent), checkpoint.c (what tasks have saved). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/cgroup.h"
#include "agent/frame.h"
#include "agent/jobdir.h"
#include "agent/keyring.h"
#include "agent/runas.h"
#include "agent/spawner.h"
#include "agent/spool.h"
#include "base/map.h"
#include "io/loop.h"

#include <sys/resource.h>

enum { STREAM_COUNT = 2 };

enum attempt_state {
    ATTEMPT_STARTING, /* its program is being started */
    ATTEMPT_RUNNING,
    ATTEMPT_CLOSING, /* its first process has ended; what it left behind is being ended */
    ATTEMPT_ENDED,   /* recorded; known until the server has acknowledged it */
};

struct supervisor;

struct attempt_stream {
    struct attempt *attempt;
    int fd; /* -1: closed */
    struct loop_fd *watch;
    uint64_t offset; /* bytes recorded */
    bool capped;
};

struct attempt {
    struct supervisor *sup;
    struct attempt_key key;
    enum attempt_state state;
    uint64_t instance;
    uint64_t sequence; /* counts starts */
    uint64_t output_max;
    pid_t pid; /* group leader */
    bool workdir_used;
    int64_t started_ms;
    int exit_code;
    uint64_t cpu_ms;
    uint64_t memory_peak;
    struct attempt_stream streams[STREAM_COUNT];
    struct cgroup *cgroup;         /* NULL: none */
    struct loop_timer *kill_timer; /* NULL: not asked to stop */
    int64_t kill_at_ms;
    int64_t stop_grace_ms; /* STARTING: asked to stop with this grace; -1: not asked */
    bool leader_ended;     /* STARTING: its first process has ended already, so: */
    int leader_status;
    struct rusage leader_use;
    struct spool_position end; /* ENDED: behind its last record */
    struct attempt *ended_next;
    struct attempt *closing_next;
    bool stray_seen;            /* in this look */
    int64_t checkpoint_seen_ns; /* the stamp of its checkpoint file, as far as it counts; 0: none */
    int64_t checkpoint_ms;      /* the last one recorded; 0: none */
};

/* The connection with the agent; fd -1: none. */
struct link {
    int fd;
    struct loop_fd *watch;
    uint32_t events; /* what is watched */
    struct buf in;
    struct buf out;
    struct loop_timer *more;    /* messages that came with others still wait in `in` */
    uint64_t starts;            /* START messages of this connection */
    struct spool_position told; /* GROWN said up to here */
};

struct supervisor {
    struct loop *loop;
    char *dir;
    unsigned char id[SUPERVISOR_ID_LEN];
    char hex[SUPERVISOR_HEX_LEN + 1];
    struct runas_account account;
    struct rlimit task_files;
    struct spool *spool;
    struct jobdirs *jobdirs;
    struct cgroups *cgroups; /* NULL: no cgroups here */
    struct spawner *spawner;
    struct keyring *recent;
    struct map *attempts; /* by key: all known */
    struct map *by_pid;   /* running ones */
    size_t open_count;    /* starting, running and closing */
    uint64_t start_count;
    struct attempt *ended_first; /* in order of their ends */
    struct attempt *ended_last;
    struct attempt *closing; /* their first process has ended */
    int null_fd;
    int listen_fd;
    struct loop_fd *listen_watch;
    struct link link;
    struct loop_timer *idle_timer;
    struct loop_timer *stray_timer;
    struct loop_timer *retry_timer; /* the spool could not be written */
    struct loop_timer *look_timer;  /* at checkpoints, while something runs */
    size_t look_cursor;             /* among the attempts */
    bool spool_stuck;
    bool paused;              /* the tasks' pipes are not read: the spool is full */
    bool ending;              /* SIGTERM: end when the last attempt has */
    uint64_t orphan_sequence; /* strays nobody owns up to were first seen at this count of starts */
};

/* Wall clock, for the records. */
int64_t supervisor_wall_ms(void);

/* Something changed that may make the supervisor idle or busy. */
void supervisor_idle_check(struct supervisor *sup);
