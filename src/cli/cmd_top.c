/* cmd_top.c - `weir top`: pools, map, queue and tasks on a terminal, live.
 *
 *   keys ──────────────┐
 *   "something changed" ┼─▶ ask what the page needs ─▶ draw into cells ─▶ write the cells that differ
 *   each second (ages) ─┘
 *
 * With a moment of the past (--at, or the keys [ ] { }) the server is asked once for each moment.
 * T1 the terminal gets at most TOP_BYTES_S on average: a large picture comes row by row. T2 the terminal is
 * restored however the program ends, but for SIGKILL. SPDX-License-Identifier: Apache-2.0 */
#include "cli/api.h"
#include "cli/cmd.h"
#include "cli/item.h"
#include "cli/text.h"
#include "cli/top_view.h"
#include "cli/watch.h"
#include "io/http_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    TOP_BYTES_S = 4500,
    TOP_BURST = 2500, /* bytes that go at once after a quiet time */
    TICK_MS = 100,
    AGE_MS = 1000,
    SETTLE_MS = 500, /* between two questions to the server */
    LOST_MS = 2000,
    QUIET_MS = 5000, /* a server without changes is asked whether it is still there */
    QUEUE_ROWS = 200,
    MAP_NODES = 1000,
    LOG_LINES = 200,
    OUT_BYTES_MAX = 1 << 20,
};

/* One answer and the memory it lies in. */
struct answer {
    struct arena arena;
    const struct doc *doc;
};

struct top {
    struct cli *cli;
    struct top_screen *screen;
    struct top_state state;
    enum top_page back; /* the page behind a task */
    struct answer home;
    struct answer map;
    struct answer queue;
    struct answer shown;
    struct answer why;
    struct answer log;
    struct error lost;
    bool is_lost;
    struct error unseen; /* why the moment of the past cannot be shown */
    bool is_unseen;
    int64_t heard_ms;
    int64_t asked_ms;
    int64_t drawn_ms;
    int64_t credit; /* bytes that may be written now, times 1000 */
    int64_t credit_ms;
    bool stale; /* the server must be asked again */
    bool dirty; /* the picture must be drawn again */
    bool quit;
};

/* ---- the terminal ---- */

static struct termios saved;
static volatile sig_atomic_t raw;
static volatile sig_atomic_t resized;
static volatile sig_atomic_t ended;

/* Safe inside a signal handler. */
static void terminal_restore(void)
{
    static const char leave[] = "\x1b[0m\x1b[?25h\x1b[?1049l";
    if (raw) {
        raw = 0;
        const ssize_t n = write(STDOUT_FILENO, leave, sizeof leave - 1);
        (void)n;
        (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &saved);
    }
}

static void on_fatal(int sig)
{
    terminal_restore();
    (void)raise(sig); /* SA_RESETHAND: now with its usual effect */
}

static void on_end(int sig)
{
    ended = sig;
}

static void on_resize(int sig)
{
    (void)sig;
    resized = 1;
}

static void signals_set(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    static const int fatal[] = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = on_end};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        (void)sigaction(ends[i], &action, NULL);
    }
    action.sa_handler = on_resize;
    (void)sigaction(SIGWINCH, &action, NULL);
    action = (struct sigaction){.sa_handler = on_fatal, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
        (void)sigaction(fatal[i], &action, NULL);
    }
    (void)signal(SIGTSTP, SIG_IGN); /* a stopped program would leave the terminal as it is */
}

static void terminal_begin(void)
{
    static const char enter[] = "\x1b[?1049h\x1b[?25l";
    struct termios now = saved;
    now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    (void)atexit(terminal_restore);
    signals_set();
    raw = 1;
    (void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &now);
    context_out((struct str){enter, sizeof enter - 1});
}

static void size_read(struct top *top)
{
    struct winsize size = {0};
    resized = 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    }
    top_screen_resize(top->screen, size.ws_col, size.ws_row);
    top->dirty = true;
}

/* ---- the answers ---- */

static bool answer_get(struct top *top, struct answer *answer, const char *path)
{
    struct api_reply reply;
    struct arena fresh;
    struct error e;
    arena_init(&fresh);
    const enum err r = api_get(top->cli, &fresh, path, &reply, &e);
    if (r != ERR_OK) {
        arena_done(&fresh);
        if (r == ERR_UNREACHABLE || r == ERR_BUSY || r == ERR_DENIED || r == ERR_TIMEOUT) {
            top->lost = e;
            top->is_lost = true;
        } else if (top->cli->at_ms != 0) {
            top->unseen = e;
            top->is_unseen = true;
        }
        return false;
    }
    arena_done(&answer->arena);
    answer->arena = fresh;
    answer->doc = reply.doc;
    return true;
}

static void log_get(struct top *top)
{
    struct arena fresh;
    struct error e;
    struct http_reply reply;
    arena_init(&fresh);
    const struct http_call call = {
        .method = "GET",
        .path = arena_fmt(&fresh, "/api/v1/tasks/%llu/logs?format=raw&tail=%d",
                          (unsigned long long)top->state.task, LOG_LINES),
    };
    if (http_client_call(top->cli->client, &call, &fresh, &reply, &e) != ERR_OK ||
        reply.status != 200) {
        arena_done(&fresh);
        return;
    }
    arena_done(&top->log.arena);
    top->log.arena = fresh;
    top->state.log = reply.body;
}

static void task_get(struct top *top)
{
    char path[96];
    (void)snprintf(path, sizeof path, "/tasks/%llu", (unsigned long long)top->state.task);
    if (!answer_get(top, &top->shown, path)) {
        return;
    }
    (void)snprintf(path, sizeof path, "/tasks/%llu/explain", (unsigned long long)top->state.task);
    if (!answer_get(top, &top->why, path)) {
        top->why.doc = NULL; /* the task has ended */
    }
    log_get(top);
}

/* Asks what the page shows. */
static void page_get(struct top *top)
{
    const bool was_lost = top->is_lost;
    char path[64];
    top->is_lost = false;
    top->is_unseen = false;
    top->stale = false;
    top->dirty = true;
    top->asked_ms = text_now_ms();
    bool heard = answer_get(top, &top->home, "/home");
    if (heard && top->state.page == TOP_MAP) {
        (void)snprintf(path, sizeof path, "/map?limit=%d", MAP_NODES);
        heard = answer_get(top, &top->map, path);
    } else if (heard && top->state.page == TOP_QUEUE) {
        (void)snprintf(path, sizeof path, "/queue?limit=%d", QUEUE_ROWS);
        heard = answer_get(top, &top->queue, path);
    } else if (heard && top->state.page == TOP_TASK) {
        task_get(top);
    }
    if (top->is_unseen) { /* what was shown is of another moment */
        top->home.doc = NULL;
        top->map.doc = NULL;
        top->queue.doc = NULL;
    }
    if (!top->is_lost) {
        top->heard_ms = text_now_ms();
    } else if (!was_lost && top->heard_ms == 0) {
        top->heard_ms = top->asked_ms;
    }
}

/* ---- the picture ---- */

/* True: so many bytes may be written now. */
static bool credit_has(struct top *top)
{
    const int64_t now = text_now_ms();
    top->credit += (now - top->credit_ms) * TOP_BYTES_S;
    top->credit_ms = now;
    if (top->credit > (int64_t)TOP_BURST * 1000) {
        top->credit = (int64_t)TOP_BURST * 1000;
    }
    return top->credit > 0;
}

static void picture_write(struct top *top)
{
    struct top_state *state = &top->state;
    struct buf out;
    if (!credit_has(top)) {
        return;
    }
    state->now_ms = context_now_ms(top->cli);
    state->at_ms = top->cli->at_ms;
    state->unseen = top->is_unseen ? top->unseen.text : NULL;
    state->home = top->home.doc;
    state->map = top->map.doc;
    state->queue = top->queue.doc;
    state->shown = top->shown.doc;
    state->why = top->why.doc;
    state->lost = top->is_lost ? top->lost.text : NULL;
    state->lost_ms = text_now_ms() - top->heard_ms;
    top_view_draw(top->screen, state);
    buf_init(&out, OUT_BYTES_MAX);
    const bool whole = top_screen_flush(top->screen, &out, (size_t)(top->credit / 1000) + 1);
    if (out.len > 0) {
        context_out((struct str){buf_text(&out), out.len});
        (void)fflush(stdout);
    }
    top->credit -= (int64_t)out.len * 1000;
    buf_done(&out);
    top->dirty = !whole;
    top->drawn_ms = text_now_ms();
}

/* ---- keys ---- */

static void page_go(struct top *top, enum top_page page)
{
    if (page == TOP_TASK) {
        if (top->state.task == 0) {
            return;
        }
        top->back = top->state.page;
        top->shown.doc = NULL;
        top->why.doc = NULL;
        top->state.log = (struct str){NULL, 0};
    } else {
        top->state.chosen = 0;
        top->state.first = 0;
        top->state.rows = 0;
        top->state.task = 0;
    }
    top->state.page = page;
    top->stale = true;
    top->asked_ms = 0;
    top->dirty = true;
}

static void step(struct top *top, bool down)
{
    struct top_state *state = &top->state;
    if (down && state->chosen + 1 < state->rows) {
        state->chosen++;
    } else if (!down && state->chosen > 0) {
        state->chosen--;
    }
    top_view_draw(top->screen,
                  state); /* finds the task of the row: Enter may be the very next key */
    top->dirty = true;
}

/* Goes back in time, or forward up to the present. The page of a task is of the present alone. */
static void moment_go(struct top *top, int64_t by_ms)
{
    const int64_t now = text_now_ms();
    const int64_t at_ms = context_now_ms(top->cli) + by_ms;
    top->cli->at_ms = at_ms < now ? at_ms : 0;
    page_go(top, top->state.page == TOP_TASK ? top->back : top->state.page);
}

static void key_plain(struct top *top, char key)
{
    enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };
    const enum top_page page = top->state.page;
    if (key == 'q') {
        top->quit = true;
    } else if (key >= '1' && key <= '4') {
        page_go(top, (enum top_page)(key - '1'));
    } else if (key == '\t') {
        page_go(top, page >= TOP_MINE ? TOP_POOLS : page + 1);
    } else if (key == 'j' || key == 'k') {
        step(top, key == 'j');
    } else if (key == '[' || key == ']') {
        moment_go(top, key == '[' ? -MINUTE_MS : MINUTE_MS);
    } else if (key == '{' || key == '}') {
        moment_go(top, key == '{' ? -HOUR_MS : HOUR_MS);
    } else if ((key == '\r' || key == '\n') && top->cli->at_ms == 0 &&
               (page == TOP_QUEUE || page == TOP_MINE)) {
        page_go(top, TOP_TASK);
    } else if ((key == '\x1b' || key == '\b' || key == 127) && page == TOP_TASK) {
        page_go(top, top->back);
    } else if (key == '\f') { /* Ctrl-L */
        size_read(top);
    }
}

static void keys_read(struct top *top)
{
    char keys[64];
    const ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
        top->quit = true; /* the terminal has gone */
        return;
    }
    for (ssize_t i = 0; i < n; i++) {
        const bool arrow =
            keys[i] == '\x1b' && i + 2 < n && (keys[i + 1] == '[' || keys[i + 1] == 'O');
        if (!arrow) {
            key_plain(top, keys[i]);
            continue;
        }
        if (keys[i + 2] == 'A' || keys[i + 2] == 'B') {
            step(top, keys[i + 2] == 'B');
        }
        i += 2;
    }
}

/* ---- the loop ---- */

static void turn(struct top *top, struct cli_watch *watch)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&in, 1, TICK_MS) > 0) {
        keys_read(top);
    }
    if (resized) {
        size_read(top);
    }
    const bool past = top->cli->at_ms != 0; /* changes by itself no more */
    top->stale = (watch_wait(watch, 0) && !past) || top->stale;
    const int64_t now = text_now_ms();
    const int64_t pause = top->is_lost ? LOST_MS : SETTLE_MS;
    top->stale = top->stale || (!past && now - top->asked_ms >= QUIET_MS);
    if ((top->stale || top->is_lost) && now - top->asked_ms >= pause) {
        page_get(top);
    }
    if (top->dirty || now - top->drawn_ms >= AGE_MS) {
        picture_write(top);
    }
}

static void answers_free(struct top *top)
{
    struct answer *const all[] = {&top->home,  &top->map, &top->queue,
                                  &top->shown, &top->why, &top->log};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        arena_done(&all[i]->arena);
    }
}

int cmd_top(struct cli *cli)
{
    struct error e;
    if (!cli->out_tty || tcgetattr(STDIN_FILENO, &saved) != 0) {
        (void)fail(
            &e, ERR_USAGE,
            "`weir top` needs a terminal; `weir status` and `weir queue` print the same to a pipe");
        return context_fail(cli, &e);
    }
    struct top top = {.cli = cli, .stale = true, .dirty = true};
    struct api_reply reply;
    /* A login that does not work is told before the screen changes. */
    const int64_t at_ms = cli->at_ms;
    cli->at_ms = 0;
    if (api_open(cli, &e) != ERR_OK ||
        api_get(cli, &cli->arena, "/session", &reply, &e) != ERR_OK) {
        return context_fail(cli, &e);
    }
    cli->at_ms = at_ms;
    struct cli_watch *watch = watch_start(&cli->login, NULL);
    top.screen = top_screen_new(cli->colour);
    top.state.server = cli->login.url;
    top.credit_ms = text_now_ms() - 1000;
    terminal_begin();
    size_read(&top);
    while (!top.quit && !ended) {
        turn(&top, watch);
    }
    terminal_restore();
    watch_free(watch);
    top_screen_free(top.screen);
    answers_free(&top);
    return ended != 0 ? 128 + (int)ended : EXIT_OK;
}
