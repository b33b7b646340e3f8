/* console_host.c - the terminal of a shell task, and attaching to it. The host is the first process of
 * the task. Those who attach come and go; the program and the last bytes of its screen stay.
 *
 * Surprising: one who attaches runs as the task's user inside the attempt (`console attach`), and reaches
 * the host through a socket in the job directory. So nothing with more rights ever opens a path that the
 * task could have changed. SPDX-License-Identifier: Apache-2.0 */
#include "agent/console_internal.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    HOST_CLIENTS_MAX = 8,
    HOST_SCREEN_BYTES = 64 * 1024, /* shown again to one who attaches */
    HOST_BACKLOG = 8,
    HOST_DRAIN_MS = 300,
    HOST_FLUSH_MS = 2000,
    ATTACH_TRIES = 100, /* the host may be just starting */
    ATTACH_WAIT_MS = 50,
};

struct host_client {
    int fd; /* -1: free */
    struct buf in;
    struct buf out;
};

struct host {
    struct console_program program;
    int listen_fd;
    struct host_client clients[HOST_CLIENTS_MAX];
    struct buf screen;
    struct buf log;
    struct buf input;
    bool log_gone;
    bool exited;
};

static volatile sig_atomic_t host_ending;

static void end_asked(int number)
{
    host_ending = number;
}

static bool go_to_job_dir(void)
{
    const char *dir = getenv("WEIR_JOB_DIR");
    return dir != NULL && chdir(dir) == 0;
}

static const struct sockaddr_un socket_name = {.sun_family = AF_UNIX, .sun_path = CONSOLE_SOCKET};

/* Opens the socket relative to the job directory, because a socket's address is short. */
static int host_listen(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int before = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    mode_t mask = umask(0177);
    if (fd >= 0 && before >= 0 && go_to_job_dir()) {
        (void)unlink(CONSOLE_SOCKET);
        if (bind(fd, (const struct sockaddr *)&socket_name, sizeof socket_name) != 0 ||
            listen(fd, HOST_BACKLOG) != 0) {
            (void)close(fd);
            fd = -1;
        }
        (void)!fchdir(before);
    }
    (void)umask(mask);
    (void)close(before);
    return fd;
}

static void client_close(struct host_client *client)
{
    if (client->fd >= 0) {
        (void)close(client->fd);
    }
    buf_done(&client->in);
    buf_done(&client->out);
    client->fd = -1;
}

static void client_accept(struct host *host)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    int fd = accept4(host->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    for (size_t i = 0; i < HOST_CLIENTS_MAX; i++) {
        struct host_client *client = &host->clients[i];
        if (client->fd < 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
            (peer.uid == geteuid() || peer.uid == 0)) {
            client->fd = fd;
            buf_init(&client->in, 2 * CONSOLE_PIPE_BYTES);
            buf_init(&client->out, 2 * CONSOLE_PIPE_BYTES);
            for (size_t at = 0; at < host->screen.len; at += CONSOLE_READ_BYTES) {
                const size_t left = host->screen.len - at;
                console_put(&client->out, CONSOLE_OUTPUT,
                            (struct str){host->screen.data + at,
                                         left < CONSOLE_READ_BYTES ? left : CONSOLE_READ_BYTES});
            }
            return;
        }
    }
    (void)close(fd);
}

static void client_frames(struct host *host, struct host_client *client)
{
    char chunk[CONSOLE_READ_BYTES];
    struct console_frame frame;
    ssize_t got = read(client->fd, chunk, sizeof chunk);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        client_close(client);
        return;
    }
    buf_add(&client->in, chunk, got > 0 ? (size_t)got : 0);
    long len = 1;
    while (len > 0) {
        len = console_get((struct str){buf_text(&client->in), client->in.len}, &frame);
        if (len > 0 && frame.type == CONSOLE_INPUT) {
            buf_add(&host->input, frame.data.p, frame.data.len);
        } else if (len > 0 && frame.type == CONSOLE_SIZE) {
            console_program_size(&host->program, frame.data);
        }
        if (len > 0) {
            buf_drop(&client->in, (size_t)len);
        }
    }
    if (len < 0) {
        client_close(client);
    }
}

/* Shows new output to the log and to all clients. One that does not keep up is dropped: it may attach
 * again and sees the screen as it is then. */
static void output_show(struct host *host, struct str data)
{
    if (host->screen.len + data.len > HOST_SCREEN_BYTES) {
        buf_drop(&host->screen, host->screen.len + data.len - HOST_SCREEN_BYTES);
    }
    buf_add(&host->screen, data.p, data.len);
    if (!host->log_gone) {
        buf_add(&host->log, data.p, data.len);
    }
    for (size_t i = 0; i < HOST_CLIENTS_MAX; i++) {
        struct host_client *client = &host->clients[i];
        if (client->fd >= 0) {
            console_put(&client->out, CONSOLE_OUTPUT, data);
            if (client->out.full) {
                client_close(client);
            }
        }
    }
}

static void output_take(struct host *host)
{
    char chunk[CONSOLE_READ_BYTES];
    ssize_t got = read(host->program.out, chunk, sizeof chunk);
    if (got > 0) {
        output_show(host, (struct str){chunk, (size_t)got});
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        (void)close(host->program.out);
        host->program.out = -1;
        host->program.in = -1;
    }
}

enum { P_LISTEN, P_LOG, P_IN, P_OUT, P_PID, P_CLIENTS };

/* Waits and moves bytes once. False: nothing happened in time. */
static bool host_turn(struct host *host, int wait_ms)
{
    struct pollfd p[P_CLIENTS + HOST_CLIENTS_MAX] = {
        [P_LISTEN] = {.fd = host->listen_fd, .events = POLLIN},
        [P_LOG] = {.fd = host->log.len > 0 ? STDOUT_FILENO : -1, .events = POLLOUT},
        [P_IN] = {.fd = host->input.len > 0 ? host->program.in : -1, .events = POLLOUT},
        [P_OUT] = {.fd = host->log.len < CONSOLE_PIPE_BYTES ? host->program.out : -1,
                   .events = POLLIN},
        [P_PID] = {.fd = host->exited ? -1 : host->program.pidfd, .events = POLLIN},
    };
    for (size_t i = 0; i < HOST_CLIENTS_MAX; i++) {
        const struct host_client *client = &host->clients[i];
        p[P_CLIENTS + i].fd = client->fd;
        p[P_CLIENTS + i].events = (short)((host->input.len < CONSOLE_PIPE_BYTES ? POLLIN : 0) |
                                          (client->fd >= 0 && client->out.len > 0 ? POLLOUT : 0));
    }
    const int ready = poll(p, P_CLIENTS + HOST_CLIENTS_MAX, wait_ms);
    if (ready < 0) {
        return true; /* a signal; the caller looks at host_ending */
    }
    for (size_t i = 0; i < HOST_CLIENTS_MAX; i++) {
        struct host_client *client = &host->clients[i];
        if (client->fd >= 0 && (p[P_CLIENTS + i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            client_frames(host, client);
        }
        if (client->fd >= 0 && client->out.len > 0 && !console_write(client->fd, &client->out)) {
            client_close(client);
        }
    }
    if (p[P_LISTEN].revents != 0) {
        client_accept(host);
    }
    if (host->input.len > 0 && host->program.in >= 0 &&
        !console_write(host->program.in, &host->input)) {
        buf_clear(&host->input);
    }
    if (host->program.out >= 0 && p[P_OUT].revents != 0) {
        output_take(host);
    }
    if (host->log.len > 0 && p[P_LOG].revents != 0 && !console_write(STDOUT_FILENO, &host->log)) {
        host->log_gone = true;
        buf_clear(&host->log);
    }
    host->exited = host->exited || p[P_PID].revents != 0;
    return ready > 0;
}

static void host_done(struct host *host)
{
    buf_done(&host->screen);
    buf_done(&host->log);
    buf_done(&host->input);
}

/* Waits until a client has passed on what it was sent, and left: the attempt's other processes are ended
 * with the host. */
static void client_wait_left(struct host_client *client)
{
    char unread[CONSOLE_READ_BYTES];
    struct pollfd p = {.fd = client->fd, .events = POLLIN};
    (void)shutdown(client->fd, SHUT_WR);
    while (poll(&p, 1, HOST_FLUSH_MS) > 0 && read(client->fd, unread, sizeof unread) > 0) {
    }
    client_close(client);
}

/* Tells all clients how the program ended, and gives them a moment to hear it. */
static void host_close(struct host *host, unsigned char code)
{
    for (size_t i = 0; i < HOST_CLIENTS_MAX; i++) {
        struct host_client *client = &host->clients[i];
        struct pollfd p = {.fd = client->fd, .events = POLLOUT};
        if (client->fd < 0) {
            continue;
        }
        console_put(&client->out, CONSOLE_EXIT, (struct str){(const char *)&code, 1});
        while (client->out.len > 0 && poll(&p, 1, HOST_FLUSH_MS) > 0 &&
               console_write(client->fd, &client->out)) {
        }
        client_wait_left(client);
    }
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (host->log.len > 0 && poll(&p, 1, HOST_FLUSH_MS) > 0 &&
           console_write(STDOUT_FILENO, &host->log)) {
    }
    if (host->listen_fd >= 0 && go_to_job_dir()) {
        (void)unlink(CONSOLE_SOCKET);
    }
}

int console_host(char *const *argv)
{
    struct host host = {.listen_fd = -1};
    struct error e;
    struct sigaction action = {.sa_handler = end_asked};
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    for (size_t i = 0; i < HOST_CLIENTS_MAX; i++) {
        host.clients[i].fd = -1;
    }
    buf_init(&host.screen, HOST_SCREEN_BYTES);
    buf_init(&host.log, 2 * CONSOLE_PIPE_BYTES);
    buf_init(&host.input, 2 * CONSOLE_PIPE_BYTES);
    if (getenv("TERM") == NULL) {
        (void)setenv("TERM", "xterm-256color", 1);
    }
    if (console_program_start(argv, "24x80", &host.program, &e) != ERR_OK) {
        (void)fprintf(stderr, "weir: %s\n", e.text);
        return e.code == ERR_NOT_FOUND ? 127 : 126;
    }
    host.listen_fd = host_listen();
    if (host.listen_fd < 0) {
        (void)fprintf(stderr, "weir: nobody can attach: no socket in the job directory\n");
    }
    (void)fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
    bool told = false;
    while (!host.exited) {
        (void)host_turn(&host, -1);
        if (host_ending != 0 && !told) {
            told = true;
            (void)kill(-host.program.pid, SIGHUP);
            (void)kill(-host.program.pid, SIGTERM);
            (void)kill(-host.program.pid, SIGCONT);
        }
    }
    const unsigned char code = (unsigned char)console_program_code(&host.program);
    while (host.program.out >= 0 && host_turn(&host, HOST_DRAIN_MS)) {
    }
    host_close(&host, code);
    host_done(&host);
    return code;
}

/* ---- attaching ---- */

static int attach_connect(void)
{
    const struct timespec pause = {.tv_nsec = ATTACH_WAIT_MS * 1000000L};
    if (!go_to_job_dir()) {
        return -1;
    }
    for (int i = 0; i < ATTACH_TRIES; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd >= 0 &&
            connect(fd, (const struct sockaddr *)&socket_name, sizeof socket_name) == 0) {
            (void)fcntl(fd, F_SETFL, O_NONBLOCK);
            return fd;
        }
        (void)close(fd);
        (void)nanosleep(&pause, NULL);
    }
    return -1;
}

/* Copies once from one descriptor into the buffer. False: it has ended. */
static bool copy_in(int fd, struct buf *out)
{
    char chunk[CONSOLE_READ_BYTES];
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got > 0) {
        buf_add(out, chunk, (size_t)got);
    }
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

int console_host_attach(const char *terminal)
{
    struct buf up;
    struct buf down;
    uint16_t rows;
    uint16_t columns;
    buf_init(&up, 2 * CONSOLE_PIPE_BYTES);
    buf_init(&down, 2 * CONSOLE_PIPE_BYTES);
    const int fd = attach_connect();
    if (fd < 0) {
        console_put(&down, CONSOLE_FAILURE,
                    str_of("the task has no terminal: only tasks of kind shell have one"));
        (void)console_write(STDOUT_FILENO, &down);
        buf_done(&down);
        return 1;
    }
    if (console_size_parse(terminal, &rows, &columns)) {
        console_put_size(&up, rows, columns);
    }
    bool host_gone = false;
    bool client_gone = false;
    while (!client_gone && (!host_gone || down.len > 0)) {
        struct pollfd p[] = {
            {.fd = up.len < CONSOLE_PIPE_BYTES ? STDIN_FILENO : -1, .events = POLLIN},
            {.fd = down.len > 0 ? STDOUT_FILENO : -1, .events = POLLOUT},
            {.fd = host_gone || (down.len >= CONSOLE_PIPE_BYTES && up.len == 0) ? -1 : fd,
             .events = (short)((down.len < CONSOLE_PIPE_BYTES ? POLLIN : 0) |
                               (up.len > 0 ? POLLOUT : 0))},
        };
        (void)poll(p, sizeof p / sizeof p[0], -1);
        client_gone = p[0].revents != 0 && !copy_in(STDIN_FILENO, &up);
        if ((p[2].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && down.len < CONSOLE_PIPE_BYTES) {
            host_gone = !copy_in(fd, &down);
        }
        if (up.len > 0 && !console_write(fd, &up)) {
            buf_clear(&up); /* the host hears no more; its last words are read above */
        }
        client_gone = client_gone || (down.len > 0 && !console_write(STDOUT_FILENO, &down));
    }
    (void)close(fd);
    buf_done(&up);
    buf_done(&down);
    return 0;
}
