/* supervisor_internal.h - the supervisor's parts and the structs that they share. Private to
 * supervisor.c (life), attempt.c (one attempt from start to end), reaper.c (ended children,
 * strays), link.c (connection with the agent), checkpoint.c (checkpoint files).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/box_order.h"
#include "agent/cgroup.h"
#include "agent/cpu_bind.h"
#include "agent/frame.h"
#include "agent/jobdir.h"
#include "agent/keyring.h"
#include "agent/runas.h"
#include "agent/spawner.h"
#include "agent/spool.h"
#include "agent/taskuid.h"
#include "base/map.h"
#include "io/loop.h"

#include <sys/resource.h>

enum { STREAM_COUNT = 2 };

enum attempt_state {
    ATTEMPT_STARTING, /* the attempt's program is being started */
    ATTEMPT_RUNNING,
    ATTEMPT_CLOSING, /* the first process has ended; the processes it left behind are being ended */
    ATTEMPT_ENDED, /* the end is recorded; the key is known until the server has acknowledged it */
};

struct supervisor;

struct attempt_stream {
    struct attempt *attempt;
    int fd; /* our end of the pipe; -1: closed */
    struct loop_fd *watch;
    uint64_t offset; /* bytes recorded so far */
    bool capped;
};

struct attempt {
    struct supervisor *sup;
    struct attempt_key key;
    enum attempt_state state;
    uint64_t instance;
    uint64_t sequence; /* the attempt's number in the order of starts */
    uint64_t output_max;
    pid_t pid;          /* of the first process, which leads the process group */
    int32_t uid_number; /* of sup->uids; -1: the attempt has none */
    bool workdir_used;
    /* the program runs without `weir box`: no container, no limit that `weir box` sets */
    bool plain;
    int64_t started_ms;
    int exit_code;
    uint64_t cpu_ms;
    uint64_t memory_peak;
    uint64_t memory_limit; /* bytes; 0: none */
    uint64_t devices;      /* one bit each */
    struct cpu_hold cpus;  /* the hardware threads that are its own */
    int64_t use_ms;        /* when the use was last looked at; 0: not yet */
    bool out_of_memory;
    bool out_of_disk;
    struct attempt_stream streams[STREAM_COUNT];
    struct cgroup *cgroup;         /* NULL: no cgroup */
    struct tasknet *network;       /* NULL: the node's own */
    struct loop_timer *kill_timer; /* NULL: the attempt was not told to stop */
    int64_t kill_at_ms;
    bool ordered;          /* the server told the attempt to stop */
    int64_t stop_grace_ms; /* STARTING: told to stop with this grace time; -1: not told */
    int64_t leader_end_ms; /* CLOSING: when the first process ended, by the loop's clock */
    bool leader_ended;     /* STARTING: the first process has already ended, with: */
    int leader_status;
    struct rusage leader_use;
    struct spool_position end; /* ENDED: the place behind the attempt's last record */
    struct attempt *ended_next;
    struct attempt *closing_next;
    int spawn_error; /* ENDED without a start: why; 0: the attempt has run, or was lost */
    bool lost;       /* ENDED: the node could not start the attempt, or the node ended during it */
    unsigned entering; /* programs that door.c starts inside the attempt and are not started yet */
    uint16_t port;     /* WEIR_PORT: kept for the attempt on this node; 0: none was free */
    bool stray_seen;   /* a stray of this attempt was found in the current look */
    /* Change time of the checkpoint file that was last counted; 0: no file. */
    int64_t checkpoint_seen_ns;
    int64_t checkpoint_ms; /* time of the last recorded checkpoint; 0: none */
};

/* The connection with the agent; fd -1: no agent is connected. */
struct link {
    int fd;
    struct loop_fd *watch;
    uint32_t events; /* the events that the loop watches for */
    struct buf in;
    struct buf out;
    struct loop_timer *more;    /* due while messages that were read still wait in `in` */
    uint64_t starts;            /* START messages of this connection so far */
    struct spool_position told; /* the last GROWN named this position */
};

struct supervisor {
    struct loop *loop;
    char *dir;
    unsigned char id[SUPERVISOR_ID_LEN];
    char hex[SUPERVISOR_HEX_LEN + 1];
    struct runas_account account;
    struct taskuids *uids; /* NULL: all tasks run as `account` */
    struct rlimit task_files;
    struct box_confine confine;
    struct cpu_bind *cpus; /* NULL: tasks are not bound to processors */
    struct spool *spool;
    struct jobdirs *jobdirs;
    struct cgroups *cgroups; /* NULL: no cgroups on this node */
    struct tasknets *networks;
    uint64_t task_pids;      /* the most processes and threads that one task may have */
    struct disk_watch *disk; /* NULL: tasks have no limit on disk */
    struct spawner *spawner;
    struct keyring *recent;
    struct map *attempts; /* by key: all known attempts */
    struct map *by_pid;   /* running attempts */
    size_t open_count;    /* attempts that are starting, running or closing */
    uint64_t start_count;
    struct attempt *ended_first; /* ended attempts in the order of their ends */
    struct attempt *ended_last;
    struct attempt *closing; /* attempts in state ATTEMPT_CLOSING */
    int null_fd;
    int listen_fd;
    struct loop_fd *listen_watch;
    struct link link;
    struct loop_timer *idle_timer;
    struct loop_timer *stray_timer;
    struct loop_timer *retry_timer;  /* due when the spool could not be written */
    struct loop_timer *look_timer;   /* looks at checkpoint files while an attempt is open */
    size_t look_cursor;              /* where the next round begins in `attempts` */
    struct loop_timer *upkeep_timer; /* the next look at what the supervisor stands on (upkeep.h) */
    int lock_fd;
    ino_t socket_inode;
    struct door *door;
    char trouble[ERROR_TEXT_MAX];     /* why the node is out of service; "": it is in service */
    char spool_error[ERROR_TEXT_MAX]; /* of the last write that failed */
    char start_error[ERROR_TEXT_MAX]; /* of the last start that failed by the node's fault */
    int64_t start_trouble_until_ms;
    bool spool_stuck;
    bool paused; /* the tasks' pipes are not read, because the spool is full or cannot be written */
    bool ending; /* SIGTERM came: end after the last open attempt */
    /* start_count when strays that name no attempt were first seen; 0: no such stray. */
    uint64_t orphan_sequence;
};

/* The wall clock, for the records. */
int64_t supervisor_wall_ms(void);

/* Ends the supervisor where it has nothing to do and the server has every report. False: it goes on. */
bool supervisor_end_idle(struct supervisor *sup);

/* Call after a change that may make the supervisor idle or busy. */
void supervisor_idle_check(struct supervisor *sup);
