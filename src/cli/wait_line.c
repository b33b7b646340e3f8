/* wait_line.c - see wait_line.h. A thread with a connection of its own asks the server, so that
 * the thread that follows the output is never delayed by this line.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/wait_line.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/rest.h"
#include "base/width.h"
#include "cli/context.h"
#include "cli/task_text.h"
#include "cli/text.h"
#include "cli/item.h"
#include "io/http_client.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    FIRST_MS = 300, /* a task that starts at once needs no line */
    NEXT_MS = 800,
    CALL_MS = 900,         /* an answer that takes longer counts as none */
    PLAIN_MS = 10000,      /* a pipe gets a line with another reason this often at most */
    PLAIN_SAME_MS = 60000, /* and a line with the same reason this often */
    LINE_MAX_BYTES = 2048,
    STATUS_CONFLICT = 409,
    STATUS_NOT_FOUND = 404,
};

struct wait_line {
    const struct login *login;
    uint64_t task;       /* 0: none, only the server is watched */
    int64_t *evicted_ms; /* of the caller; NULL without a task */
    bool tty;
    pthread_t thread;
    pthread_mutex_t lock; /* protects the members below and the line on the terminal */
    pthread_cond_t wake;
    bool over;
    bool shown;
    bool lost;        /* the server did not answer the last time */
    int64_t plain_ms; /* when a pipe got its last line; 0: never */
    char plain[64];   /* the reason of that line */
};

static void line_erase(struct wait_line *line)
{
    if (line->shown) {
        (void)fputs("\r\033[K", stderr);
        (void)fflush(stderr);
        line->shown = false;
    }
}

/* Writes "task 12 waits, place 3: waits for 2 slots; … (starts in 12m at the latest)". */
static void line_text(const struct wait_line *line, const struct doc *task, struct buf *out)
{
    struct buf raw;
    buf_init(&raw, LINE_MAX_BYTES);
    const char *state = item_text(task, "state");
    const int64_t position = item_number(task, "position", 0);
    buf_addf(&raw, "task %llu %s", (unsigned long long)line->task,
             strcmp(state, "pending") == 0 ? "waits" : state);
    if (position > 0) {
        buf_addf(&raw, ", place %s%lld", item_true(task, "further") ? "beyond " : "",
                 (long long)position);
    }
    const char *why = item_text(task, "reason.message");
    buf_addf(&raw, "%s%s", why[0] == '\0' ? "" : ": ", why);
    int64_t start_ms;
    if (item_time(task, "reserved_until", &start_ms)) {
        buf_add_str(&raw, " (starts in ");
        text_span(&raw, start_ms - text_now_ms());
        buf_add_str(&raw, " at the latest)");
    }
    text_escape(out, (struct str){.p = buf_text(&raw), .len = raw.len});
    buf_done(&raw);
}

/* Changes the line on the terminal in place. A pipe gets a new line, rarely. */
static void line_show(struct wait_line *line, const struct doc *task)
{
    struct buf shown;
    buf_init(&shown, LINE_MAX_BYTES);
    line_text(line, task, &shown);
    struct str text = {.p = buf_text(&shown), .len = shown.len};
    const int64_t now_ms = text_now_ms();
    const char *code = item_text(task, "reason.code");
    const int64_t pause_ms = strcmp(code, line->plain) == 0 ? PLAIN_SAME_MS : PLAIN_MS;
    if (line->tty) {
        struct winsize size = {0};
        size_t width =
            ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
        const bool cut = width_of(text) > width - 1;
        (void)fprintf(stderr, "\r\033[K%.*s%s", (int)width_fit(text, width - 1 - cut), text.p,
                      cut ? "…" : "");
        (void)fflush(stderr);
        line->shown = true;
    } else if (line->plain_ms == 0 || now_ms - line->plain_ms >= pause_ms) {
        context_say("weir: %s", text.p);
        line->plain_ms = now_ms;
        (void)str_copy(line->plain, sizeof line->plain, code);
    }
    buf_done(&shown);
}

/* Says once that the server is lost, and once that it is back. */
static void server_say(struct wait_line *line, bool answered, const struct error *e)
{
    if (answered != line->lost) {
        return;
    }
    line->lost = !answered;
    line_erase(line);
    if (answered) {
        context_say("weir: the server answers again");
    } else {
        context_say("weir: lost the server: %s; %strying again", e->text,
                    line->task != 0 ? "the task goes on; " : "");
    }
}

/* Says that the task was evicted, once for each eviction that a look finds. */
static void eviction_say(struct wait_line *line, const struct doc *task)
{
    const struct doc *evicted = item_at(task, "evicted");
    int64_t at_ms = 0;
    if (evicted != NULL && evicted->kind == DOC_MAP) {
        (void)item_time(evicted, "at", &at_ms);
    }
    const bool earlier = *line->evicted_ms == WAIT_LINE_EARLIER;
    const bool unsaid = !earlier && at_ms > *line->evicted_ms;
    *line->evicted_ms = earlier || unsaid ? at_ms : *line->evicted_ms;
    if (!unsaid) {
        return;
    }
    struct buf raw;
    struct buf shown;
    buf_init(&raw, LINE_MAX_BYTES);
    buf_init(&shown, LINE_MAX_BYTES * 6); /* an escaped byte takes up to six */
    task_text_evicted(&raw, evicted, 0);
    text_escape(&shown, (struct str){.p = buf_text(&raw), .len = raw.len});
    line_erase(line);
    context_say("weir: task %llu was %s; it waits again", (unsigned long long)line->task,
                buf_text(&shown));
    buf_done(&shown);
    buf_done(&raw);
}

/* Sleeps, unless the line is over. The caller holds the lock. */
static void line_sleep(struct wait_line *line, int ms)
{
    if (!line->over) {
        rest_wait(&line->wake, &line->lock, ms);
    }
}

static bool waits(const struct doc *task)
{
    const char *state = item_text(task, "state");
    return strcmp(state, "pending") == 0 || strcmp(state, "staged") == 0 ||
           strcmp(state, "paused") == 0;
}

/* Asks once and shows the answer. False: the task has ended, there is nothing more to say. */
static bool look_once(struct wait_line *line, struct http_client *client, struct arena *arena)
{
    const char *path = "/healthz";
    if (line->task != 0) {
        path = arena_fmt(arena, "/api/v1/tasks/%llu/explain", (unsigned long long)line->task);
    }
    struct http_call call = {.method = "GET", .path = path, .timeout_ms = CALL_MS};
    struct http_reply reply = {0};
    struct doc *doc = NULL;
    struct error e;
    const enum err r = http_client_call(client, &call, arena, &reply, &e);
    const bool well = r == ERR_OK && reply.status == 200 && line->task != 0 &&
                      doc_json_parse(arena, reply.body, &doc, NULL) == ERR_OK;
    (void)pthread_mutex_lock(&line->lock);
    if (!line->over) {
        server_say(line, r == ERR_OK, &e);
    }
    if (!line->over && well) {
        eviction_say(line, doc);
    }
    if (!line->over && well && waits(doc)) {
        line_show(line, doc);
    } else if (well) {
        line_erase(line);
    }
    (void)pthread_mutex_unlock(&line->lock);
    return r != ERR_OK || (reply.status != STATUS_CONFLICT && reply.status != STATUS_NOT_FOUND);
}

static void *look(void *ctx)
{
    struct wait_line *line = ctx;
    struct http_client *client = login_client(line->login);
    struct arena arena;
    arena_init(&arena);
    (void)pthread_mutex_lock(&line->lock);
    line_sleep(line, FIRST_MS);
    while (!line->over) {
        (void)pthread_mutex_unlock(&line->lock);
        arena_clear(&arena);
        const bool more = look_once(line, client, &arena);
        (void)pthread_mutex_lock(&line->lock);
        if (!more) {
            break;
        }
        line_sleep(line, NEXT_MS);
    }
    (void)pthread_mutex_unlock(&line->lock);
    arena_done(&arena);
    http_client_free(client);
    return NULL;
}

struct wait_line *wait_line_start(const struct login *login, uint64_t task, int64_t *evicted_ms)
{
    must((task != 0) == (evicted_ms != NULL));
    struct wait_line *line = xcalloc(1, sizeof *line);
    line->login = login;
    line->task = task;
    line->evicted_ms = evicted_ms;
    line->tty = isatty(STDERR_FILENO) != 0;
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
    line_erase(line);
    (void)pthread_mutex_unlock(&line->lock);
}

void wait_line_free(struct wait_line *line)
{
    if (line == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&line->lock);
    line->over = true;
    line_erase(line);
    (void)pthread_cond_signal(&line->wake);
    (void)pthread_mutex_unlock(&line->lock);
    (void)pthread_join(line->thread, NULL);
    (void)pthread_cond_destroy(&line->wake);
    (void)pthread_mutex_destroy(&line->lock);
    free(line);
}
