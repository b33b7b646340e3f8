/* store_thread.h - the thread that owns the store: commits, and the other jobs that only the writer
 * may do. Jobs go in and come back, in order, through mailboxes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/loop.h"
#include "server/batch.h"
#include "server/recover.h"

enum store_job_kind {
    STORE_COMMIT,   /* store the batch */
    STORE_REBUILD,  /* rebuild the core from disk */
    STORE_SNAPSHOT, /* a snapshot was written: record it, drop old facts */
    STORE_PRUNE,    /* one bounded step of retention */
};

/* One job and, when it comes back, its outcome. */
struct store_job {
    enum store_job_kind kind;
    struct batch *batch; /* STORE_COMMIT: belongs to the loop again when the job is back */
    uint64_t seq;        /* STORE_SNAPSHOT */
    int64_t now_ms;      /* STORE_PRUNE */
    enum err err;
    struct error error;
    struct core *core; /* STORE_REBUILD: the new core */
    struct recovered what;
    uint64_t aside;   /* STORE_COMMIT: pieces of output that the store refused */
    bool more;        /* STORE_PRUNE: there is more to remove */
    int64_t spent_us; /* time spent on the store thread */
};

struct store_thread;

/* Takes the store over and closes it at the end. `done` is called on the loop with each job that
 * comes back. */
must_use enum err store_thread_start(struct loop *loop, struct store *store,
                                     void (*done)(void *ctx, struct store_job *job), void *ctx,
                                     struct store_thread **ret, struct error *e);

/* Hands a job over. At most STORE_JOBS_MAX jobs may be out. The job lives until it is back. */
enum { STORE_JOBS_MAX = 8 };
void store_thread_do(struct store_thread *thread, struct store_job *job);

/* Finishes the queued jobs, closes the store, ends the thread. Frees jobs that are not back yet,
 * but not their batches, which belong to the loop. */
void store_thread_stop(struct store_thread *thread);
