/* watch.c - see watch.h. A new connection counts as a change, so that no change of the time
 * without a connection is missed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/watch.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/must.h"
#include "io/http_client.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { BURST_MS = 250, AGAIN_MS = 30000, IDLE_MS = 45000 };

struct cli_watch {
    const struct login *login;
    char query[128];
    pthread_t thread;
    int changed; /* eventfd, readable after a change */
    volatile int stop;
    uint64_t after; /* the last fact seen; used by the thread only */
    bool fresh;     /* no line has come on this connection yet; used by the thread only */
};

static void changed_say(struct cli_watch *watch)
{
    uint64_t one = 1;
    ssize_t n = write(watch->changed, &one, sizeof one);
    must(n == (ssize_t)sizeof one || errno == EAGAIN);
}

static bool on_line(void *ctx, struct str line)
{
    struct cli_watch *watch = ctx;
    struct str value;
    struct str key = str_cut(line, ':', &value);
    if (watch->fresh) {
        watch->fresh = false;
        changed_say(watch);
    }
    if (value.p == NULL) {
        return watch->stop == 0;
    }
    if (str_is(key, "id")) {
        (void)str_to_u64(str_trim(value), &watch->after);
    } else if (str_is(key, "event")) {
        changed_say(watch);
    }
    return watch->stop == 0;
}

static void pause_briefly(void)
{
    struct timespec wait = {.tv_nsec = BURST_MS * 1000000L};
    (void)nanosleep(&wait, NULL);
}

static void *follow(void *ctx)
{
    struct cli_watch *watch = ctx;
    struct http_client *client = login_client(watch->login);
    struct arena arena;
    arena_init(&arena);
    while (watch->stop == 0) {
        char path[256];
        char after[40] = "";
        if (watch->after > 0) {
            (void)snprintf(after, sizeof after, "&after=%llu", (unsigned long long)watch->after);
        }
        (void)snprintf(path, sizeof path, "/api/v1/events?%s%s", watch->query, after);
        struct http_stream_call call = {
            .call = {.method = "GET", .path = path, .retry_ms = AGAIN_MS},
            .idle_ms = IDLE_MS,
            .on_line = on_line,
            .ctx = watch,
            .stop = &watch->stop,
        };
        struct http_reply reply;
        watch->fresh = true;
        /* The result is ignored: a caller that fetches the state will report that the server
         * cannot be reached. */
        (void)(http_client_stream(client, &call, &arena, &reply, NULL) == ERR_OK);
        arena_clear(&arena);
        if (watch->stop == 0) {
            pause_briefly();
        }
    }
    arena_done(&arena);
    http_client_free(client);
    return NULL;
}

struct cli_watch *watch_start(const struct login *login, const char *query)
{
    struct cli_watch *watch = xcalloc(1, sizeof *watch);
    watch->login = login;
    (void)str_copy(watch->query, sizeof watch->query, query == NULL ? "" : query);
    watch->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    must(watch->changed >= 0);
    /* Only the main thread handles signals. */
    sigset_t all;
    sigset_t old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&watch->thread, NULL, follow, watch);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    must(failed == 0);
    return watch;
}

void watch_free(struct cli_watch *watch)
{
    watch->stop = 1;
    (void)pthread_join(watch->thread, NULL);
    (void)close(watch->changed);
    free(watch);
}

bool watch_wait(struct cli_watch *watch, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = watch->changed, .events = POLLIN};
    if (poll(&poll_fd, 1, timeout_ms) <= 0) {
        return false;
    }
    pause_briefly();
    uint64_t count;
    (void)!read(watch->changed, &count, sizeof count);
    return true;
}

struct watch_seen {
    struct map *forms; /* id -> hash of the object's text, as a pointer that is never NULL */
};

struct watch_seen *watch_seen_new(void)
{
    struct watch_seen *seen = xcalloc(1, sizeof *seen);
    seen->forms = map_new();
    return seen;
}

void watch_seen_free(struct watch_seen *seen)
{
    map_free(seen->forms);
    free(seen);
}

bool watch_seen_changed(struct watch_seen *seen, const char *id, struct str form)
{
    uintptr_t hash = (uintptr_t)(hash_bytes(form.p, form.len) | 1);
    void *was = map_put(seen->forms, id, strlen(id), (void *)hash);
    return was != (void *)hash;
}
