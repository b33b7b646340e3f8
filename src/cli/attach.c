/* attach.c - see attach.h. On a terminal every key goes to the program, also Ctrl-C; "~." at the
 * beginning of a line leaves, as in ssh. SPDX-License-Identifier: Apache-2.0 */
#include "cli/attach.h"

#include "base/json_out.h"
#include "cli/api.h"
#include "io/http_duplex.h"
#include "wire/console.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum {
    ATTACH_BYTES_MAX = 256 * 1024,
    ATTACH_READ_BYTES = 16 * 1024,
    ATTACH_OPEN_MS = 30 * 1000,
    ATTACH_BODY_MAX = 64 * 1024,
};

struct attach {
    struct http_duplex *duplex;
    struct buf up;   /* frames for the program */
    struct buf down; /* frames of the program, not yet whole */
    bool terminal;
    bool input_over;
    bool line_begin; /* the last key ended a line */
    bool tilde;      /* and the one after it was "~" */
    bool over;       /* the last frame has come */
    struct attach_end end;
    struct error failure;
};

static volatile sig_atomic_t size_changed;

static void size_seen(int number)
{
    (void)number;
    size_changed = 1;
}

static void size_read(uint16_t *ret_rows, uint16_t *ret_columns)
{
    struct winsize size = {0};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    *ret_rows = known ? size.ws_row : 24;
    *ret_columns = known && size.ws_col > 0 ? size.ws_col : 80;
}

/* Writes everything to a descriptor of ours, which may be slow. */
static void write_all(int fd, struct str data)
{
    while (data.len > 0) {
        ssize_t put = write(fd, data.p, data.len);
        if (put < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            (void)poll(&p, 1, -1);
        } else if (put <= 0 && errno != EINTR) {
            return;
        }
        data.p += put > 0 ? put : 0;
        data.len -= put > 0 ? (size_t)put : 0;
    }
}

static void frame_show(struct attach *attach, const struct console_frame *frame)
{
    switch (frame->type) {
    case CONSOLE_OUTPUT:
        write_all(STDOUT_FILENO, frame->data);
        break;
    case CONSOLE_ERROR:
        write_all(STDERR_FILENO, frame->data);
        break;
    case CONSOLE_EXIT:
        attach->end.code = frame->data.len == 1 ? (unsigned char)frame->data.p[0] : -1;
        attach->over = true;
        break;
    case CONSOLE_FAILURE:
        (void)fail(&attach->failure, ERR_CONFLICT, "%.*s", (int)frame->data.len, frame->data.p);
        attach->over = true;
        break;
    case CONSOLE_INPUT:
    case CONSOLE_INPUT_END:
    case CONSOLE_SIZE:
        break;
    }
}

static void program_read(struct attach *attach)
{
    char chunk[ATTACH_READ_BYTES];
    struct console_frame frame;
    long got = 1;
    while (!attach->over && (got = http_duplex_read(attach->duplex, chunk, sizeof chunk)) > 0) {
        buf_add(&attach->down, chunk, (size_t)got);
        long len = 1;
        while (!attach->over && len > 0) {
            len = console_get((struct str){buf_text(&attach->down), attach->down.len}, &frame);
            if (len > 0) {
                frame_show(attach, &frame);
                buf_drop(&attach->down, (size_t)len);
            }
        }
        if (len < 0) {
            got = HTTP_DUPLEX_END;
            break;
        }
    }
    if (got == HTTP_DUPLEX_END && !attach->over) {
        (void)fail(&attach->failure, ERR_UNREACHABLE,
                   "the connection to the task broke off; the task may go on");
        attach->over = true;
    }
}

/* Passes keys on, except "~." after a line's end. "~~" is one "~". */
static void keys_take(struct attach *attach, const char *keys, size_t len)
{
    for (size_t i = 0; i < len && !attach->over; i++) {
        const char key = keys[i];
        if (attach->tilde) {
            attach->tilde = false;
            if (key == '.') {
                attach->end.detached = true;
                attach->over = true;
                return;
            }
            if (key != '~') {
                console_put(&attach->up, CONSOLE_INPUT, (struct str){"~", 1});
            }
        } else if (attach->line_begin && key == '~') {
            attach->tilde = true;
            continue;
        }
        attach->line_begin = key == '\r' || key == '\n';
        console_put(&attach->up, CONSOLE_INPUT, (struct str){&key, 1});
    }
}

static void input_read(struct attach *attach)
{
    char chunk[ATTACH_READ_BYTES];
    ssize_t got = read(STDIN_FILENO, chunk, sizeof chunk);
    if (got > 0 && attach->terminal) {
        /* A pasted text is long and has few line ends: it goes on as one piece. */
        if (got > 64 && !attach->tilde && memchr(chunk, '~', (size_t)got) == NULL) {
            attach->line_begin = chunk[got - 1] == '\r' || chunk[got - 1] == '\n';
            console_put(&attach->up, CONSOLE_INPUT, (struct str){chunk, (size_t)got});
        } else {
            keys_take(attach, chunk, (size_t)got);
        }
    } else if (got > 0) {
        console_put(&attach->up, CONSOLE_INPUT, (struct str){chunk, (size_t)got});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        attach->input_over = true;
        console_put(&attach->up, CONSOLE_INPUT_END, (struct str){"", 0});
    }
}

static void size_tell(struct attach *attach)
{
    uint16_t rows;
    uint16_t columns;
    size_changed = 0;
    size_read(&rows, &columns);
    console_put_size(&attach->up, rows, columns);
}

static void up_write(struct attach *attach)
{
    while (attach->up.len > 0) {
        long put = http_duplex_write(attach->duplex, attach->up.data, attach->up.len);
        if (put <= 0) {
            return; /* an end shows when we read */
        }
        buf_drop(&attach->up, (size_t)put);
    }
}

/* SIGWINCH is blocked except inside ppoll(), so that no change is missed. */
static void attach_loop(struct attach *attach, const sigset_t *open_mask)
{
    program_read(attach); /* bytes may have come with the answer */
    while (!attach->over) {
        struct pollfd p[] = {
            {.fd = http_duplex_fd(attach->duplex),
             .events = (short)(POLLIN | (attach->up.len > 0 ? POLLOUT : 0))},
            {.fd = attach->input_over || attach->up.len > ATTACH_BYTES_MAX / 4 ? -1 : STDIN_FILENO,
             .events = POLLIN},
        };
        (void)ppoll(p, 2, NULL, open_mask);
        if (size_changed != 0 && attach->terminal) {
            size_tell(attach);
        }
        program_read(attach);
        if (p[1].revents != 0) {
            input_read(attach);
        }
        up_write(attach);
    }
}

/* Reads every key as it is typed, until the session ends. */
static bool raw_begin(struct termios *ret_before)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, ret_before) != 0) {
        return false;
    }
    raw = *ret_before;
    cfmakeraw(&raw);
    return tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void body_write(const struct attach_options *options, struct buf *out)
{
    struct json_out j;
    uint16_t rows;
    uint16_t columns;
    const char *term = getenv("TERM");
    json_out_init(&j, out);
    json_out_object(&j);
    if (options->argv == NULL) {
        json_out_kv_bool(&j, "attach", true);
    } else {
        json_out_key(&j, "command");
        json_out_array(&j);
        for (size_t i = 0; i < options->argc; i++) {
            json_out_text(&j, options->argv[i]);
        }
        json_out_end(&j);
    }
    if (options->terminal) {
        char size[32];
        size_read(&rows, &columns);
        (void)snprintf(size, sizeof size, "%ux%u", rows, columns);
        json_out_kv_text(&j, "terminal", size);
        json_out_kv_text(&j, "term", term != NULL ? term : "xterm");
    }
    json_out_end(&j);
}

static enum err session_open(struct cli *cli, const struct attach_options *options,
                             struct http_duplex **ret, struct error *e)
{
    const struct http_trust trust = {.ca = cli->login.ca, .fingerprint = cli->login.fingerprint};
    struct http_reply reply;
    struct buf body;
    buf_init(&body, ATTACH_BODY_MAX);
    body_write(options, &body);
    const char *path =
        arena_fmt(&cli->arena, "/api/v1/tasks/%llu/exec", (unsigned long long)options->task);
    if (options->instance >= 0) {
        path = arena_fmt(&cli->arena, "%s?instance=%lld", path, (long long)options->instance);
    }
    const struct http_duplex_call call = {.url = cli->login.url,
                                          .token = cli->login.token,
                                          .trust = &trust,
                                          .method = "POST",
                                          .path = path,
                                          .protocol = "weir-console",
                                          .body = {buf_text(&body), body.len},
                                          .timeout_ms = ATTACH_OPEN_MS};
    enum err r = body.full ? fail(e, ERR_LIMIT, "the command is too long")
                           : http_duplex_open(&call, &cli->arena, ret, &reply, e);
    buf_done(&body);
    if (r == ERR_OK && *ret == NULL) {
        return api_refusal(reply.status, reply.body, e);
    }
    return r;
}

must_use enum err attach_run(struct cli *cli, const struct attach_options *options,
                             struct attach_end *ret, struct error *e)
{
    struct attach attach = {.terminal = options->terminal, .line_begin = true, .end = {.code = -1}};
    struct termios before;
    sigset_t mask;
    sigset_t open_mask;
    enum err r = session_open(cli, options, &attach.duplex, e);
    if (r != ERR_OK) {
        return r;
    }
    buf_init(&attach.up, 4 * ATTACH_BYTES_MAX);
    buf_init(&attach.down, ATTACH_BYTES_MAX);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigemptyset(&mask);
    (void)sigaddset(&mask, SIGWINCH);
    (void)sigprocmask(SIG_BLOCK, &mask, &open_mask);
    const struct sigaction action = {.sa_handler = size_seen};
    (void)sigaction(SIGWINCH, &action, NULL);
    const bool raw = options->terminal && raw_begin(&before);
    attach_loop(&attach, &open_mask);
    if (raw) {
        (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
    }
    (void)sigprocmask(SIG_SETMASK, &open_mask, NULL);
    http_duplex_free(attach.duplex);
    buf_done(&attach.up);
    buf_done(&attach.down);
    *ret = attach.end;
    if (attach.failure.code != ERR_OK) {
        *e = attach.failure;
        return e->code;
    }
    return ERR_OK;
}
