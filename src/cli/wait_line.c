/* wait_line.c - see wait_line.h. A thread with a connection of its own asks the server, so that
 * the thread that follows the output is never delayed by this line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/wait_line.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/mem.h"
#include "base/must.h"
#include "cli/text.h"
#include "cli/item.h"
#include "io/http_client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 300, NEXT_MS = 1000, CALL_MS = 5000, AGAIN_MS = 200, LINE_MAX_BYTES = 2048 };

struct wait_line {
    const struct login *login;
    uint64_t task;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below and the line on the terminal */
    pthread_cond_t wake;
    bool over;
    bool shown;
};

static void line_erase(struct wait_line *line)
{
    if (line->shown) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        line->shown = false;
    }
}

static void line_show(struct wait_line *line, const struct doc *task)
{
    struct winsize size = {0};
    size_t width =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    struct buf raw;
    struct buf shown;
    buf_init(&raw, LINE_MAX_BYTES);
    buf_init(&shown, LINE_MAX_BYTES);
    int64_t position = item_number(task, "position", 0);
    buf_addf(&raw, "task %llu %s", (unsigned long long)line->task, item_text(task, "state"));
    if (position > 0) {
        buf_addf(&raw, ", place %lld", (long long)position);
    }
    const char *why = item_text(task, "reason.message");
    buf_addf(&raw, "%s%s", why[0] == '\0' ? "" : ": ", why);
    text_escape(&shown, (struct str){.p = buf_text(&raw), .len = raw.len});
    struct str text = {.p = buf_text(&shown), .len = shown.len};
    (void)fprintf(stderr, "\r\033[K%.*s", (int)text_fit(text, width - 1), text.p);
    (void)fflush(stderr);
    line->shown = true;
    buf_done(&shown);
    buf_done(&raw);
}

/* Sleeps, unless the line is over. The caller holds the lock. */
static void line_sleep(struct wait_line *line, int ms)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(ms % 1000) * 1000000L;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    if (!line->over) {
        (void)pthread_cond_timedwait(&line->wake, &line->lock, &until);
    }
}

static bool waits(const struct doc *task)
{
    const char *state = item_text(task, "state");
    return strcmp(state, "pending") == 0 || strcmp(state, "staged") == 0 ||
           strcmp(state, "paused") == 0;
}

static void *look(void *ctx)
{
    struct wait_line *line = ctx;
    struct http_client *client = login_client(line->login);
    struct arena arena;
    arena_init(&arena);
    char path[64];
    (void)snprintf(path, sizeof path, "/api/v1/tasks/%llu", (unsigned long long)line->task);
    struct http_call call = {
        .method = "GET", .path = path, .timeout_ms = CALL_MS, .retry_ms = AGAIN_MS};
    (void)pthread_mutex_lock(&line->lock);
    line_sleep(line, FIRST_MS);
    while (!line->over) {
        (void)pthread_mutex_unlock(&line->lock);
        struct http_reply reply;
        struct doc *doc = NULL;
        arena_clear(&arena);
        bool well = http_client_call(client, &call, &arena, &reply, NULL) == ERR_OK &&
                    reply.status == 200 && doc_json_parse(&arena, reply.body, &doc, NULL) == ERR_OK;
        (void)pthread_mutex_lock(&line->lock);
        if (well && !waits(doc)) {
            line_erase(line);
            break;
        }
        if (well && !line->over) {
            line_show(line, doc);
        }
        line_sleep(line, NEXT_MS);
    }
    (void)pthread_mutex_unlock(&line->lock);
    arena_done(&arena);
    http_client_free(client);
    return NULL;
}

struct wait_line *wait_line_start(const struct login *login, uint64_t task)
{
    struct wait_line *line = xcalloc(1, sizeof *line);
    line->login = login;
    line->task = task;
    (void)pthread_mutex_init(&line->lock, NULL);
    (void)pthread_cond_init(&line->wake, NULL);
    sigset_t all;
    sigset_t old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&line->thread, NULL, look, line);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    must(failed == 0);
    return line;
}

void wait_line_clear(struct wait_line *line)
{
    (void)pthread_mutex_lock(&line->lock);
    line->over = true;
    line_erase(line);
    (void)pthread_cond_signal(&line->wake);
    (void)pthread_mutex_unlock(&line->lock);
}

void wait_line_free(struct wait_line *line)
{
    if (line == NULL) {
        return;
    }
    wait_line_clear(line);
    (void)pthread_join(line->thread, NULL);
    (void)pthread_cond_destroy(&line->wake);
    (void)pthread_mutex_destroy(&line->lock);
    free(line);
}
