/* proxy_pass.c - a request through a tunnel to a task's port, and the answer back.
 *
 * The answer is read only as fast as the browser takes it. A task that does not begin to answer
 * within PASS_ANSWER_MS gives 504. A task that breaks off leaves an answer that is visibly not
 * whole.
 *
 * The instances of a service take turns. An instance that does not listen is skipped. A request for
 * which no instance listens waits for PASS_SEEK_MS, because instances start again (ADR 0074). A
 * waiting request looks its address up again before each try, because the service of this name may
 * be submitted again meanwhile (ADR 0077). SPDX-License-Identifier: Apache-2.0 */
#include "api/http_status.h"
#include "api/proxy_internal.h"
#include "api/proxy_place.h"

#include "base/mem.h"
#include "core/model/account.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
    PASS_ANSWER_MS = 120 * 1000,
    PASS_STREAM_BYTES = 256 * 1024,
    PASS_READ_BYTES = 16 * 1024,
    PASS_SEEK_MS = 30 * 1000,
    PASS_SEEK_AGAIN_MS = 200,
};

static void pass_free(struct proxied *p)
{
    loop_fd_remove(p->watch);
    loop_timer_free(p->timer);
    relay_free(p->relay);
    tunnel_close(p->tunnel);
    if (p->client != NULL) {
        http_upgrade_end(p->client);
    }
    api_token_end(&p->use);
    buf_done(&p->out);
    buf_done(&p->in);
    arena_done(&p->arena);
    free(p);
}

void proxy_pass_gone(struct proxied *p)
{
    pass_free(p);
}

static void pass_fail(struct proxied *p, unsigned status, const struct error *e)
{
    struct http_request *request = steal(p->request);
    struct error copy = *e;
    pass_free(p);
    http_request_set_data(request, NULL);
    proxy_refuse(request, status, &copy);
}

/* ---- a plain answer ---- */

static void stream_gone(void *ctx)
{
    struct proxied *p = ctx;
    p->stream = NULL;
    pass_free(p);
}

static void pass_end(struct proxied *p)
{
    if (p->left > 0) {
        http_stream_break(p->stream);
    } else {
        http_stream_end(p->stream);
    }
    p->stream = NULL;
    pass_free(p);
}

/* Gives the browser what has come: first what came with the head, then from the descriptor. */
static size_t more(void *ctx, char *out, size_t max)
{
    struct proxied *p = ctx;
    size_t len = p->in.len < max ? p->in.len : max;
    if (p->left >= 0 && len > (size_t)p->left) {
        len = (size_t)p->left;
    }
    if (len > 0) {
        memcpy(out, p->in.data, len);
        buf_drop(&p->in, len);
    } else if (!p->over && p->left != 0) {
        const size_t want = p->left > 0 && (uint64_t)p->left < max ? (size_t)p->left : max;
        ssize_t got = recv(tunnel_fd(p->tunnel), out, want, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            loop_fd_change(p->watch, EPOLLIN);
            return 0;
        }
        p->over = got <= 0;
        len = got > 0 ? (size_t)got : 0;
    }
    p->left -= p->left > 0 ? (int64_t)len : 0;
    if (len == 0) { /* the stream must not be ended in here */
        loop_timer_set(p->timer, loop_now_ms(p->api->o.loop));
    }
    return len;
}

static void answer_begin(struct proxied *p)
{
    struct http_request *request = steal(p->request);
    struct error e;
    const bool none = p->head.status == 204 || p->head.status == 304 ||
                      strcmp(http_request_method(request), "HEAD") == 0;
    if (p->head.chunked || p->head.status < 200) {
        p->request = request;
        (void)fail(&e, ERR_INVALID, "the task answers in a form that HTTP/1.0 does not have");
        pass_fail(p, 502, &e);
        return;
    }
    proxy_head_give(request, &p->head, &p->way, http_request_arena(request));
    http_request_set_data(request, NULL);
    api_count_answer(p->api, p->head.status);
    if (none) {
        const unsigned status = p->head.status;
        pass_free(p);
        http_request_answer(request, status, NULL, (struct str){"", 0});
        return;
    }
    p->left = p->head.length;
    loop_fd_change(p->watch, 0);
    loop_timer_off(p->timer);
    p->stream = http_stream_begin(request, p->head.status, NULL, PASS_STREAM_BYTES, stream_gone, p);
    http_stream_source(p->stream, more);
    http_stream_wake(p->stream);
}

/* ---- WebSockets ---- */

static void relay_over(void *ctx)
{
    pass_free(ctx);
}

static void client_upgraded(void *ctx, struct http_upgrade *upgrade, int fd, struct str early)
{
    struct proxied *p = ctx;
    p->answering = false;
    p->client = upgrade;
    if (upgrade == NULL || p->cut || early.len > RELAY_BYTES_MAX) {
        pass_free(p);
        return;
    }
    const struct relay_end ends[2] = {{fd, early},
                                      {tunnel_fd(p->tunnel), {buf_text(&p->in), p->in.len}}};
    p->relay = relay_new(p->api->o.loop, ends, relay_over, p);
}

static void websocket_begin(struct proxied *p)
{
    struct http_request *request = steal(p->request);
    proxy_head_give(request, &p->head, &p->way, http_request_arena(request));
    http_request_set_data(request, NULL);
    api_count_answer(p->api, 101);
    loop_fd_remove(p->watch);
    p->watch = NULL;
    loop_timer_off(p->timer);
    p->answering = true;
    http_upgrade_answer(request, "websocket", client_upgraded, p);
}

/* ---- the request ---- */

static void answer_look(struct proxied *p)
{
    struct error e;
    const long len =
        proxy_head_read((struct str){buf_text(&p->in), p->in.len}, &p->arena, &p->head);
    if (len < 0 || (len == 0 && p->over)) {
        (void)fail(&e, ERR_UNREACHABLE, "the task does not answer in HTTP");
        pass_fail(p, 502, &e);
        return;
    }
    if (len == 0) {
        return;
    }
    buf_drop(&p->in, (size_t)len);
    p->headed = true;
    if (p->way.websocket && p->head.status == 101) {
        websocket_begin(p);
    } else {
        answer_begin(p);
    }
}

static void task_ready(void *ctx, uint32_t events)
{
    struct proxied *p = ctx;
    char chunk[PASS_READ_BYTES];
    if (p->headed) { /* the answer goes on */
        loop_fd_change(p->watch, 0);
        http_stream_wake(p->stream);
        return;
    }
    while (p->out.len > 0) {
        ssize_t put =
            send(tunnel_fd(p->tunnel), p->out.data, p->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (put <= 0) {
            p->over = put == 0 || (errno != EAGAIN && errno != EINTR);
            break;
        }
        buf_drop(&p->out, (size_t)put);
    }
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        ssize_t got = recv(tunnel_fd(p->tunnel), chunk, sizeof chunk, MSG_DONTWAIT);
        buf_add(&p->in, chunk, got > 0 ? (size_t)got : 0);
        p->over = p->over || got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
    }
    loop_fd_change(p->watch, EPOLLIN | (p->out.len > 0 ? (uint32_t)EPOLLOUT : 0));
    answer_look(p);
}

static void seek(struct proxied *p);

static void timer_due(void *ctx)
{
    struct proxied *p = ctx;
    struct error e;
    if (p->stream != NULL) {
        pass_end(p);
        return;
    }
    if (p->seeking) {
        seek(p);
        return;
    }
    (void)fail(&e, ERR_TIMEOUT, "the task has not answered within %d s", PASS_ANSWER_MS / 1000);
    pass_fail(p, 504, &e);
}

/* The live row of the task if the request is for any instance of a service; else NULL. */
static const struct task *service_of(const struct proxied *p, const struct core *core)
{
    const struct task *task = core != NULL && p->index < 0 ? query_task(core, p->task) : NULL;
    return task != NULL && task->kind == TASK_SERVICE && !task_state_ended(task->state) ? task
                                                                                        : NULL;
}

/* The instance that is asked now failed. A service has others, or will have one again. */
static void unreached(struct proxied *p, unsigned status, const struct error *e)
{
    const struct task *task = service_of(p, p->api->o.host->core(p->api->o.host->ctx));
    const int64_t now_ms = loop_now_ms(p->api->o.loop);
    if ((task == NULL && p->name == NULL) || now_ms >= p->give_up_ms) {
        pass_fail(p, status, e);
        return;
    }
    p->seeking = true;
    const bool next =
        task != NULL && p->asked > 0 &&
        p->asked < proxy_place_count(p, p->api->o.host->core(p->api->o.host->ctx), task);
    p->asked = next ? p->asked : 0;
    loop_timer_set(p->timer, next ? now_ms : now_ms + PASS_SEEK_AGAIN_MS);
}

static void tunnel_told(void *ctx, const struct error *failure)
{
    struct proxied *p = ctx;
    if (failure != NULL) {
        p->tunnel = NULL;
        unreached(p, 502, failure);
        return;
    }
    const struct str early = tunnel_early(p->tunnel);
    buf_add(&p->in, early.p, early.len);
    proxy_head_write(p->request, &p->way, &p->out);
    p->watch = loop_fd_add(p->api->o.loop, tunnel_fd(p->tunnel), EPOLLIN | EPOLLOUT, task_ready, p);
    loop_timer_set(p->timer, loop_now_ms(p->api->o.loop) + PASS_ANSWER_MS);
}

/* The token of this request was revoked. */
static void pass_cut(struct token_use *use)
{
    struct proxied *p = (struct proxied *)use;
    struct error e;
    if (p->answering) {
        p->cut = true;
        LIST_REMOVE(use, link);
        LIST_INSERT_HEAD(&p->api->cut_uses, use, link);
    } else if (p->request != NULL) {
        (void)fail(&e, ERR_DENIED, "the token was revoked");
        pass_fail(p, 403, &e);
    } else if (p->stream != NULL) {
        p->left = 1; /* not whole */
        pass_end(p);
    } else {
        pass_free(p);
    }
}

/* Finds the task that the request's address means now, and checks that the request may reach the
 * task. */
static enum err task_find(struct proxied *p, const struct core *core, struct error *e)
{
    if (core == NULL) {
        return fail(e, ERR_BUSY, "the server is starting");
    }
    if (!proxy_place_find(p, core)) {
        const bool known = query_account_named(core, ACCOUNT_PROJECT, p->project) != NULL;
        p->give_up_ms = known ? p->give_up_ms : 0;
        return known
                   ? fail(e, ERR_NOT_FOUND, "project '%s' has no service '%s'", p->project, p->name)
                   : fail(e, ERR_NOT_FOUND, "there is no project '%s'", p->project);
    }
    return p->name == NULL || proxy_reaches(p)
               ? ERR_OK
               : fail(e, ERR_DENIED, "the service '%s' is not yours", p->name);
}

/* Asks the node of an instance for a tunnel. */
static void seek(struct proxied *p)
{
    const struct core *core = p->api->o.host->core(p->api->o.host->ctx);
    struct agent_tunnel order = {.what = "port", .terminal = "", .term = ""};
    struct error e;
    node_id node;
    int64_t index = p->index;
    enum err r = task_find(p, core, &e);
    const struct task *service = r == ERR_OK ? service_of(p, core) : NULL;
    p->seeking = false;
    if (service != NULL) {
        index = proxy_place_next(p, core, service);
        if (index < 0 && service->checked) {
            r = fail(&e, ERR_CONFLICT, "no instance of task %llu is healthy now",
                     (unsigned long long)service->id.v);
        }
    }
    r = r == ERR_OK ? tunnel_target(core, p->task, index, &order.key, &node, &e) : r;
    p->asked += r == ERR_OK;
    r = r == ERR_OK ? tunnel_ask(p->api, node, &order, tunnel_told, p, &p->tunnel, &e) : r;
    if (r != ERR_OK) {
        unreached(p, http_status_of(r), &e);
    }
}

void proxy_pass_begin(struct proxied *p)
{
    buf_init(&p->out, 128 * 1024 * 1024);
    buf_init(&p->in, PROXY_HEAD_MAX + 2 * PASS_READ_BYTES);
    arena_init(&p->arena);
    p->use.cut = pass_cut;
    LIST_INSERT_HEAD(&p->api->uses, &p->use, link);
    p->timer = loop_timer_new(p->api->o.loop, timer_due, p);
    p->from = proxy_turn(p->api);
    p->give_up_ms = loop_now_ms(p->api->o.loop) + PASS_SEEK_MS;
    seek(p);
}
