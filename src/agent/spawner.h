/* spawner.h - a few threads that start programs, so that the supervisor's loop never waits for one.
 *
 * A start takes until the child has executed its program: on a busy node that is the child's turn on a
 * processor, and a loop that waited for it would start one task a turn. The threads live as long as the
 * supervisor: the kernel ties a child to the thread that made it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/spawn.h"
#include "base/arena.h"
#include "base/fail.h"
#include "io/loop.h"

struct spawner;

/* One start, from spawner_job_new() until the callback has returned false. */
struct spawn_job {
    struct arena arena; /* everything the order points to */
    struct spawn_order order;
    void *ctx; /* the caller's */
    struct spawn_result result;
    pid_t
        pid; /* set by the kernel before the child can end; 0: none yet. Read with spawner_find() */
    struct spawn_job *next;
    struct spawn_job **link; /* who points to it, while it is under way */
};

/* Called on the loop's thread after each start. True: the order was changed, try it again. */
typedef bool (*spawner_done_fn)(struct spawn_job *job);

must_use enum err spawner_new(struct loop *loop, spawner_done_fn done, struct spawner **ret,
                              struct error *e);

/* No start may be under way. NULL is fine. */
void spawner_free(struct spawner *spawner);

struct spawn_job *spawner_job_new(void *ctx);

/* The job is the spawner's until the callback has returned. */
void spawner_start(struct spawner *spawner, struct spawn_job *job);

/* The start under way whose child is `pid`, or NULL. */
struct spawn_job *spawner_find(const struct spawner *spawner, pid_t pid);
