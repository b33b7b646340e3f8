/* store_thread.h - the thread that owns the store: commits, and the few other things only the
 * writer may do. Jobs go in and come back, in order, through mailboxes.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/loop.h"
#include "server/batch.h"
#include "server/recover.h"

enum store_job_kind {
    STORE_COMMIT,   /* the batch */
    STORE_REBUILD,  /* read the core again from the disk */
    STORE_SNAPSHOT, /* a snapshot was written: record it, drop old facts */
    STORE_PRUNE,    /* retention, one bounded step */
};

/* One thing to do and, when it comes back, how it went. */
struct store_job {
    enum store_job_kind kind;
    struct batch *batch; /* STORE_COMMIT: the loop's again when it is back */
    uint64_t seq;        /* STORE_SNAPSHOT */
    int64_t now_ms;      /* STORE_PRUNE */
    enum err err;
    struct error error;
    struct core *core; /* STORE_REBUILD: the new one */
    struct recovered what;
    bool more;        /* STORE_PRUNE: there is more to do */
    int64_t spent_us; /* on the store thread */
};

struct store_thread;

/* Takes the store over (closes it at the end). `done` is called on the loop with each job that
 * comes back. */
must_use enum err store_thread_start(struct loop *loop, struct store *store,
                                     void (*done)(void *ctx, struct store_job *job), void *ctx,
                                     struct store_thread **ret, struct error *e);

/* Hand a job over; at most STORE_JOBS_MAX may be out. The job lives until it is back. */
enum { STORE_JOBS_MAX = 8 };
void store_thread_do(struct store_thread *thread, struct store_job *job);

/* Finishes what is queued, closes the store, ends the thread. Jobs not yet back are freed (batches are
 * the loop's). */
void store_thread_stop(struct store_thread *thread);
