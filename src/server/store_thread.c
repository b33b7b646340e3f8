/* store_thread.c - see store_thread.h. The mailboxes have room for every job that can be out, so
 * sending never fails. SPDX-License-Identifier: Apache-2.0 */
#include "server/store_thread.h"

#include "io/mailbox.h"
#include "server/commit_apart.h"

#include <pthread.h>
#include <sys/epoll.h>

struct store_thread {
    pthread_t thread;
    struct store *store;
    struct mailbox *in;
    struct mailbox *out;
    struct loop_fd *watch;
    unsigned jobs_out;
    void (*done)(void *ctx, struct store_job *job);
    void *ctx;
};

static int64_t clock_us(void)
{
    struct timespec now;
    must(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void job_run(struct store_thread *thread, struct store_job *job)
{
    int64_t started_us = clock_us();
    switch (job->kind) {
    case STORE_COMMIT: {
        struct store_batch batch = batch_for_store(job->batch);
        job->err = commit_apart(thread->store, &batch, &job->aside, &job->error);
        break;
    }
    case STORE_REBUILD:
        job->err = recover_core(thread->store, &job->core, &job->what, &job->error);
        break;
    case STORE_SNAPSHOT:
        job->err = store_prune_snapshot_taken(thread->store, job->seq, &job->error);
        break;
    case STORE_PRUNE:
        job->err = store_prune(thread->store, job->now_ms, &job->more, &job->error);
        break;
    }
    job->spent_us = clock_us() - started_us;
}

/* Moves a grown write-ahead log between batches, when no commit waits. */
static void tend(struct store_thread *thread)
{
    struct error e;
    if (mailbox_count(thread->in) == 0) {
        enum err r = store_commit_tend(thread->store, &e);
        (void)r; /* a failing disk shows at the next commit, which reports the failure */
    }
}

static void *thread_main(void *ctx)
{
    struct store_thread *thread = ctx;
    struct store_job *job;
    while ((job = mailbox_wait(thread->in)) != NULL) {
        job_run(thread, job);
        must(mailbox_send_reserved(thread->out, job));
        tend(thread);
    }
    return NULL;
}

static void jobs_back(void *ctx, uint32_t events)
{
    struct store_thread *thread = ctx;
    (void)events;
    struct store_job *job;
    while ((job = mailbox_take(thread->out)) != NULL) {
        must(thread->jobs_out > 0);
        thread->jobs_out--;
        thread->done(thread->ctx, job);
    }
}

enum err store_thread_start(struct loop *loop, struct store *store,
                            void (*done)(void *ctx, struct store_job *job), void *ctx,
                            struct store_thread **ret, struct error *e)
{
    struct store_thread *thread = xcalloc(1, sizeof *thread);
    thread->store = store;
    thread->done = done;
    thread->ctx = ctx;
    thread->in = mailbox_new((size_t)2 * STORE_JOBS_MAX);
    thread->out = mailbox_new((size_t)2 * STORE_JOBS_MAX);
    thread->watch = loop_fd_add(loop, mailbox_fd(thread->out), EPOLLIN, jobs_back, thread);
    int failed = pthread_create(&thread->thread, NULL, thread_main, thread);
    if (failed != 0) {
        loop_fd_remove(thread->watch);
        mailbox_free(thread->in);
        mailbox_free(thread->out);
        free(thread);
        return fail_errno(e, ERR_IO, failed, "store thread");
    }
    *ret = thread;
    return ERR_OK;
}

void store_thread_do(struct store_thread *thread, struct store_job *job)
{
    must(thread->jobs_out < STORE_JOBS_MAX);
    thread->jobs_out++;
    job->err = ERR_OK;
    must(mailbox_send_reserved(thread->in, job));
}

void store_thread_stop(struct store_thread *thread)
{
    if (thread == NULL) {
        return;
    }
    mailbox_close(thread->in);
    must(pthread_join(thread->thread, NULL) == 0);
    loop_fd_remove(thread->watch);
    struct store_job *job;
    while ((job = mailbox_take(thread->out)) != NULL) {
        core_free(job->core);
        free(job);
    }
    mailbox_free(thread->in);
    mailbox_free(thread->out);
    store_close(thread->store);
    free(thread);
}
