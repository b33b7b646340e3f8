/* tunnel.c - see tunnel.h. A thread owns everything that it uses, so an agent that ends need not wait for
 * its tunnels: they end with the process, and the programs behind them see the end of their input.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/tunnel.h"

#include "agent/door_frame.h"
#include "agent/node_cert.h"
#include "agent/port_owner.h"
#include "agent/tasknet.h"
#include "base/json_out.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/http_duplex.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TUNNELS_OPEN_MAX = 256,
    TUNNEL_CONNECT_MS = 10 * 1000,
    TUNNEL_STACK_BYTES = 512 * 1024,
    TUNNEL_BODY_MAX = 4096,
};

struct tunnel_thread {
    struct arena arena;
    const char *dir;
    const char *url;
    const char *credential;
    struct http_trust trust;
    struct agent_tunnel order;
};

static unsigned tunnels_open; /* changed by all threads */

void tunnel_session(struct tunnel_server *tunnels, const char *url, const char *credential)
{
    free(tunnels->url);
    free(tunnels->credential);
    tunnels->url = url != NULL ? xstrdup(url) : NULL;
    tunnels->credential = credential != NULL ? xstrdup(credential) : NULL;
}

static void tunnel_free(struct tunnel_thread *tunnel)
{
    arena_done(&tunnel->arena);
    free(tunnel);
}

static must_use enum err ask_supervisor(struct tunnel_thread *tunnel, int fd,
                                        struct door_reply *ret, struct error *e)
{
    const struct agent_tunnel *order = &tunnel->order;
    const struct door_request request = {.key = order->key,
                                         .what = order->what,
                                         .terminal = order->terminal,
                                         .term = order->term,
                                         .argv = order->argv,
                                         .argv_count = order->argv_count};
    enum err r = door_frame_ask(tunnel->dir, &request, fd, &tunnel->arena, ret, e);
    return r != ERR_OK || ret->failure[0] == '\0' ? r : fail(e, ERR_CONFLICT, "%s", ret->failure);
}

static must_use enum err program_begin(struct tunnel_thread *tunnel, int *ret_fd, struct error *e)
{
    int ends[2];
    struct door_reply reply;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return fail_errno(e, ERR_IO, errno, "cannot make a socket");
    }
    enum err r = ask_supervisor(tunnel, ends[1], &reply, e);
    (void)close(ends[1]);
    if (r != ERR_OK) {
        (void)close(ends[0]);
        return r;
    }
    *ret_fd = ends[0];
    return ERR_OK;
}

/* Connects in the network of the calling thread. */
static must_use enum err owned_connect(const struct door_reply *reply,
                                       const struct port_owner *owner, int *ret_fd, struct error *e)
{
    int on = 1;
    enum err r = port_owner_check(reply->port, owner, e);
    if (r != ERR_OK) {
        return r;
    }
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(reply->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        const int why = errno;
        if (fd >= 0) {
            (void)close(fd);
        }
        return fail_errno(e, ERR_UNREACHABLE, why, "nothing answers on port %u of the task's node",
                          reply->port);
    }
    r = port_owner_check(reply->port, owner, e); /* the listener may have changed meanwhile */
    if (r != ERR_OK) {
        (void)close(fd);
        return r;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    *ret_fd = fd;
    return ERR_OK;
}

static must_use enum err port_connect(struct tunnel_thread *tunnel, int *ret_fd, struct error *e)
{
    struct door_reply reply = {0};
    int home = -1;
    enum err r = ask_supervisor(tunnel, -1, &reply, e);
    if (r == ERR_OK && tunnel->order.port != 0) {
        reply.port = (uint16_t)tunnel->order.port;
    }
    if (r == ERR_OK && reply.network[0] != '\0') {
        r = tasknet_enter(reply.network, &home, e);
    }
    const struct port_owner owner = {tunnel->order.key, reply.pid, reply.supervisor_hex};
    r = r == ERR_OK ? owned_connect(&reply, &owner, ret_fd, e) : r;
    if (home >= 0) {
        tasknet_leave(home);
    }
    return r;
}

static must_use enum err local_begin(struct tunnel_thread *tunnel, int *ret_fd, struct error *e)
{
    const char *what = tunnel->order.what;
    if (strcmp(what, "port") == 0) {
        return port_connect(tunnel, ret_fd, e);
    }
    if (strcmp(what, "exec") == 0 || strcmp(what, "attach") == 0) {
        return program_begin(tunnel, ret_fd, e);
    }
    return fail(e, ERR_INVALID, "this agent knows no tunnel to '%.16s'", what);
}

/* Tells the server why there is no tunnel. */
static void failure_tell(struct tunnel_thread *tunnel, const char *path,
                         const struct error *failure)
{
    struct json_out j;
    struct buf body;
    struct http_reply reply;
    struct error e;
    buf_init(&body, TUNNEL_BODY_MAX);
    json_out_init(&j, &body);
    json_out_object(&j);
    json_out_kv_text(&j, "failure", failure->text);
    json_out_end(&j);
    struct http_client *client = http_client_new(tunnel->url, tunnel->credential);
    http_client_trust(client, &tunnel->trust);
    const struct http_call call = {.method = "POST",
                                   .path = path,
                                   .body = {buf_text(&body), body.len},
                                   .repeatable = true,
                                   .timeout_ms = TUNNEL_CONNECT_MS};
    if (http_client_call(client, &call, &tunnel->arena, &reply, &e) != ERR_OK) {
        log_warn("the server cannot be told why a tunnel failed", kv_error(&e));
    }
    http_client_free(client);
    buf_done(&body);
}

static void tunnel_run(struct tunnel_thread *tunnel)
{
    struct http_duplex *duplex;
    struct http_reply reply;
    struct error e;
    int fd = -1;
    const char *path =
        arena_fmt(&tunnel->arena, "/api/v1/agent/tunnels?tunnel=%s", tunnel->order.id);
    if (local_begin(tunnel, &fd, &e) != ERR_OK) {
        failure_tell(tunnel, path, &e);
        return;
    }
    const struct http_duplex_call call = {.url = tunnel->url,
                                          .token = tunnel->credential,
                                          .trust = &tunnel->trust,
                                          .method = "POST",
                                          .path = path,
                                          .protocol = "weir-tunnel",
                                          .timeout_ms = TUNNEL_CONNECT_MS};
    if (http_duplex_open(&call, &tunnel->arena, &duplex, &reply, &e) != ERR_OK) {
        log_warn("a tunnel cannot be opened", kv_error(&e));
    } else if (duplex != NULL) {
        http_duplex_join(duplex, fd, -1);
        http_duplex_free(duplex);
    } else { /* mostly: the server no longer waits for it */
        log_warn("the server does not take a tunnel", kv_u64("status", reply.status),
                 kv_str("answer", reply.body.p));
    }
    (void)close(fd);
}

static void *thread_run(void *ctx)
{
    tunnel_run(ctx);
    tunnel_free(ctx);
    (void)__atomic_sub_fetch(&tunnels_open, 1, __ATOMIC_RELAXED);
    return NULL;
}

static const char *copy_or_null(struct arena *arena, const char *text)
{
    return text == NULL ? NULL : arena_str(arena, text);
}

static struct tunnel_thread *tunnel_new(const struct tunnel_server *tunnels,
                                        const struct agent_options *options,
                                        const struct agent_tunnel *order)
{
    struct tunnel_thread *tunnel = xcalloc(1, sizeof *tunnel);
    struct arena *arena = &tunnel->arena;
    arena_init(arena);
    tunnel->dir = arena_str(arena, options->dir);
    tunnel->url = arena_str(arena, tunnels->url);
    tunnel->credential = arena_str(arena, tunnels->credential);
    node_cert_trust(options, arena, &tunnel->trust);
    tunnel->trust.ca = copy_or_null(arena, tunnel->trust.ca);
    tunnel->trust.fingerprint = copy_or_null(arena, tunnel->trust.fingerprint);
    tunnel->order = *order;
    tunnel->order.id = arena_str(arena, order->id);
    tunnel->order.what = arena_str(arena, order->what);
    tunnel->order.terminal = arena_str(arena, order->terminal);
    tunnel->order.term = arena_str(arena, order->term);
    const char **argv = arena_new(arena, const char *, order->argv_count + 1);
    for (uint32_t i = 0; i < order->argv_count; i++) {
        argv[i] = arena_str(arena, order->argv[i]);
    }
    tunnel->order.argv = argv;
    return tunnel;
}

void tunnel_open(const struct tunnel_server *tunnels, const struct agent_options *options,
                 const struct agent_tunnel *order)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (tunnels->url == NULL ||
        __atomic_add_fetch(&tunnels_open, 1, __ATOMIC_RELAXED) > TUNNELS_OPEN_MAX) {
        if (tunnels->url != NULL) {
            (void)__atomic_sub_fetch(&tunnels_open, 1, __ATOMIC_RELAXED);
        }
        log_warn("a tunnel is refused: too many are open");
        return;
    }
    struct tunnel_thread *tunnel = tunnel_new(tunnels, options, order);
    must(pthread_attr_init(&attributes) == 0);
    must(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
    must(pthread_attr_setstacksize(&attributes, TUNNEL_STACK_BYTES) == 0);
    if (pthread_create(&thread, &attributes, thread_run, tunnel) != 0) {
        log_warn("a tunnel is refused: there is no thread for it");
        tunnel_free(tunnel);
        (void)__atomic_sub_fetch(&tunnels_open, 1, __ATOMIC_RELAXED);
    }
    (void)pthread_attr_destroy(&attributes);
}
