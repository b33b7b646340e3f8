/* programs.c - see programs.h.
 *
 * The standard input of a program is a file in memory: it is written whole before the program starts, so nothing waits
 * for a program that does not read. The end of the process is seen by its descriptor (pidfd).
 * SPDX-License-Identifier: Apache-2.0 */
#include "provider/programs.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "provider/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ERR_OUT_MAX = 4096, KILL_AFTER_MS = 2000, READ_BYTES = 4096 };

enum { STREAM_OUT, STREAM_ERR, STREAM_COUNT };

struct program_stream {
    int fd; /* -1: closed */
    struct loop_fd *watch;
    struct buf text;
};

/* A program that waits or runs. */
struct program {
    struct programs *programs;
    struct program *next;
    struct arena arena;
    char **argv;
    struct str input;
    int64_t timeout_ms;
    bool own_only;
    const void *owner;
    void (*done)(void *ctx, const struct programs_result *result);
    void *ctx;
    pid_t pid; /* 0: it does not run */
    int pid_fd;
    struct loop_fd *ended;
    struct loop_timer *timer;
    bool late;     /* its time is up, and it was told to end */
    bool too_long; /* it wrote more than PROGRAM_OUT_MAX */
    struct program_stream streams[STREAM_COUNT];
    char problem[PROGRAM_TEXT_MAX];
};

struct programs {
    struct loop *loop;
    struct loop_timer *start; /* starts programs outside of the caller's call */
    struct program *waiting_first;
    struct program **waiting_end;
    struct program *running;
    size_t waiting;
    size_t active;
};

static void start_due(void *ctx);

struct programs *programs_new(struct loop *loop)
{
    struct programs *programs = xcalloc(1, sizeof *programs);
    programs->loop = loop;
    programs->start = loop_timer_new(loop, start_due, programs);
    programs->waiting_end = &programs->waiting_first;
    return programs;
}

size_t programs_count(const struct programs *programs)
{
    return programs->waiting + programs->active;
}

/* ---- the end of a program ---- */

static void stream_close(struct program_stream *stream)
{
    loop_fd_remove(stream->watch);
    stream->watch = NULL;
    if (stream->fd >= 0) {
        (void)close(stream->fd);
    }
    stream->fd = -1;
}

static void program_free(struct program *program)
{
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        stream_close(&program->streams[i]);
        buf_done(&program->streams[i].text);
    }
    loop_fd_remove(program->ended);
    loop_timer_free(program->timer);
    if (program->pid_fd >= 0) {
        (void)close(program->pid_fd);
    }
    arena_done(&program->arena);
    free(program);
}

/* The last line that the program wrote to its standard error: mostly the one that says why it failed. */
static struct str last_line(const struct buf *text)
{
    struct str rest = str_trim((struct str){buf_text(text), text->len});
    struct str last = rest;
    while (rest.p != NULL) {
        last = str_cut(rest, '\n', &rest);
    }
    return str_trim(last);
}

static void problem_set(struct program *program, int status)
{
    const struct str line = last_line(&program->streams[STREAM_ERR].text);
    const int len = line.len < PROGRAM_TEXT_MAX ? (int)line.len : PROGRAM_TEXT_MAX - 1;
    const char *between = len > 0 ? ": " : "";
    if (program->late) {
        (void)snprintf(program->problem, sizeof program->problem,
                       "the program did not end within %lld s%s%.*s",
                       (long long)(program->timeout_ms / 1000), between, len, line.p);
    } else if (program->too_long) {
        (void)snprintf(program->problem, sizeof program->problem,
                       "the program wrote more than %d bytes", PROGRAM_OUT_MAX);
    } else if (WIFSIGNALED(status)) {
        (void)snprintf(program->problem, sizeof program->problem,
                       "the program was ended by signal %d%s%.*s", WTERMSIG(status), between, len,
                       line.p);
    } else if (WEXITSTATUS(status) != 0) {
        (void)snprintf(program->problem, sizeof program->problem,
                       "the program ended with exit code %d%s%.*s", WEXITSTATUS(status), between,
                       len, line.p);
    }
}

/* Takes the program out of the list of those that run, tells the caller, and frees the program. */
static void program_finish(struct program *program)
{
    struct programs *programs = program->programs;
    struct program **link = &programs->running;
    while (*link != program) {
        must(*link != NULL);
        link = &(*link)->next;
    }
    *link = program->next;
    programs->active--;
    if (programs->waiting > 0) {
        loop_timer_set(programs->start, loop_now_ms(programs->loop));
    }
    const struct buf *out = &program->streams[STREAM_OUT].text;
    const struct programs_result result = {.out = {buf_text(out), out->len},
                                           .problem = program->problem};
    program->done(program->ctx, &result);
    program_free(program);
}

static void group_kill(const struct program *program, int signal_number)
{
    (void)kill(-program->pid, signal_number);
}

/* ---- a program that runs ---- */

/* Reads what is there. Of standard error the last few kilobytes are kept. */
static void stream_read(struct program *program, unsigned which)
{
    struct program_stream *stream = &program->streams[which];
    char bytes[READ_BYTES];
    ssize_t got = 0;
    while (stream->fd >= 0 && (got = read(stream->fd, bytes, sizeof bytes)) > 0) {
        if (which == STREAM_ERR && stream->text.len + (size_t)got > ERR_OUT_MAX) {
            buf_clear(&stream->text); /* the last words are the ones that count */
        }
        buf_add(&stream->text, bytes, (size_t)got);
        if (which == STREAM_OUT && stream->text.full) {
            program->too_long = true;
            group_kill(program, SIGKILL);
            stream_close(stream);
        }
    }
    if (stream->fd >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR))) {
        stream_close(stream);
    }
}

static void out_ready(void *ctx, uint32_t events)
{
    (void)events;
    stream_read(ctx, STREAM_OUT);
}

static void err_ready(void *ctx, uint32_t events)
{
    (void)events;
    stream_read(ctx, STREAM_ERR);
}

static void process_ended(void *ctx, uint32_t events)
{
    struct program *program = ctx;
    siginfo_t info = {0};
    int status = 0;
    (void)events;
    if (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
        return;
    }
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        stream_read(program, i);
    }
    /* What the program left behind. The number of the group is the program's as long as nobody has waited for it. */
    group_kill(program, SIGKILL);
    must(waitpid(program->pid, &status, 0) == program->pid);
    problem_set(program, status);
    program_finish(program);
}

static void time_is_up(void *ctx)
{
    struct program *program = ctx;
    group_kill(program, program->late ? SIGKILL : SIGTERM);
    program->late = true;
    loop_timer_set(program->timer, loop_now_ms(program->programs->loop) + KILL_AFTER_MS);
}

/* ---- the start of a program ---- */

/* A file in memory with the input, from its beginning; -1: there is none. */
static int input_open(struct str input)
{
    const int fd = memfd_create("weir-input", MFD_CLOEXEC);
    if (fd >= 0 &&
        (write(fd, input.p, input.len) != (ssize_t)input.len || lseek(fd, 0, SEEK_SET) != 0)) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

/* What programs may know of this process: where programs are, whose home it is, and where Slurm is. */
static char **env_make(struct arena *arena)
{
    static const char *const names[] = {"PATH", "HOME", "USER", "LOGNAME", "TZ", "SLURM_CONF"};
    const size_t count = sizeof names / sizeof names[0];
    char **env = arena_new(arena, char *, count + 2);
    size_t used = 0;
    env[used++] = arena_str(arena, "LC_ALL=C.UTF-8");
    for (size_t i = 0; i < count; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL) {
            env[used++] = arena_fmt(arena, "%s=%s", names[i], value);
        }
    }
    env[used] = NULL;
    return env;
}

static void fds_close(int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0) {
            (void)close(fds[i]);
        }
    }
}

/* Opens pipes, starts the program and closes the program's ends; an errno value, 0: the program runs. */
static int streams_start(struct program *program)
{
    int out[2] = {-1, -1};
    int err[2] = {-1, -1};
    const int input = input_open(program->input);
    int number = 0;
    if (input < 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        number = errno;
    } else {
        const struct process_order order = {.argv = program->argv,
                                            .env = env_make(&program->arena),
                                            .fds = {input, out[1], err[1]}};
        number = process_start(&order, &program->pid);
    }
    if (number == 0) {
        program->pid_fd = pidfd_open(program->pid, 0);
        number = program->pid_fd < 0 ? errno : 0;
        if (number != 0) {
            group_kill(program, SIGKILL);
            (void)waitpid(program->pid, NULL, 0);
        }
    }
    fds_close((int[]){input, out[1], err[1]}, 3);
    if (number != 0) {
        fds_close((int[]){out[0], err[0]}, 2);
        return number;
    }
    program->streams[STREAM_OUT].fd = out[0];
    program->streams[STREAM_ERR].fd = err[0];
    return 0;
}

/* The program runs as this process: nobody else may be able to change it. */
static enum err program_check(const struct program *program, struct error *e)
{
    struct stat info;
    const char *path = program->argv[0];
    if (!program->own_only) {
        return ERR_OK;
    }
    if (stat(path, &info) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot run '%s'", path);
    }
    if ((info.st_uid != 0 && info.st_uid != geteuid()) ||
        (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return fail(e, ERR_DENIED,
                    "'%s' is not run: only root or the user of the server may own and write it",
                    path);
    }
    return ERR_OK;
}

static void program_start(struct program *program)
{
    static const loop_fd_fn ready[STREAM_COUNT] = {out_ready, err_ready};
    struct programs *programs = program->programs;
    struct loop *loop = programs->loop;
    program->next = programs->running;
    programs->running = program;
    programs->active++;
    struct error e;
    enum err r = program_check(program, &e);
    const int number = r == ERR_OK ? streams_start(program) : 0;
    if (number != 0) {
        r = fail_errno(&e, ERR_IO, number, "cannot run '%s'", program->argv[0]);
    }
    if (r != ERR_OK) {
        (void)str_copy(program->problem, sizeof program->problem, e.text);
        program_finish(program);
        return;
    }
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        struct program_stream *stream = &program->streams[i];
        (void)fcntl(stream->fd, F_SETFL, O_NONBLOCK);
        stream->watch = loop_fd_add(loop, stream->fd, EPOLLIN, ready[i], program);
    }
    program->ended = loop_fd_add(loop, program->pid_fd, EPOLLIN, process_ended, program);
    program->timer = loop_timer_new(loop, time_is_up, program);
    loop_timer_set(program->timer, loop_now_ms(loop) + program->timeout_ms);
}

static void start_due(void *ctx)
{
    struct programs *programs = ctx;
    while (programs->waiting_first != NULL && programs->active < PROGRAMS_AT_ONCE) {
        struct program *program = programs->waiting_first;
        programs->waiting_first = program->next;
        if (programs->waiting_first == NULL) {
            programs->waiting_end = &programs->waiting_first;
        }
        programs->waiting--;
        program_start(program);
    }
}

void programs_run(struct programs *programs, const struct programs_order *order)
{
    struct program *program = xcalloc(1, sizeof *program);
    size_t words = 0;
    must(order->input.len <= PROGRAM_INPUT_MAX);
    must(programs->waiting < PROGRAMS_QUEUE_MAX);
    while (order->argv[words] != NULL) {
        words++;
    }
    must(words > 0);
    must(words <= PROGRAM_WORDS_MAX);
    arena_init(&program->arena);
    program->programs = programs;
    program->argv = arena_new(&program->arena, char *, words + 1);
    for (size_t i = 0; i < words; i++) {
        program->argv[i] = arena_str(&program->arena, order->argv[i]);
    }
    program->input = (struct str){
        arena_strn(&program->arena, order->input.p != NULL ? order->input.p : "", order->input.len),
        order->input.len};
    program->timeout_ms = order->timeout_ms;
    program->own_only = order->own_only;
    program->owner = order->owner;
    program->done = order->done;
    program->ctx = order->ctx;
    program->pid_fd = -1;
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        program->streams[i].fd = -1;
        buf_init(&program->streams[i].text, i == STREAM_OUT ? PROGRAM_OUT_MAX : ERR_OUT_MAX);
    }
    *programs->waiting_end = program;
    programs->waiting_end = &program->next;
    programs->waiting++;
    loop_timer_set(programs->start, loop_now_ms(programs->loop));
}

/* Takes programs out of a list: those of the owner, or all. Returns how many. */
static size_t list_cancel(struct program **link, const void *owner, bool all)
{
    size_t count = 0;
    while (*link != NULL) {
        struct program *program = *link;
        if (!all && program->owner != owner) {
            link = &program->next;
            continue;
        }
        *link = program->next;
        if (program->pid > 0) {
            group_kill(program, SIGKILL);
            (void)waitpid(program->pid, NULL, 0);
        }
        program_free(program);
        count++;
    }
    return count;
}

static void cancel(struct programs *programs, const void *owner, bool all)
{
    programs->active -= list_cancel(&programs->running, owner, all);
    programs->waiting -= list_cancel(&programs->waiting_first, owner, all);
    programs->waiting_end = &programs->waiting_first;
    while (*programs->waiting_end != NULL) {
        programs->waiting_end = &(*programs->waiting_end)->next;
    }
}

void programs_cancel(struct programs *programs, const void *owner)
{
    cancel(programs, owner, false);
    if (programs->waiting > 0) {
        loop_timer_set(programs->start, loop_now_ms(programs->loop));
    }
}

void programs_free(struct programs *programs)
{
    if (programs == NULL) {
        return;
    }
    cancel(programs, NULL, true);
    loop_timer_free(programs->start);
    free(programs);
}
