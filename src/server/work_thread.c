/* work_thread.c - see work_thread.h. The pieces of work that are out are counted, so the mailbox
 * back always has room. SPDX-License-Identifier: Apache-2.0 */
#include "server/work_thread.h"

#include "base/mem.h"
#include "io/mailbox.h"

#include <pthread.h>
#include <sys/epoll.h>

struct work_thread {
    pthread_t thread;
    struct store_reader *reader;
    struct mailbox *in;
    struct mailbox *out;
    struct loop_fd *watch;
    size_t works_out;
};

static void *thread_main(void *ctx)
{
    struct work_thread *thread = ctx;
    struct work *work;
    while ((work = mailbox_wait(thread->in)) != NULL) {
        work->run(work, thread->reader);
        must(mailbox_send_reserved(thread->out, work));
    }
    return NULL;
}

static void works_back(void *ctx, uint32_t events)
{
    struct work_thread *thread = ctx;
    (void)events;
    struct work *work;
    while ((work = mailbox_take(thread->out)) != NULL) {
        must(thread->works_out > 0);
        thread->works_out--;
        work->done(work);
    }
}

static void thread_free(struct work_thread *thread)
{
    loop_fd_remove(thread->watch);
    mailbox_free(thread->in);
    mailbox_free(thread->out);
    store_reader_close(thread->reader);
    free(thread);
}

enum err work_thread_start(struct loop *loop, const char *dir, struct work_thread **ret,
                           struct error *e)
{
    struct store_reader *reader = NULL;
    if (dir != NULL && store_reader_open(dir, &reader, e) != ERR_OK) {
        return fail_in(e, "reader");
    }
    struct work_thread *thread = xcalloc(1, sizeof *thread);
    thread->reader = reader;
    thread->in = mailbox_new((size_t)2 * WORK_WAITING_MAX);
    thread->out = mailbox_new((size_t)2 * WORK_WAITING_MAX);
    thread->watch = loop_fd_add(loop, mailbox_fd(thread->out), EPOLLIN, works_back, thread);
    int failed = pthread_create(&thread->thread, NULL, thread_main, thread);
    if (failed != 0) {
        thread_free(thread);
        return fail_errno(e, ERR_IO, failed, "thread");
    }
    *ret = thread;
    return ERR_OK;
}

bool work_thread_do(struct work_thread *thread, struct work *work)
{
    if (thread->works_out >= WORK_WAITING_MAX || !mailbox_send_reserved(thread->in, work)) {
        return false;
    }
    thread->works_out++;
    return true;
}

void work_thread_stop(struct work_thread *thread)
{
    if (thread == NULL) {
        return;
    }
    mailbox_close(thread->in);
    must(pthread_join(thread->thread, NULL) == 0);
    works_back(thread, EPOLLIN);
    thread_free(thread);
}
