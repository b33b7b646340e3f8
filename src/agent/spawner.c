/* spawner.c - see spawner.h. Jobs go to the threads and come back through mailboxes. The list of
 * jobs under way belongs to the loop's thread alone. SPDX-License-Identifier: Apache-2.0 */
#include "agent/spawner.h"

#include "agent/limits.h"
#include "base/mem.h"
#include "io/mailbox.h"

#include <pthread.h>
#include <sys/epoll.h>

enum { SPAWNER_THREADS = 2 };

struct spawner {
    struct mailbox *jobs;
    struct mailbox *done;
    struct loop_fd *watch;
    spawner_done_fn done_fn;
    struct spawn_job *under_way;
    pthread_t threads[SPAWNER_THREADS];
    size_t thread_count;
};

static void *run(void *ctx)
{
    struct spawner *spawner = ctx;
    struct spawn_stack *stack = spawn_stack_new();
    struct spawn_job *job;
    while ((job = mailbox_wait(spawner->jobs)) != NULL) {
        job->result = spawn_start(&job->order, stack, &job->pid);
        must(mailbox_send_reserved(spawner->done, job));
    }
    spawn_stack_free(stack);
    return NULL;
}

static void job_free(struct spawn_job *job)
{
    arena_done(&job->arena);
    free(job);
}

static void some_done(void *ctx, uint32_t events)
{
    (void)events;
    struct spawner *spawner = ctx;
    struct spawn_job *job;
    while ((job = mailbox_take(spawner->done)) != NULL) {
        *job->link = job->next;
        if (job->next != NULL) {
            job->next->link = job->link;
        }
        if (spawner->done_fn(job)) {
            job->pid = 0;
            spawner_start(spawner, job);
        } else {
            job_free(job);
        }
    }
}

must_use enum err spawner_new(struct loop *loop, spawner_done_fn done, struct spawner **ret,
                              struct error *e)
{
    struct spawner *spawner = xcalloc(1, sizeof *spawner);
    spawner->done_fn = done;
    /* The mailbox is never full: no more starts are under way than attempts may be open. */
    spawner->jobs = mailbox_new(2 * ATTEMPTS_MAX);
    spawner->done = mailbox_new(2 * ATTEMPTS_MAX);
    spawner->watch = loop_fd_add(loop, mailbox_fd(spawner->done), EPOLLIN, some_done, spawner);
    for (; spawner->thread_count < SPAWNER_THREADS; spawner->thread_count++) {
        int failed = pthread_create(&spawner->threads[spawner->thread_count], NULL, run, spawner);
        if (failed != 0) {
            spawner_free(spawner);
            return fail_errno(e, ERR_IO, failed, "cannot start a thread");
        }
    }
    *ret = spawner;
    return ERR_OK;
}

void spawner_free(struct spawner *spawner)
{
    if (spawner == NULL) {
        return;
    }
    must(spawner->under_way == NULL);
    mailbox_close(spawner->jobs);
    for (size_t i = 0; i < spawner->thread_count; i++) {
        must(pthread_join(spawner->threads[i], NULL) == 0);
    }
    loop_fd_remove(spawner->watch);
    mailbox_free(spawner->jobs);
    mailbox_free(spawner->done);
    free(spawner);
}

struct spawn_job *spawner_job_new(void *ctx)
{
    struct spawn_job *job = xcalloc(1, sizeof *job);
    arena_init(&job->arena);
    job->ctx = ctx;
    return job;
}

void spawner_start(struct spawner *spawner, struct spawn_job *job)
{
    job->next = spawner->under_way;
    job->link = &spawner->under_way;
    if (job->next != NULL) {
        job->next->link = &job->next;
    }
    spawner->under_way = job;
    must(mailbox_send_reserved(spawner->jobs, job));
}

struct spawn_job *spawner_find(const struct spawner *spawner, pid_t pid)
{
    struct spawn_job *job = spawner->under_way;
    while (job != NULL && __atomic_load_n(&job->pid, __ATOMIC_ACQUIRE) != pid) {
        job = job->next;
    }
    return job;
}
