/* task.h - the rows of tasks and instances. A task leaves its table when it is archived; instance
 * rows of one task lie next to each other: instance i of a task is row instance_first + i.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stdint.h>

enum task_state {
    TASK_STAGED,
    TASK_PENDING,
    TASK_PAUSED,
    TASK_STARTING,
    TASK_RUNNING,
    TASK_STOPPING,
    TASK_COMPLETED,
    TASK_FAILED,
    TASK_KILLED,
    TASK_UNAVAILABLE,
    TASK_UNKNOWN,
};
enum { TASK_STATE_COUNT = TASK_UNKNOWN + 1 };

bool task_state_ended(enum task_state state); /* completed, failed, killed, unknown */

/* Why a task or attempt ended, waits again or was stopped; shown with the state. */
enum end_cause {
    END_NONE,
    END_EXIT,   /* by itself: exit code or signal */
    END_KILLED, /* asked by a user */
    END_TIME_LIMIT,
    END_PREEMPTED,
    END_NODE_LOST,  /* silent too long, rebooted, or its supervisor died */
    END_SPAWN,      /* the program could not be started (code: errno) */
    END_DEPENDENCY, /* what it depended on failed */
    END_NODE_REMOVED,
    END_GANG,   /* another instance of the gang broke */
    END_PAUSED, /* by its user */
    END_MOVED,  /* by its user, to another pool */
};
enum { END_CAUSE_COUNT = END_MOVED + 1 };

/* What a requeue after a node fault takes off the rank: such tasks come first in their priority, in
 * order of submission among themselves. */
#define RANK_FRONT ((int64_t)1 << 62)

/* What a gang lacks of its minimum: nothing; nothing, but a group of it that is not needed has begun and lacks some; some. */
enum gang_lack { LACKS_NOTHING, LACKS_OF_A_GROUP, LACKS_OF_ALL };

struct task {
    task_id id; /* 0: no row here */
    uint64_t instance_first;
    uint32_t instance_count;
    uint32_t array_first;
    uint32_t min_count; /* of a gang: the instances without which it does not run */
    pool_id pool;
    pool_id pool_next;  /* where it goes once its instances have left; 0: nowhere */
    account_id account; /* its project */
    user_id user;
    shape_id shape; /* its request and gang form, shared with equal tasks */
    uint32_t priority;
    uint32_t max_retries;
    int64_t rank; /* order in the pool: priority desc, rank asc, id asc. Submission = fact number;
                     requeue after a fault: less by RANK_FRONT, once;
                     a move: another task's */
    int64_t submitted_ms;
    int64_t queued_ms;  /* last time it became pending */
    int64_t started_ms; /* first attempt's start, 0 before */
    int64_t ended_ms;
    int64_t running_ms;       /* since when something of it runs, 0: nothing does */
    int64_t ran_ms;           /* how long something of it ran before that */
    int64_t evicted_ms;       /* the last time it was told to make room, 0: never */
    int64_t stale_ms;         /* since when a gang has been below its minimum, 0: it is not */
    int64_t stale_grace_ms;   /* how long it may be, where it has a grace of its own */
    int64_t preempt_delay_ms; /* how long it waits before it may take, where that is its own */
    int64_t time_limit_ms;
    int64_t
        expect_ms; /* how long a run is expected to take, as known when it was queued; 0: unknown */
    uint64_t name_hash; /* of its name without numbers; 0: it has none */
    int64_t grace_ms;
    uint32_t waiting_count;  /* instances that want a place */
    uint32_t waiting_from;   /* the lowest waiting index; instance_count: none waits */
    uint32_t claimed_count;  /* of the waiting ones: those that are promised a place */
    uint32_t moving_count;   /* of the stopping ones: the same */
    uint32_t active_count;   /* instances with an allocation */
    uint32_t starting_count; /* of the active ones */
    uint32_t stopping_count; /* of the active ones */
    uint32_t ended_count;
    uint32_t failed_count;  /* of the ended ones: for good, by their own fault */
    uint32_t unknown_count; /* of the ended ones: lost, and not to be repeated */
    uint32_t retries;       /* of a gang as a whole; other instances count their own */
    uint32_t depends_left;  /* dependencies that still bind it */
    uint32_t lost_count;
    uint32_t preempted_count;
    int32_t exit_code; /* of the lowest-numbered failed instance; 128 + n for signals */
    uint32_t kill_asked;
    uint8_t state; /* enum task_state */
    uint8_t kind;
    uint8_t gang;
    uint8_t preemptible;
    uint8_t repeatable;
    uint8_t cause;       /* enum end_cause: why it ended, or why it is pending again */
    uint8_t queued;      /* it stands in its pool's queue (query_queue_next) */
    uint8_t pause_asked; /* it is paused, or will be once its instances have left */
    uint8_t own_stale_grace;
    uint8_t own_preempt_delay;
    uint8_t expect_from;  /* enum length_source */
    uint8_t by_length;    /* it stands in the queue by its expected length */
    uint8_t reserved;     /* it is among its pool's reservations */
    uint8_t by_groups;    /* its minimum is that of its groups, of which not all is needed */
    uint8_t lacks;        /* of such a one: enum gang_lack */
    uint64_t depends_met; /* bit i: the i-th dependency of the spec no longer binds it */
    struct blob *spec; /* encoded task_spec: argv, env, names, tags; see spec_codec_task_decode() */
};

enum instance_state {
    INSTANCE_WAITING,
    INSTANCE_STARTING, /* allocated; the agent has not said it runs */
    INSTANCE_RUNNING,
    INSTANCE_STOPPING, /* told to end */
    INSTANCE_ENDED,
};

struct instance {
    task_id task; /* 0: no row here */
    uint32_t index;
    uint32_t attempt;     /* the newest, 0 before the first */
    node_id node;         /* of the newest attempt, 0 before the first */
    uint32_t incarnation; /* of the node, at allocation */
    uint64_t devices;     /* bits of the devices it holds */
    int64_t slots_milli;  /* what it holds; the named part is the shape's */
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t allocated_ms;
    int64_t started_ms;
    int64_t checkpoint_ms; /* what it had done then is saved; 0: this attempt has saved nothing */
    int64_t ended_ms;
    int64_t stop_deadline_ms;
    uint32_t retries;
    int32_t exit_code;
    uint8_t state; /* enum instance_state */
    uint8_t cause; /* enum end_cause of the last end, or of the stop under way */
    uint8_t
        workdir_missed; /* its newest attempt runs in the job directory, not where it was asked to */
    uint8_t pad[5];
};

/* May the task be promised places: it waits in the queue, or will do so when it has stopped? */
bool task_keeps_claims(const struct task *task);

/* The number of instances that start together: a gang's minimum, or 1. */
uint32_t task_gang_size(const struct task *task);

/* One of a gang has failed for good, or is lost and not to be repeated: all of it ends. */
bool task_gang_doomed(const struct task *task);

/* May a gang that lost some of its instances be below its minimum for a while? */
bool task_gang_may_wait(const struct task *task);

/* Does a gang have less than its minimum? */
bool task_gang_lacks(const struct task *task);

/* Some of a gang run and stay, but less than its minimum, or than that of a group which has begun. */
bool task_gang_broken(const struct task *task);

/* Instances that run or have done their work. */
uint32_t task_grown(const struct task *task);

/* How much longer than its pool's patience it may be overtaken where short ones go first: a part of its length, and a smaller one
 * where its time limit says how long it is, because that is rarely wrong. */
int64_t task_overtaken_ms(const struct task *task);

/* How far a gang has grown: 0 it has not started, 1 it has just its minimum, 2 more. Others: 0. */
uint32_t task_stage(const struct task *task);

/* The number of instances to place next: what is missing of a gang's minimum, else 1. Where groups have minimums of their own it is
 * 1: see form_chunk(). */
uint32_t task_chunk(const struct task *task);

/* Is it promised places for all it waits for? */
bool task_promised(const struct task *task);
