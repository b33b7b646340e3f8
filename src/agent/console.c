/* console.c - see console.h. One poll loop; every buffer is bounded, and a full one stops its reader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/console.h"

#include "agent/console_internal.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DRAIN_MS = 300, /* after the program's end, for output that others of its group hold back */
    HANGUP_MS = 500,
    FLUSH_MS = 5000,
    USAGE = 2,
};

/* ---- the program ---- */

static void size_set(int fd, uint16_t rows, uint16_t columns)
{
    const struct winsize size = {.ws_row = rows, .ws_col = columns};
    (void)ioctl(fd, TIOCSWINSZ, &size);
}

void console_program_size(const struct console_program *program, struct str data)
{
    uint16_t rows;
    uint16_t columns;
    if (program->terminal && program->out >= 0 && console_size(data, &rows, &columns)) {
        size_set(program->out, rows, columns);
    }
}

static must_use enum err terminal_open(const char *terminal, struct console_program *program,
                                       char *ret_name, size_t size, struct error *e)
{
    uint16_t rows = 24;
    uint16_t columns = 80;
    (void)console_size_parse(terminal, &rows, &columns);
    int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || grantpt(fd) != 0 || unlockpt(fd) != 0 || ptsname_r(fd, ret_name, size) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot open a terminal");
    }
    size_set(fd, rows, columns);
    program->in = fd;
    program->out = fd;
    program->terminal = true;
    return ERR_OK;
}

static must_use enum err pipes_open(struct console_program *program, int give[3], struct error *e)
{
    int *const ours[3] = {&program->in, &program->out, &program->err};
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) {
            return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
        }
        *ours[i] = ends[i == 0 ? 1 : 0];
        give[i] = ends[i == 0 ? 0 : 1];
        (void)fcntl(*ours[i], F_SETFL, O_NONBLOCK);
    }
    return ERR_OK;
}

static void actions_make(posix_spawn_file_actions_t *actions, const char *terminal,
                         const int give[3])
{
    must(posix_spawn_file_actions_init(actions) == 0);
    if (terminal[0] != '\0') {
        /* The leader of a new session that opens a terminal gets it as its controlling terminal. */
        must(posix_spawn_file_actions_addopen(actions, 0, terminal, O_RDWR, 0) == 0);
        must(posix_spawn_file_actions_adddup2(actions, 0, 1) == 0);
        must(posix_spawn_file_actions_adddup2(actions, 0, 2) == 0);
        return;
    }
    for (int i = 0; i < 3; i++) {
        must(posix_spawn_file_actions_adddup2(actions, give[i], i) == 0);
    }
}

must_use enum err console_program_start(char *const *argv, const char *terminal,
                                        struct console_program *ret, struct error *e)
{
    struct console_program program = {.pidfd = -1, .in = -1, .out = -1, .err = -1};
    char name[64] = "";
    int give[3] = {-1, -1, -1};
    enum err r = terminal[0] != '\0' ? terminal_open(terminal, &program, name, sizeof name, e)
                                     : pipes_open(&program, give, e);
    if (r != ERR_OK) {
        return r;
    }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigset_t none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    actions_make(&actions, name, give);
    must(posix_spawnattr_init(&attributes) == 0);
    must(posix_spawnattr_setsigmask(&attributes, &none) == 0);
    must(posix_spawnattr_setsigdefault(&attributes, &all) == 0);
    must(posix_spawnattr_setpgroup(&attributes, 0) == 0);
    must(posix_spawnattr_setflags(
             &attributes,
             (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                     (name[0] != '\0' ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP))) == 0);
    int failed = posix_spawnp(&program.pid, argv[0], &actions, &attributes, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    for (int i = 0; i < 3; i++) {
        if (give[i] >= 0) {
            (void)close(give[i]);
        }
    }
    if (failed != 0) {
        return fail_errno(e, failed == ENOENT ? ERR_NOT_FOUND : ERR_IO, failed,
                          "cannot execute '%s'", argv[0]);
    }
    program.pidfd = (int)syscall(SYS_pidfd_open, program.pid, 0);
    *ret = program;
    return ERR_OK;
}

int console_program_code(const struct console_program *program)
{
    int status = 0;
    (void)waitpid(program->pid, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void console_program_end(const struct console_program *program)
{
    struct pollfd p = {.fd = program->pidfd, .events = POLLIN};
    (void)kill(-program->pid, SIGHUP);
    (void)kill(-program->pid, SIGCONT);
    (void)poll(&p, 1, HANGUP_MS);
    (void)kill(-program->pid, SIGKILL);
}

/* ---- moving bytes ---- */

bool console_read(int fd, enum console_type type, struct buf *out)
{
    char chunk[CONSOLE_READ_BYTES];
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got > 0) {
        console_put(out, type, (struct str){chunk, (size_t)got});
    }
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

bool console_write(int fd, struct buf *data)
{
    while (data->len > 0) {
        ssize_t put = write(fd, data->data, data->len);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) {
            return true;
        }
        if (put <= 0) {
            return false;
        }
        buf_drop(data, (size_t)put);
    }
    return true;
}

/* ---- exec ---- */

struct console_run {
    struct console_program program;
    struct buf frames; /* from the client, not yet looked at */
    struct buf input;  /* for the program */
    struct buf out;    /* frames for the client */
    bool input_ended;
    bool client_gone;
    bool exited;
};

static void input_close(struct console_run *exec)
{
    if (exec->program.in < 0) {
        return;
    }
    if (!exec->program.terminal) {
        (void)close(exec->program.in);
    }
    exec->program.in = -1;
}

static void frames_do(struct console_run *exec)
{
    struct console_frame frame;
    long len;
    while (exec->input.len < CONSOLE_PIPE_BYTES &&
           (len = console_get((struct str){buf_text(&exec->frames), exec->frames.len}, &frame)) !=
               0) {
        if (len < 0) {
            exec->client_gone = true;
            return;
        }
        if (frame.type == CONSOLE_INPUT && exec->program.in >= 0) {
            buf_add(&exec->input, frame.data.p, frame.data.len);
        } else if (frame.type == CONSOLE_INPUT_END) {
            exec->input_ended = true;
        } else if (frame.type == CONSOLE_SIZE) {
            console_program_size(&exec->program, frame.data);
        }
        buf_drop(&exec->frames, (size_t)len);
    }
}

static void client_read(struct console_run *exec)
{
    char chunk[CONSOLE_READ_BYTES];
    ssize_t got = read(STDIN_FILENO, chunk, sizeof chunk);
    if (got > 0) {
        buf_add(&exec->frames, chunk, (size_t)got);
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        exec->client_gone = true;
    }
}

static void output_read(int *fd, short events, enum console_type type, struct console_run *exec)
{
    if (*fd >= 0 && events != 0 && !console_read(*fd, type, &exec->out)) {
        if (exec->program.terminal) {
            exec->program.in = -1;
        }
        (void)close(*fd);
        *fd = -1;
    }
}

/* Waits and moves bytes once. False: nothing happened in time. */
static bool exec_turn(struct console_run *exec, int wait_ms)
{
    const bool room = exec->out.len < CONSOLE_PIPE_BYTES;
    struct pollfd p[] = {
        {.fd = exec->frames.len < CONSOLE_PIPE_BYTES ? STDIN_FILENO : -1, .events = POLLIN},
        {.fd = exec->out.len > 0 ? STDOUT_FILENO : -1, .events = POLLOUT},
        {.fd = exec->input.len > 0 ? exec->program.in : -1, .events = POLLOUT},
        {.fd = room ? exec->program.out : -1, .events = POLLIN},
        {.fd = room ? exec->program.err : -1, .events = POLLIN},
        {.fd = exec->exited ? -1 : exec->program.pidfd, .events = POLLIN},
    };
    const int ready = poll(p, sizeof p / sizeof p[0], wait_ms);
    if (p[0].revents != 0) {
        client_read(exec);
    }
    frames_do(exec);
    if (p[1].revents != 0 && !console_write(STDOUT_FILENO, &exec->out)) {
        exec->client_gone = true;
    }
    if (exec->input.len > 0 && exec->program.in >= 0 &&
        !console_write(exec->program.in, &exec->input)) {
        buf_clear(&exec->input);
        input_close(exec);
    }
    if (exec->input_ended && exec->input.len == 0) {
        input_close(exec);
    }
    output_read(&exec->program.out, p[3].revents, CONSOLE_OUTPUT, exec);
    output_read(&exec->program.err, p[4].revents, CONSOLE_ERROR, exec);
    exec->exited = exec->exited || p[5].revents != 0;
    return ready != 0;
}

static void last_words(struct console_run *exec, enum console_type type, struct str data)
{
    console_put(&exec->out, type, data);
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (exec->out.len > 0 && poll(&p, 1, FLUSH_MS) > 0) {
        if (!console_write(STDOUT_FILENO, &exec->out)) {
            return;
        }
    }
}

static void exec_init(struct console_run *exec)
{
    buf_init(&exec->frames, 2 * CONSOLE_PIPE_BYTES);
    buf_init(&exec->input, 2 * CONSOLE_PIPE_BYTES);
    buf_init(&exec->out, 3 * CONSOLE_PIPE_BYTES);
}

static int console_exec(char *const *argv, const char *terminal)
{
    struct console_run exec = {0};
    struct error e;
    exec_init(&exec);
    if (console_program_start(argv, terminal, &exec.program, &e) != ERR_OK) {
        last_words(&exec, CONSOLE_FAILURE, str_of(e.text));
        return e.code == ERR_NOT_FOUND ? 127 : 126;
    }
    while (!exec.client_gone && !exec.exited) {
        (void)exec_turn(&exec, -1);
    }
    if (exec.client_gone) {
        console_program_end(&exec.program);
        return 1;
    }
    const unsigned char code = (unsigned char)console_program_code(&exec.program);
    while (!exec.client_gone && (exec.program.out >= 0 || exec.program.err >= 0) &&
           exec_turn(&exec, DRAIN_MS)) {
    }
    last_words(&exec, CONSOLE_EXIT, (struct str){(const char *)&code, 1});
    return code;
}

int console_main(int argc, char **argv)
{
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc > 2 && strcmp(argv[1], "host") == 0) {
        return console_host(argv + 2);
    }
    if (argc < 4) {
        return USAGE;
    }
    if (argv[3][0] != '\0') {
        (void)setenv("TERM", argv[3], 1);
    }
    (void)fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    (void)fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    if (strcmp(argv[1], "attach") == 0) {
        return console_host_attach(argv[2]);
    }
    return strcmp(argv[1], "exec") == 0 && argc > 4 ? console_exec(argv + 4, argv[2]) : USAGE;
}
