/* spawner.h - a few threads that start programs, so that the supervisor's loop never waits for a
 * start.
 *
 * A start takes until the child has executed its program. On a busy node the child first waits for
 * a processor, so a loop that waited could start only one task a turn. The threads live as long as
 * the supervisor, because the kernel kills a child when the thread that made it ends.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/spawn.h"
#include "base/arena.h"
#include "base/fail.h"
#include "io/loop.h"

struct spawner;

/* One start, from spawner_job_new() until the callback has returned false. */
struct spawn_job {
    struct arena arena; /* holds everything that the order points to */
    struct spawn_order order;
    void *ctx;  /* belongs to the caller */
    bool visit; /* starts a program inside an attempt (door.c); else it starts the attempt itself */
    struct spawn_result result;
    /* 0: no child yet. The kernel sets the pid before the child can end. Read by spawner_find(). */
    pid_t pid;
    struct spawn_job *next;
    struct spawn_job **link; /* the pointer that points to this job in the list of jobs under way */
};

/* Called on the loop's thread after each start. True: the callback changed the order; try the start
 * again. */
typedef bool (*spawner_done_fn)(struct spawn_job *job);

must_use enum err spawner_new(struct loop *loop, spawner_done_fn done, struct spawner **ret,
                              struct error *e);

/* No start may be under way. NULL is allowed. */
void spawner_free(struct spawner *spawner);

struct spawn_job *spawner_job_new(void *ctx);

/* The job belongs to the spawner until the callback has returned false. */
void spawner_start(struct spawner *spawner, struct spawn_job *job);

/* The job under way whose child is `pid`, or NULL. */
struct spawn_job *spawner_find(const struct spawner *spawner, pid_t pid);
