/* door.c - see door.h.
 *
 * Surprising: the program's environment is that of the attempt's first process, as the kernel kept it
 * from its start, except for the names by which the reaper finds the processes of an attempt. A task can
 * write into that memory, so nothing read there is used with more rights than the task has.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/door.h"

#include "agent/attempt.h"
#include "agent/attempt_limit.h"
#include "agent/attempt_place.h"
#include "agent/door_frame.h"
#include "agent/supervisor_internal.h"
#include "agent/taskenv.h"
#include "agent/tasknet.h"
#include "agent/unixsock.h"
#include "base/log.h"
#include "base/mem.h"
#include "core/model/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    DOOR_PORT_FIRST = 20000,
    DOOR_PORT_COUNT = 8192, /* below the ports that the kernel gives to outgoing connections */
    DOOR_PORT_TRIES = 64,
    DOOR_VISITORS_MAX = 256,
    DOOR_ENVIRON_MAX = 1024 * 1024,
    DOOR_ENTRIES_MAX = TASK_ENV_MAX + 64,
};

struct door {
    struct supervisor *sup;
    int fd;
    ino_t inode;
    struct loop_fd *watch;
    struct visitor *visitors;
    size_t count;
    unsigned port_next;
    int ports
        [DOOR_PORT_COUNT]; /* 0: not taken here; else 1 + the socket whose name takes the port */
};

/* One connection, until it is answered. */
struct visitor {
    struct door *door;
    struct visitor *next;
    struct visitor **link;
    int fd;
    struct loop_fd *watch; /* NULL: the program is being started */
    int passed;            /* the program's socket; -1: none */
    struct attempt_key key;
};

static void visitor_free(struct visitor *visitor)
{
    loop_fd_remove(visitor->watch);
    (void)close(visitor->fd);
    if (visitor->passed >= 0) {
        (void)close(visitor->passed);
    }
    *visitor->link = visitor->next;
    if (visitor->next != NULL) {
        visitor->next->link = visitor->link;
    }
    visitor->door->count--;
    free(visitor);
}

static void visitor_answer(struct visitor *visitor, const char *failure)
{
    door_frame_reply(visitor->fd, &(struct door_reply){.failure = failure});
    visitor_free(visitor);
}

static void visitor_tell_port(struct visitor *visitor, const struct attempt *attempt)
{
    char network[64] = "";
    if (attempt->network != NULL) {
        (void)snprintf(network, sizeof network, "/proc/%d/fd/%d", (int)getpid(),
                       tasknet_fd(attempt->network));
    }
    door_frame_reply(
        visitor->fd,
        &(struct door_reply){
            .failure = attempt->port == 0 ? "no port of the node was free for the attempt" : "",
            .port = attempt->port,
            .pid = attempt->pid,
            .supervisor_hex = attempt->sup->hex,
            .network = network,
        });
    visitor_free(visitor);
}

/* ---- the program's environment and directory ---- */

static bool is_own(const char *entry)
{
    static const char *const own[] = {
        "WEIR_SUPERVISOR=", "WEIR_TASK_ID=", "WEIR_INDEX=", "WEIR_ATTEMPT="};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strncmp(entry, own[i], strlen(own[i])) == 0) {
            return true;
        }
    }
    return false;
}

static char **environ_of(const struct attempt *attempt, struct arena *arena)
{
    char path[64];
    char **env = arena_new(arena, char *, DOOR_ENTRIES_MAX + 5);
    size_t count = 0;
    char *text = arena_alloc(arena, DOOR_ENVIRON_MAX + 1);
    size_t len = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)attempt->pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t got = 1; fd >= 0 && got > 0 && len < DOOR_ENVIRON_MAX;) {
        got = read(fd, text + len, DOOR_ENVIRON_MAX - len);
        len += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    text[len] = '\0';
    for (char *at = text; at < text + len && count < DOOR_ENTRIES_MAX; at += strlen(at) + 1) {
        if (strchr(at, '=') != NULL && !is_own(at)) {
            env[count++] = at;
        }
    }
    env[count++] = arena_fmt(arena, "WEIR_SUPERVISOR=%s", attempt->sup->hex);
    env[count++] = arena_fmt(arena, "WEIR_TASK_ID=%" PRIu64, attempt->key.task.v);
    env[count++] = arena_fmt(arena, "WEIR_INDEX=%" PRIu32, attempt->key.index);
    env[count++] = arena_fmt(arena, "WEIR_ATTEMPT=%" PRIu32, attempt->key.attempt);
    return env;
}

/* Where the first process is now; the program goes there as the task's user, or stays in the job
 * directory. */
static const char *directory_of(const struct attempt *attempt, struct arena *arena)
{
    char path[64];
    char *out = arena_alloc(arena, AGENT_PATH_MAX);
    (void)snprintf(path, sizeof path, "/proc/%d/cwd", (int)attempt->pid);
    ssize_t len = readlink(path, out, AGENT_PATH_MAX - 1);
    out[len > 0 ? len : 0] = '\0';
    return out;
}

/* ---- starting ---- */

static char **argv_make(const struct attempt *attempt, const struct door_request *request,
                        struct arena *arena)
{
    char **argv = arena_new(arena, char *, request->argv_count + 12);
    size_t n = 1; /* argv[0] is room, see spawn.h */
    argv[n++] = arena_str(arena, "/proc/self/exe");
    if (attempt->sup->confine.with != 0) { /* the program joins the task where it is confined */
        char *name = arena_alloc(arena, BOX_NAME_MAX);
        box_files_name(&attempt->key, name);
        argv[n++] = arena_str(arena, "box");
        argv[n++] = arena_str(arena, "enter");
        argv[n++] = arena_str(arena, attempt->sup->dir);
        argv[n++] = name;
    }
    argv[n++] = arena_str(arena, "console");
    argv[n++] = arena_str(arena, request->what);
    argv[n++] = arena_str(arena, request->terminal);
    argv[n++] = arena_str(arena, request->term);
    for (size_t i = 0; i < request->argv_count; i++) {
        argv[n++] = arena_str(arena, request->argv[i]);
    }
    return argv;
}

static void program_start(struct visitor *visitor, struct attempt *attempt,
                          const struct door_request *request)
{
    struct supervisor *sup = visitor->door->sup;
    struct spawn_job *job = spawner_job_new(visitor);
    struct arena *arena = &job->arena;
    char *job_dir = arena_alloc(arena, AGENT_PATH_MAX);
    jobdir_path(sup->jobdirs, attempt->key.task.v, attempt->instance, job_dir);
    char **argv = argv_make(attempt, request, arena);
    job->visit = true;
    job->order = (struct spawn_order){.candidates = taskenv_candidates(arena, argv[1], ""),
                                      .argv = argv,
                                      .env = environ_of(attempt, arena),
                                      .job_dir = job_dir,
                                      .workdir = directory_of(attempt, arena),
                                      .account = attempt_place_account(attempt, arena, job_dir),
                                      .files = &sup->task_files,
                                      .null_fd = visitor->passed,
                                      .out_fd = visitor->passed,
                                      .err_fd = sup->null_fd};
    attempt_limit_spawn(attempt, &job->order);
    if (MEM_SANITIZED) { /* the order starts `weir`, which then starts the program */
        job->order.limits.data_bytes = 0;
    }
    visitor->key = attempt->key;
    loop_fd_remove(visitor->watch);
    visitor->watch = NULL;
    attempt->entering++;
    spawner_start(sup->spawner, job);
}

bool door_started(struct spawn_job *job)
{
    struct visitor *visitor = job->ctx;
    struct supervisor *sup = visitor->door->sup;
    struct attempt *attempt = map_get(sup->attempts, &visitor->key, sizeof visitor->key);
    struct error e;
    must(attempt != NULL); /* an attempt that is being entered does not end */
    must(attempt->entering > 0);
    attempt->entering--;
    if (job->result.pid == 0) {
        (void)fail_errno(&e, ERR_IO, job->result.error_number, "cannot %s '%s' for the program",
                         job->result.step, job->order.argv[1]);
        visitor_answer(visitor, e.text);
        return false;
    }
    if (attempt->state != ATTEMPT_RUNNING) {
        (void)kill(-job->result.pid, SIGKILL);
        visitor_answer(visitor, "the attempt has just ended");
        return false;
    }
    visitor_answer(visitor, "");
    return false;
}

static void request_do(struct visitor *visitor, const struct door_request *request)
{
    struct attempt *attempt =
        map_get(visitor->door->sup->attempts, &request->key, sizeof request->key);
    const bool program = strcmp(request->what, "exec") == 0 || strcmp(request->what, "attach") == 0;
    if (attempt == NULL || attempt->state != ATTEMPT_RUNNING) {
        visitor_answer(visitor, "the attempt does not run on this node");
    } else if (strcmp(request->what, "port") == 0) {
        visitor_tell_port(visitor, attempt);
    } else if (!program || visitor->passed < 0) {
        visitor_answer(visitor, "the node's supervisor does not know this request");
    } else {
        program_start(visitor, attempt, request);
    }
}

static void visitor_ready(void *ctx, uint32_t events)
{
    struct visitor *visitor = ctx;
    struct door_request request = {0};
    struct arena arena;
    struct error e;
    (void)events;
    arena_init(&arena);
    enum err r = door_frame_read(visitor->fd, &arena, &request, &visitor->passed, &e);
    if (r == ERR_OK) {
        request_do(visitor, &request);
    } else if (r != ERR_BUSY) {
        visitor->passed = -1;
        visitor_answer(visitor, e.text);
    }
    arena_done(&arena);
}

/* ---- the socket ---- */

static void door_ready(void *ctx, uint32_t events)
{
    struct door *door = ctx;
    struct ucred peer;
    socklen_t len = sizeof peer;
    (void)events;
    int fd = accept4(door->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    if (door->count >= DOOR_VISITORS_MAX ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 ||
        (peer.uid != geteuid() && peer.uid != 0)) {
        (void)close(fd);
        return;
    }
    struct visitor *visitor = xcalloc(1, sizeof *visitor);
    *visitor = (struct visitor){.door = door, .fd = fd, .passed = -1, .next = door->visitors};
    visitor->link = &door->visitors;
    if (visitor->next != NULL) {
        visitor->next->link = &visitor->next;
    }
    door->visitors = visitor;
    door->count++;
    visitor->watch = loop_fd_add(door->sup->loop, fd, EPOLLIN, visitor_ready, visitor);
}

static must_use enum err listen_begin(struct door *door, struct error *e)
{
    enum err r = unixsock_door_listen(door->sup->dir, &door->fd, e);
    if (r == ERR_OK) {
        door->inode = unixsock_door_inode(door->sup->dir);
        door->watch = loop_fd_add(door->sup->loop, door->fd, EPOLLIN, door_ready, door);
    }
    return r;
}

must_use enum err door_open(struct supervisor *sup, struct door **ret, struct error *e)
{
    struct door *door = xcalloc(1, sizeof *door);
    *door = (struct door){.sup = sup, .fd = -1};
    enum err r = listen_begin(door, e);
    if (r != ERR_OK) {
        free(door);
        return r;
    }
    *ret = door;
    return ERR_OK;
}

must_use enum err door_hold(struct door *door, struct error *e)
{
    if (unixsock_door_inode(door->sup->dir) == door->inode) {
        return ERR_OK;
    }
    log_warn("the supervisor's door was gone and is made anew");
    loop_fd_remove(door->watch);
    (void)close(door->fd);
    door->watch = NULL;
    door->fd = -1;
    return listen_begin(door, e);
}

void door_close(struct door *door)
{
    if (door == NULL) {
        return;
    }
    while (door->visitors != NULL) {
        visitor_free(door->visitors);
    }
    loop_fd_remove(door->watch);
    if (door->fd >= 0) {
        (void)close(door->fd);
    }
    for (uint16_t i = 0; i < DOOR_PORT_COUNT; i++) {
        door_port_give(door, door->ports[i] != 0 ? (uint16_t)(DOOR_PORT_FIRST + i) : 0);
    }
    free(door);
}

/* ---- ports ---- */

static bool port_is_free(uint16_t port)
{
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free = fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof any) == 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return is_free;
}

/* Takes the port from all nodes of this machine, until the socket closes: no two sockets of one network
 * namespace have the same abstract name. -1: another node has it. */
static int port_claim(uint16_t port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "weir-port-%u", port);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 &&
        bind(fd, (const struct sockaddr *)&name,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len)) != 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

uint16_t door_port_take(struct door *door)
{
    for (unsigned i = 0; i < DOOR_PORT_TRIES; i++) {
        const unsigned n = door->port_next++ % DOOR_PORT_COUNT;
        const uint16_t port = (uint16_t)(DOOR_PORT_FIRST + n);
        const int claim = door->ports[n] == 0 && port_is_free(port) ? port_claim(port) : -1;
        if (claim >= 0) {
            door->ports[n] = claim + 1;
            return port;
        }
    }
    return 0;
}

void door_port_give(struct door *door, uint16_t port)
{
    if (port != 0) {
        int *taken = &door->ports[port - DOOR_PORT_FIRST];
        (void)close(*taken - 1);
        *taken = 0;
    }
}
