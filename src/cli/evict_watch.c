/* evict_watch.c - see evict_watch.h. A thread with a connection of its own follows the task's events.
 * The thread connects only after a moment, so that a short task costs no second connection. The
 * thread asks for all events since the submission, so that no eviction is missed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/evict_watch.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/mem.h"
#include "base/must.h"
#include "cli/context.h"
#include "cli/item.h"
#include "cli/task_text.h"
#include "cli/text.h"
#include "io/http_client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 300, AGAIN_MS = 30000, IDLE_MS = 45000, LINE_BYTES_MAX = 2048 };

struct evict_watch {
    const struct login *login;
    uint64_t task;
    struct http_client *client;
    pthread_t thread;
    pthread_mutex_t lock; /* protects `stop` while the thread sleeps */
    pthread_cond_t wake;
    volatile int stop;
    uint64_t after; /* the last event seen; used by the thread only */
    struct arena arena;
};

static void event_say(const struct evict_watch *watch, const struct doc *event)
{
    struct buf raw;
    struct buf shown;
    buf_init(&raw, LINE_BYTES_MAX);
    buf_init(&shown, LINE_BYTES_MAX * 6);
    task_text_evicted(&raw, event, 0);
    text_escape(&shown, (struct str){.p = buf_text(&raw), .len = raw.len});
    /* A line that shows why the task waits may stand on the terminal. */
    (void)fputs(isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", stderr);
    context_say("weir: task %llu was %s; it waits again", (unsigned long long)watch->task,
                buf_text(&shown));
    buf_done(&shown);
    buf_done(&raw);
}

static bool on_line(void *ctx, struct str line)
{
    struct evict_watch *watch = ctx;
    struct str value;
    struct str key = str_cut(line, ':', &value);
    struct doc *doc;
    if (value.p != NULL && str_is(key, "id")) {
        (void)str_to_u64(str_trim(value), &watch->after);
    } else if (value.p != NULL && str_is(key, "data")) {
        arena_clear(&watch->arena);
        if (doc_json_parse(&watch->arena, str_trim(value), &doc, NULL) != ERR_OK) {
            return watch->stop == 0;
        }
        const char *type = item_text(doc, "type");
        if (strcmp(type, "evicted") == 0) {
            event_say(watch, doc);
        } else if (strcmp(type, "task-ended") == 0) {
            watch->stop = 1; /* the end of the task ends the watch without a wait */
        }
    }
    return watch->stop == 0;
}

/* Sleeps for a moment; false: the watch is over. */
static bool sleep_first(struct evict_watch *watch)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += FIRST_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    (void)pthread_mutex_lock(&watch->lock);
    while (watch->stop == 0 && pthread_cond_timedwait(&watch->wake, &watch->lock, &until) == 0) {
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return watch->stop == 0;
}

static void *follow(void *ctx)
{
    struct evict_watch *watch = ctx;
    while (sleep_first(watch)) {
        char path[128];
        (void)snprintf(path, sizeof path, "/api/v1/events?task=%llu&after=%llu",
                       (unsigned long long)watch->task, (unsigned long long)watch->after);
        struct http_stream_call call = {
            .call = {.method = "GET", .path = path, .retry_ms = AGAIN_MS, .stop = &watch->stop},
            .idle_ms = IDLE_MS,
            .on_line = on_line,
            .ctx = watch,
            .stop = &watch->stop,
        };
        struct arena arena;
        struct http_reply reply;
        arena_init(&arena);
        /* The result is ignored: the command that follows the output reports a lost server. */
        (void)(http_client_stream(watch->client, &call, &arena, &reply, NULL) == ERR_OK);
        arena_done(&arena);
    }
    return NULL;
}

struct evict_watch *evict_watch_start(const struct login *login, uint64_t task)
{
    struct evict_watch *watch = xcalloc(1, sizeof *watch);
    watch->login = login;
    watch->task = task;
    watch->client = login_client(login);
    arena_init(&watch->arena);
    (void)pthread_mutex_init(&watch->lock, NULL);
    (void)pthread_cond_init(&watch->wake, NULL);
    sigset_t all;
    sigset_t old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&watch->thread, NULL, follow, watch);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    must(failed == 0);
    return watch;
}

void evict_watch_free(struct evict_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&watch->lock);
    watch->stop = 1;
    (void)pthread_cond_signal(&watch->wake);
    (void)pthread_mutex_unlock(&watch->lock);
    (void)pthread_join(watch->thread, NULL);
    (void)pthread_cond_destroy(&watch->wake);
    (void)pthread_mutex_destroy(&watch->lock);
    http_client_free(watch->client);
    arena_done(&watch->arena);
    free(watch);
}
