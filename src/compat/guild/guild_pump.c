/* guild_pump.c - from the pipes of a run to its files `output` and `output.index`, to its scalars, and to our own standard output and error.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "compat/guild/guild_scalars.h"
#include "compat/guild/guild_pump.h"
#include "io/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 65536,
    LINE_BYTES_MAX = 65536,
    INDEX_RECORD = 9,
    FIRST_TEXT_BYTE = 9, /* Guild's lines leave out the bytes below */
    REST_WAIT_MS = 2000, /* for output of processes that outlive the run's own process */
};

struct pump_stream {
    struct buf line;
};

struct pump {
    struct guild_process *process;
    struct guild_scalars *scalars; /* NULL: none are wanted */
    struct pump_stream streams[2];
    int output;
    int index;
    int signals;
    bool ended;
    int status;
    int64_t rest_until_ms; /* once ended: until when output is waited for */
};

static int64_t now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void all_write(int fd, const char *data, size_t len)
{
    while (fd >= 0 && len > 0) {
        const ssize_t n = write(fd, data, len);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (n <= 0) {
            return; /* a full disk or a closed pipe does not end the run */
        }
        data += n;
        len -= (size_t)n;
    }
}

static void line_end(struct pump *pump, int which)
{
    struct pump_stream *stream = &pump->streams[which];
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    char record[INDEX_RECORD];
    for (int i = 0; i < 8; i++) {
        record[i] = (char)(ms >> (56 - 8 * i));
    }
    record[8] = (char)which;
    all_write(pump->index, record, sizeof record);
    if (pump->scalars != NULL) {
        guild_scalars_line(pump->scalars, (struct str){buf_text(&stream->line), stream->line.len});
    }
    buf_clear(&stream->line);
}

static void bytes_take(struct pump *pump, int which, const char *data, size_t len)
{
    all_write(which == 0 ? STDOUT_FILENO : STDERR_FILENO, data, len);
    all_write(pump->output, data, len);
    for (size_t i = 0; i < len; i++) {
        if ((unsigned char)data[i] < FIRST_TEXT_BYTE) {
            continue;
        }
        struct buf *line = &pump->streams[which].line;
        if (line->len < LINE_BYTES_MAX) {
            buf_add_char(line, data[i]);
        }
        if (data[i] == '\n') {
            line_end(pump, which);
        }
    }
}

static void stream_close(struct pump *pump, int which)
{
    if (pump->streams[which].line.len > 0) {
        line_end(pump, which);
    }
    (void)close(pump->process->streams[which]);
    pump->process->streams[which] = -1;
}

static void stream_read(struct pump *pump, int which)
{
    char chunk[CHUNK_BYTES];
    const ssize_t n = read(pump->process->streams[which], chunk, sizeof chunk);
    if (n > 0) {
        bytes_take(pump, which, chunk, (size_t)n);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        stream_close(pump, which);
    }
}

/* Hands a signal on to the run's processes. */
static void signal_take(struct pump *pump)
{
    struct signalfd_siginfo info;
    if (read(pump->signals, &info, sizeof info) == (ssize_t)sizeof info && !pump->ended) {
        (void)kill(-pump->process->pid, (int)info.ssi_signo);
    }
}

/* Looks at the end of the process and leaves it to be waited for: if we are killed before the end is recorded, the guard sees it, too. */
static void process_collect(struct pump *pump)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)pump->process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pump->process->pid) {
        pump->ended = true;
        pump->status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
        pump->rest_until_ms = now_ms() + REST_WAIT_MS;
    }
}

/* A process in the background keeps the pipes open: what is in them is taken, and more is not waited for. */
static void rest_take(struct pump *pump)
{
    for (int i = 0; i < 2; i++) {
        int *fd = &pump->process->streams[i];
        struct pollfd ready = {.fd = *fd, .events = POLLIN};
        if (*fd >= 0 && poll(&ready, 1, 0) == 1) {
            stream_read(pump, i);
        }
        if (*fd >= 0) {
            stream_close(pump, i);
        }
    }
}

static void pump_step(struct pump *pump)
{
    int *streams = pump->process->streams;
    struct pollfd fds[] = {
        {.fd = streams[0], .events = POLLIN},
        {.fd = streams[1], .events = POLLIN},
        {.fd = pump->ended ? -1 : pump->process->pidfd, .events = POLLIN},
        {.fd = pump->signals, .events = POLLIN},
    };
    const int64_t left_ms = pump->ended ? pump->rest_until_ms - now_ms() : 0;
    if (pump->ended && left_ms <= 0) {
        rest_take(pump);
        return;
    }
    const int ready = poll(fds, 4, pump->ended ? (int)left_ms : -1);
    for (int i = 0; ready > 0 && i < 2; i++) {
        if (fds[i].revents != 0) {
            stream_read(pump, i);
        }
    }
    if (ready > 0 && fds[2].revents != 0) {
        process_collect(pump);
    }
    if (ready > 0 && fds[3].revents != 0) {
        signal_take(pump);
    }
}

static int file_open(struct arena *arena, const struct guild_run *run, const char *name,
                     bool goes_on)
{
    const char *path = arena_fmt(arena, "%s/.guild/%s", run->dir, name);
    return open(path, O_WRONLY | O_CREAT | (goes_on ? O_APPEND : O_TRUNC) | O_NOFOLLOW | O_CLOEXEC,
                0666);
}

int guild_pump_run(const struct guild_run *run, struct guild_process *process, struct arena *arena)
{
    sigset_t set;
    signals_ending(&set);
    const bool records = process->records;
    struct pump pump = {.process = process, .output = -1, .index = -1};
    pump.signals = signalfd(-1, &set, SFD_CLOEXEC);
    if (records) {
        pump.output = file_open(arena, run, "output", process->goes_on);
        pump.index = file_open(arena, run, "output.index", process->goes_on);
        pump.scalars =
            run->scalars ? guild_scalars_new(run->dir, (const char *const *)run->flags) : NULL;
    }
    for (int i = 0; i < 2; i++) {
        buf_init(&pump.streams[i].line, LINE_BYTES_MAX + 1);
    }
    while (!pump.ended || process->streams[0] >= 0 || process->streams[1] >= 0) {
        pump_step(&pump);
    }
    for (int i = 0; i < 2; i++) {
        buf_done(&pump.streams[i].line);
    }
    guild_scalars_free(pump.scalars);
    const int files[] = {pump.output, pump.index, pump.signals};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] >= 0) {
            (void)close(files[i]);
        }
    }
    return pump.status;
}
