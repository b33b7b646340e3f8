/* task.h - the rows of tasks and instances. A task's row is removed when the task is archived. The instance
 * rows of one task lie next to each other: instance i has row instance_first + i.
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

/* is the state completed, failed, killed or unknown? */
bool task_state_ended(enum task_state state);

/* Why a task or an attempt ended, waits again or was stopped. Shown with the task state. */
enum end_cause {
    END_NONE,
    END_EXIT,   /* the program ended by itself, with an exit code or a signal */
    END_KILLED, /* a user asked to kill the task */
    END_TIME_LIMIT,
    END_PREEMPTED,
    END_NODE_LOST,  /* the node was silent too long or rebooted, or its supervisor died */
    END_SPAWN,      /* the program could not be started (code: errno) */
    END_DEPENDENCY, /* a dependency of the task failed */
    END_NODE_REMOVED,
    END_GANG,   /* another instance of the gang failed or was lost */
    END_PAUSED, /* the user paused the task */
    END_MOVED,  /* the user moved the task to another pool */
    END_LOSSES, /* an instance was lost with its node or supervisor as often as max_losses allows */
    END_POOL,   /* the pool was deleted */
    END_MEMORY, /* the attempt used more memory than it holds */
    END_DISK,   /* the attempt used more disk than its node allows a task */
    END_DEVICE, /* a device that the attempt held was lost */
    END_IDLE,   /* the task did nothing, and its pool ends such tasks */
    END_IDLE_PAUSED, /* the task did nothing, and its pool pauses such tasks */
    END_UNHEALTHY,   /* the health check of the instance failed too often in a row */
    END_REPLACED, /* another task has taken the place of the instance, or of the task (rollout.h) */
};
enum { END_CAUSE_COUNT = END_REPLACED + 1 };

/* What the last health check of a running instance found. Unknown: no check has had a result, or
 * the task has no health check. */
enum service_health { SERVICE_UNKNOWN, SERVICE_HEALTHY, SERVICE_UNHEALTHY };
enum { SERVICE_HEALTH_COUNT = SERVICE_UNHEALTHY + 1 };

/* A requeue after a lost node subtracts this number from the task's rank. Requeued tasks come first in their
 * priority, in order of submission among themselves. */
#define RANK_FRONT ((int64_t)1 << 62)

/* What a gang with groups lacks. LACKS_OF_A_GROUP: the gang has its minimum, but a group that is not needed
 * has begun and is below its own minimum. LACKS_OF_ALL: the gang is below its minimum. */
enum gang_lack { LACKS_NOTHING, LACKS_OF_A_GROUP, LACKS_OF_ALL };

struct task {
    task_id id; /* 0: no row here */
    uint64_t instance_first;
    uint32_t instance_count;
    uint32_t array_first;
    /* of a gang: the number of instances without which the gang does not run */
    uint32_t min_count;
    pool_id pool;
    /* the pool to which the task goes once its instances have left their places; 0: none */
    pool_id pool_next;
    account_id account; /* the task's project */
    user_id user;
    shape_id shape;     /* request and form of the task, shared with equal tasks */
    network_id network; /* that the task names (network.h); 0: none */
    task_id
        rollout; /* the number of the rollout (rollout.h) of which the task is a part; 0: none */
    task_id
        origin; /* the first task of those that replaced each other up to this task; 0: it replaced none */
    uint32_t priority;
    uint32_t max_retries;
    uint32_t max_losses;
    uint32_t max_restarts;
    /* place in the queue: tasks are ordered by priority (highest first), rank (lowest first), id. A new task
     * gets the number of its fact as rank. A requeue after a lost node subtracts RANK_FRONT, once. A move
     * gives the task another task's rank */
    int64_t rank;
    int64_t submitted_ms;
    int64_t queued_ms;  /* the last time the task became pending */
    int64_t started_ms; /* start of the first attempt; 0: no attempt has started */
    int64_t ended_ms;
    int64_t running_ms;        /* since when some instance runs; 0: none runs */
    int64_t ran_ms;            /* how long some instance ran before running_ms */
    int64_t cpu_ms;            /* CPU time of all attempts that have ended, together */
    int64_t memory_peak_bytes; /* the largest peak memory of those attempts */
    int64_t evicted_ms;        /* the last time an instance was evicted; 0: never */
    /* how long an attempt of the task is safe from the shares of others: twice as long as the longest attempt
     * ran that such a share took; 0: none did */
    int64_t safe_ms;
    /* the task is not queued before this moment, because an attempt was lost again; 0: the task does not
     * back off */
    int64_t hold_until_ms;
    int64_t stale_ms; /* since when a gang has been below its minimum; 0: it is not */
    /* how long a gang may be below its minimum; or STALE_GRACE_NEVER, STALE_GRACE_POOL */
    int64_t stale_grace_ms;
    /* how long the task waits before it may evict others; or PREEMPTION_DELAY_POOL */
    int64_t preemption_delay_ms;
    int64_t time_limit_ms;
    int64_t restart_delay_ms;
    /* how long a run of the task is expected to take, as known when the task was queued; 0: unknown */
    int64_t expect_ms;
    uint64_t name_hash; /* hash of the task's name without digits; 0: the task has no name */
    uint64_t
        service_hash; /* of a service: hash of its whole name (query_task_service_next()); else 0 */
    int64_t grace_ms;
    uint32_t waiting_count; /* instances that wait for a place */
    uint32_t waiting_from;  /* index of the first waiting instance; instance_count: none waits */
    uint32_t claimed_count; /* of the waiting instances: instances that are promised a place */
    /* of the stopping instances: instances that are promised their next place */
    uint32_t moving_count;
    uint32_t active_count;   /* instances with an allocation */
    uint32_t starting_count; /* of the active instances: instances that are starting */
    uint32_t stopping_count; /* of the active instances: instances that were told to stop */
    uint32_t held_count;     /* instances that a rollout keeps back (rollout.h) */
    uint32_t ended_count;
    /* of the ended instances: instances that failed for good by their own fault */
    uint32_t failed_count;
    /* of the ended instances: instances that were lost and must not be repeated */
    uint32_t unknown_count;
    /* retries of a gang as a whole. Instances of other tasks count their own retries */
    uint32_t retries;
    uint32_t depends_left; /* dependencies that still bind the task */
    uint32_t lost_count;
    /* losses of one instance within LOSSES_WINDOW_MS, when hold_until_ms was set (losses.h) */
    uint32_t losses;
    /* starts in a row of one instance, when hold_until_ms was set; 0: a loss set it (restart.h) */
    uint32_t restarts;
    uint32_t preempted_count;
    /* exit code of the failed instance with the lowest index; 128 + n for signal n */
    int32_t exit_code;
    uint32_t kill_asked;
    uint8_t state; /* enum task_state */
    uint8_t kind;
    uint8_t gang;
    uint8_t preemptible;
    uint8_t repeatable;
    uint8_t cause;       /* enum end_cause: why the task ended, or why it is pending again */
    uint8_t queued;      /* the task stands in its pool's queue (query_queue_next) */
    uint8_t pause_asked; /* the task is paused, or will be paused once its instances have left */
    uint8_t expect_from; /* enum length_source */
    uint8_t by_length;   /* the task's place in the queue depends on its expected length */
    uint8_t reserved;    /* the task has a reservation */
    uint8_t releases;    /* how often the idle budget ended a reservation of the task */
    /* the task is a gang with groups, and some group needs fewer than all of its instances or groups */
    uint8_t by_groups;
    uint8_t lacks; /* enum gang_lack; LACKS_NOTHING unless by_groups */
    /* the task holds places, and a move in the queue put it behind another task */
    uint8_t overtaken;
    uint8_t listed; /* the task names several pools and has a row in `fallbacks` */
    /* the pool was edited and no longer takes the task: its instances do not start, and without active ones it is unavailable */
    uint8_t turned_away;
    uint8_t restart;      /* enum restart, never RESTART_AUTO */
    uint8_t checked;      /* the task has a health check */
    uint64_t depends_met; /* bit i: the i-th dependency of the spec no longer binds the task */
    struct blob *spec; /* encoded task_spec: argv, env, names, tags; see spec_codec_task_decode() */
};

enum instance_state {
    INSTANCE_WAITING,
    INSTANCE_STARTING, /* allocated, and the agent has not reported the start yet */
    INSTANCE_RUNNING,
    INSTANCE_STOPPING, /* told to end */
    INSTANCE_ENDED,
    INSTANCE_HELD, /* a rollout keeps the instance back: it neither waits nor has ended */
};
enum { INSTANCE_STATE_COUNT = INSTANCE_HELD + 1 };

struct instance {
    task_id task; /* 0: no row here */
    uint32_t index;
    uint32_t attempt;     /* the newest attempt; 0: there was none */
    node_id node;         /* the node of the newest attempt; 0: there was none */
    uint32_t incarnation; /* incarnation of the node at the allocation */
    uint64_t devices;     /* the devices that the instance holds, one bit each */
    int64_t slots_milli;  /* what the instance holds. The named amounts are those of the shape */
    int64_t cpu_milli;
    int64_t memory_bytes;
    int64_t allocated_ms;
    int64_t started_ms;
    /* work up to this moment is saved; 0: this attempt has saved nothing */
    int64_t checkpoint_ms;
    int64_t ended_ms;
    int64_t cpu_ms; /* what the newest attempt used, once it has ended and said so; else 0 */
    int64_t memory_peak_bytes; /* likewise */
    int64_t stop_deadline_ms;
    int64_t losses_since_ms; /* the first of the losses that `losses` counts */
    uint32_t retries;
    int32_t exit_code;
    uint8_t state; /* enum instance_state */
    uint8_t cause; /* enum end_cause of the last end, or of the stop under way */
    /* the newest attempt runs in the job directory instead of the directory that the user asked for */
    uint8_t workdir_missed;
    uint8_t health;    /* enum service_health of the newest attempt */
    uint32_t losses;   /* losses within LOSSES_WINDOW_MS (losses.h) */
    uint32_t restarts; /* starts in a row after ends (restart.h) */
    /* the port at which the gang of the newest attempt meets (state/ports.h); 0: none */
    uint32_t master_port;
};

/* May the task be promised places? Yes while the task is queued, and while instances are stopping that will
 * wait again. */
bool task_keeps_claims(const struct task *task);

/* The number of instances that must start together: a gang's minimum, else 1. */
uint32_t task_gang_size(const struct task *task);

/* Must the whole gang end? Yes when an instance failed for good, or was lost and must not be repeated. */
bool task_gang_doomed(const struct task *task);

/* May a gang that lost instances stay below its minimum for a while? */
bool task_gang_may_wait(const struct task *task);

/* Is a gang below its minimum? */
bool task_gang_lacks(const struct task *task);

/* Is a gang broken? Some of its instances stay, and the gang or a group that has begun is below its minimum. */
bool task_gang_broken(const struct task *task);

/* The number of instances that stay or have ended. */
uint32_t task_grown(const struct task *task);

/* How much longer than the pool's patience other tasks may overtake this task, in a pool with order
 * `short-first`. The result is a part of the expected length: half, or an eighth where the task has a time
 * limit, because a task with a limit rarely runs longer than expected. */
int64_t task_overtaken_ms(const struct task *task);

/* How far a gang has grown: 0 below its minimum, 1 at its minimum, 2 above. A task that is no gang: 0. */
uint32_t task_stage(const struct task *task);

/* The number of instances to place next: what a gang lacks of its minimum, else 1. For a gang with by_groups
 * the result is 1, and form_grow_next() says more. */
uint32_t task_chunk(const struct task *task);

/* Is the task promised places for all its waiting instances? A gang counts as promised with its first
 * promise. */
bool task_promised(const struct task *task);
