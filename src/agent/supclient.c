/* supclient.c - the agent's side of the connection with the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/supclient.h"

#include "agent/unixsock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RECEIVE_BYTES = 64 * 1024,
    READY_FD = 3, /* number of the ready pipe's end in the new supervisor */
    LAUNCH_MS_MAX = 20000,
    LAUNCH_ARGS_MAX = 16,
};

struct supclient {
    int fd;
    size_t taken; /* bytes of `in` that were decoded */
    struct buf in;
    struct buf out;
};

must_use enum err supclient_connect(const char *dir, struct supclient **ret, struct error *e)
{
    int fd;
    enum err r = unixsock_connect(dir, &fd, e);
    if (r != ERR_OK) {
        return r;
    }
    struct supclient *client = xcalloc(1, sizeof *client);
    client->fd = fd;
    buf_init(&client->in, FRAME_BYTES_MAX + 2 * RECEIVE_BYTES);
    buf_init(&client->out, FRAME_QUEUE_MAX);
    *ret = client;
    return ERR_OK;
}

void supclient_free(struct supclient *client)
{
    if (client == NULL) {
        return;
    }
    (void)close(client->fd);
    buf_done(&client->in);
    buf_done(&client->out);
    free(client);
}

int supclient_fd(const struct supclient *client)
{
    return client->fd;
}

void supclient_put(struct supclient *client, const struct frame *frame)
{
    frame_put(&client->out, frame);
}

must_use bool supclient_flush(struct supclient *client)
{
    while (client->out.len > 0) {
        ssize_t sent =
            send(client->fd, client->out.data, client->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) {
            return !client->out.full;
        }
        if (sent <= 0) {
            return false;
        }
        buf_drop(&client->out, (size_t)sent);
    }
    return !client->out.full;
}

bool supclient_pending(const struct supclient *client)
{
    return client->out.len > 0;
}

enum supclient_got supclient_get(struct supclient *client, struct arena *arena, struct frame *ret)
{
    for (;;) {
        long len =
            frame_get(client->in.data + client->taken, client->in.len - client->taken, arena, ret);
        if (len > 0) {
            client->taken += (size_t)len;
            return SUPCLIENT_FRAME;
        }
        if (len < 0) {
            return SUPCLIENT_GONE;
        }
        buf_drop(&client->in, client->taken);
        client->taken = 0;
        char chunk[RECEIVE_BYTES];
        ssize_t got = recv(client->fd, chunk, sizeof chunk, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return SUPCLIENT_NOTHING;
        }
        if (got <= 0) {
            return SUPCLIENT_GONE;
        }
        buf_add(&client->in, chunk, (size_t)got);
    }
}

/* Reads the one line that the new supervisor writes: empty, or why the supervisor could not
 * begin. */
static must_use enum err ready_wait(int fd, struct error *e)
{
    char line[ERROR_TEXT_MAX];
    size_t len = 0;
    while (len < sizeof line - 1) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        int ready = poll(&poll_fd, 1, LAUNCH_MS_MAX);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready == 0) {
            return fail(e, ERR_TIMEOUT, "the supervisor does not become ready");
        }
        ssize_t got = read(fd, line + len, sizeof line - 1 - len);
        if (got <= 0) {
            return fail(e, ERR_IO, "the supervisor ended while starting");
        }
        len += (size_t)got;
        if (line[len - 1] == '\n') {
            line[len - 1] = '\0';
            return line[0] == '\0' ? ERR_OK : fail(e, ERR_IO, "%s", line);
        }
    }
    return fail(e, ERR_IO, "the supervisor's answer is too long");
}

static must_use enum err self_run(char **argv, int ready_fd, struct error *e)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    (void)sigemptyset(&none);
    must(posix_spawn_file_actions_init(&actions) == 0);
    must(posix_spawnattr_init(&attributes) == 0);
    must(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0);
    must(posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0) == 0);
    must(posix_spawn_file_actions_adddup2(&actions, ready_fd, READY_FD) == 0);
    must(posix_spawnattr_setsigmask(&attributes, &none) == 0);
    must(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK) == 0);
    int failed = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    if (failed != 0) {
        return fail_errno(e, ERR_IO, failed, "cannot start the supervisor");
    }
    return ERR_OK;
}

must_use enum err supclient_launch(const struct agent_options *options, struct error *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a pipe");
    }
    /* The child needs the number READY_FD for the pipe, so our end moves up. */
    int up = fcntl(ends[1], F_DUPFD_CLOEXEC, READY_FD + 1);
    (void)close(ends[1]);
    struct arena arena;
    arena_init(&arena);
    char *argv[LAUNCH_ARGS_MAX] = {arena_str(&arena, "weir"), arena_str(&arena, "supervisor"),
                                   arena_str(&arena, "--dir"), arena_str(&arena, options->dir),
                                   arena_str(&arena, "--ready-fd=3")};
    size_t count = 5;
    if (options->run_as != NULL) {
        argv[count++] = arena_fmt(&arena, "--run-as=%s", options->run_as);
    }
    if (options->task_uids != NULL) {
        argv[count++] = arena_fmt(&arena, "--task-uids=%s", options->task_uids);
    }
    if (options->task_pids > 0) {
        argv[count++] = arena_fmt(&arena, "--task-pids=%lld", (long long)options->task_pids);
    }
    if (options->task_disk > 0) {
        argv[count++] = arena_fmt(&arena, "--task-disk=%lld", (long long)options->task_disk);
    }
    if (options->confine != NULL) {
        argv[count++] = arena_fmt(&arena, "--confine=%s", options->confine);
    }
    if (options->cpu_binding != NULL) {
        argv[count++] = arena_fmt(&arena, "--cpu-binding=%s", options->cpu_binding);
    }
    if (options->hide != NULL) {
        argv[count++] = arena_fmt(&arena, "--hide=%s", options->hide);
    }
    enum err r = self_run(argv, up, e);
    (void)close(up);
    arena_done(&arena);
    r = r == ERR_OK ? ready_wait(ends[0], e) : r;
    (void)close(ends[0]);
    return r;
}
