/* test_http_client.c - calls, retries, time-outs and streams against a real server on a thread of
 * its own.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/http_client.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/http_request.h"
#include "io/http_server.h"
#include "io/http_stream.h"
#include "io/loop.h"
#include "io/mailbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>

/* The far side. /echo tells what came; /busy?n=2 says 503 to the first two; /bytes?n=9 sends nine
 * bytes; /park never answers; /lines and /silent are streams, the second of one line. */
struct far {
    struct loop *loop;
    struct http_server *server;
    struct mailbox *quit;
    struct loop_fd *quit_watch;
    pthread_t thread;
    char url[64];
    size_t tries; /* of /busy: read when the calls are over */
    int stop;     /* set once /silent is open */
};

static void echo(struct far *far, struct http_request *request)
{
    static const char *const names[] = {"Authorization", "Idempotency-Key", "Content-Type",
                                        "Last-Event-ID"};
    struct buf out;
    buf_init(&out, 4096);
    buf_addf(&out, "%s %s %u", http_request_method(request), http_request_path(request),
             http_server_connections(far->server));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = http_request_header(request, names[i]);
        buf_addf(&out, "|%s", value != NULL ? value : "");
    }
    buf_addf(&out, "|%s", http_request_body(request).p);
    http_request_answer_header(request, "ETag", "\"a tag\"");
    http_request_answer(request, 200, "text/plain", (struct str){buf_text(&out), out.len});
    buf_done(&out);
}

static uint64_t number_of(const struct http_request *request)
{
    uint64_t number = 0;
    const char *text = http_request_query(request, "n");
    assert_true(text != NULL && str_to_u64(str_of(text), &number));
    return number;
}

static void busy(struct far *far, struct http_request *request)
{
    if (far->tries++ < number_of(request)) {
        http_request_answer_header(request, "Retry-After", "0");
        http_request_answer(request, 503, "text/plain", str_of("busy"));
    } else {
        http_request_answer(request, 200, "text/plain", str_of("done"));
    }
}

static void bytes(struct http_request *request)
{
    size_t len = number_of(request);
    char *data = xmalloc(len);
    memset(data, 'x', len);
    http_request_answer(request, 200, "text/plain", (struct str){data, len});
    free(data);
}

static void lines(struct far *far, struct http_request *request, bool all)
{
    struct http_stream *stream = http_stream_begin(request, 200, "text/plain", 4096, NULL, NULL);
    if (all) {
        assert_true(http_stream_write(stream, str_of("one\ntw")));
        assert_true(http_stream_write(stream, str_of("o\n\nlast without end")));
        http_stream_end(stream);
    } else {
        assert_true(http_stream_write(stream, str_of("only\n")));
        __atomic_store_n(&far->stop, 1, __ATOMIC_RELAXED);
    }
}

static void on_request(void *ctx, struct http_request *request)
{
    struct far *far = ctx;
    const char *path = http_request_path(request);
    if (strcmp(path, "/echo") == 0) {
        echo(far, request);
    } else if (strcmp(path, "/busy") == 0) {
        busy(far, request);
    } else if (strcmp(path, "/bytes") == 0) {
        bytes(request);
    } else if (strcmp(path, "/lines") == 0) {
        lines(far, request, true);
    } else if (strcmp(path, "/silent") == 0) {
        lines(far, request, false);
    } else if (strcmp(path, "/park") != 0) {
        http_request_answer(request, 404, "text/plain", str_of("not here"));
    }
}

static size_t on_head(void *ctx, struct http_request *request)
{
    (void)ctx;
    (void)request;
    return 1000;
}

static void quit(void *ctx, uint32_t events)
{
    (void)events;
    loop_stop(((struct far *)ctx)->loop);
}

static void *far_run(void *ctx)
{
    loop_run(((struct far *)ctx)->loop);
    return NULL;
}

static struct far *far_new(void)
{
    struct far *far = xcalloc(1, sizeof *far);
    assert_int_equal(loop_new(&far->loop, NULL), ERR_OK);
    struct http_server_options options = {
        .loop = far->loop,
        .address = "127.0.0.1",
        .connections_max = 100,
        .on_head = on_head,
        .on_request = on_request,
        .ctx = far,
    };
    assert_int_equal(http_server_new(&options, &far->server, NULL), ERR_OK);
    far->quit = mailbox_new(1);
    far->quit_watch = loop_fd_add(far->loop, mailbox_fd(far->quit), EPOLLIN, quit, far);
    (void)snprintf(far->url, sizeof far->url, "http://127.0.0.1:%u/",
                   http_server_port(far->server));
    assert_int_equal(pthread_create(&far->thread, NULL, far_run, far), 0);
    return far;
}

static void far_free(struct far *far)
{
    mailbox_close(far->quit);
    assert_int_equal(pthread_join(far->thread, NULL), 0);
    loop_fd_remove(far->quit_watch);
    mailbox_free(far->quit);
    http_server_free(far->server);
    loop_free(far->loop);
    free(far);
}

/* One test's both sides. */
struct pair {
    struct far *far;
    struct http_client *client;
    struct arena arena;
    struct http_reply reply;
    struct error e;
};

static struct pair *pair_new(void)
{
    struct pair *p = xcalloc(1, sizeof *p);
    p->far = far_new();
    p->client = http_client_new(p->far->url, "secret");
    arena_init(&p->arena);
    return p;
}

static void pair_free(struct pair *p)
{
    http_client_free(p->client);
    arena_done(&p->arena);
    far_free(p->far);
    free(p);
}

static enum err call(struct pair *p, const struct http_call *what)
{
    return http_client_call(p->client, what, &p->arena, &p->reply, &p->e);
}

static void method_headers_and_body_arrive(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    assert_int_equal(call(p, &(struct http_call){.method = "GET", .path = "/echo"}), ERR_OK);
    assert_int_equal(p->reply.status, 200);
    assert_string_equal(p->reply.body.p, "GET /echo 1|Bearer secret||||");
    const char *const more[] = {"Last-Event-ID: 41", NULL};
    struct http_call post = {.method = "POST",
                             .path = "/echo",
                             .body = str_of("{}"),
                             .idempotency_key = "key",
                             .headers = more};
    assert_int_equal(call(p, &post), ERR_OK);
    assert_string_equal(p->reply.body.p, "POST /echo 1|Bearer secret|key|application/json|41|{}");
    const struct http_call put = {.method = "PUT",
                                  .path = "/echo",
                                  .body = str_of("x"),
                                  .content_type = "application/octet-stream"};
    assert_int_equal(call(p, &put), ERR_OK);
    assert_string_equal(p->reply.body.p, "PUT /echo 1|Bearer secret||application/octet-stream||x");
    assert_string_equal(p->reply.etag, "\"a tag\"");
    assert_int_equal(call(p, &(struct http_call){.method = "PUT", .path = "/echo"}), ERR_OK);
    assert_string_equal(p->reply.body.p, "PUT /echo 1|Bearer secret||||");
    assert_int_equal(call(p, &(struct http_call){.method = "DELETE", .path = "/echo"}), ERR_OK);
    assert_string_equal(p->reply.body.p, "DELETE /echo 1|Bearer secret||||");
    assert_int_equal(call(p, &(struct http_call){.method = "HEAD", .path = "/echo"}), ERR_OK);
    assert_int_equal(p->reply.status, 200);
    assert_int_equal(p->reply.body.len, 0);
    assert_int_equal(call(p, &(struct http_call){.method = "GET", .path = "/none"}), ERR_OK);
    assert_int_equal(p->reply.status, 404);
    assert_string_equal(p->reply.body.p, "not here");
    pair_free(p);
}

static void a_call_that_may_not_be_repeated_has_its_own_connection(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    assert_int_equal(call(p, &(struct http_call){.method = "GET", .path = "/echo"}), ERR_OK);
    struct http_call post = {.method = "POST", .path = "/echo", .repeatable = true};
    assert_int_equal(call(p, &post), ERR_OK);
    assert_string_equal(p->reply.body.p, "POST /echo 1|Bearer secret||||");
    post.repeatable = false;
    assert_int_equal(call(p, &post), ERR_OK);
    assert_string_equal(p->reply.body.p, "POST /echo 2|Bearer secret||||");
    pair_free(p);
}

static void busy_servers_are_asked_again_only_when_that_is_safe(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    struct http_call get = {.method = "GET", .path = "/busy?n=2", .retry_ms = 20000};
    assert_int_equal(call(p, &get), ERR_OK);
    assert_int_equal(p->reply.status, 200);
    struct http_call post = {.method = "POST", .path = "/busy?n=5", .retry_ms = 20000};
    assert_int_equal(call(p, &post), ERR_OK);
    assert_int_equal(p->reply.status, 503);
    assert_string_equal(p->reply.body.p, "busy");
    post.idempotency_key = "k";
    assert_int_equal(call(p, &post), ERR_OK);
    assert_int_equal(p->reply.status, 200);
    get.path = "/busy?n=1000";
    get.retry_ms = 0;
    assert_int_equal(call(p, &get), ERR_OK);
    assert_int_equal(p->reply.status, 503);
    size_t *tries = &p->far->tries;
    mailbox_close(p->far->quit);
    assert_int_equal(pthread_join(p->far->thread, NULL), 0);
    assert_int_equal(*tries, 3 + 1 + 2 + 1);
    assert_int_equal(pthread_create(&p->far->thread, NULL, far_run, p->far), 0);
    pair_free(p);
}

static void a_server_that_is_not_there_is_unreachable(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    char url[64];
    assert_true(str_copy(url, sizeof url, p->far->url));
    pair_free(p);
    struct http_client *client = http_client_new(url, NULL);
    struct arena arena;
    arena_init(&arena);
    struct http_reply reply;
    struct error e;
    struct http_call post = {.method = "POST", .path = "/echo", .retry_ms = 120};
    assert_int_equal(http_client_call(client, &post, &arena, &reply, &e), ERR_UNREACHABLE);
    assert_non_null(strstr(e.text, "cannot reach http://127.0.0.1:"));
    http_client_free(client);
    arena_done(&arena);
}

static void a_server_that_does_not_answer_times_out(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    struct http_call get = {.method = "GET", .path = "/park", .timeout_ms = 50, .retry_ms = 20000};
    assert_int_equal(call(p, &get), ERR_TIMEOUT);
    assert_int_equal(call(p, &(struct http_call){.method = "GET", .path = "/echo"}), ERR_OK);
    pair_free(p);
}

static void answers_are_bounded(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    char path[64];
    (void)snprintf(path, sizeof path, "/bytes?n=%d", HTTP_REPLY_BYTES_MAX + 1);
    assert_int_equal(call(p, &(struct http_call){.method = "GET", .path = path}), ERR_LIMIT);
    assert_int_equal(call(p, &(struct http_call){.method = "GET", .path = "/bytes?n=70000"}),
                     ERR_OK);
    assert_int_equal(p->reply.body.len, 70000);
    pair_free(p);
}

static void bad_urls_and_tokens_are_invalid(void **state)
{
    (void)state;
    static const char *const urls[] = {"ftp://127.0.0.1", "file:///etc", "http://[", ""};
    struct arena arena;
    arena_init(&arena);
    struct http_reply reply;
    struct http_call get = {.method = "GET", .path = "/"};
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct http_client *client = http_client_new(urls[i], NULL);
        assert_int_equal(http_client_call(client, &get, &arena, &reply, NULL), ERR_INVALID);
        http_client_free(client);
    }
    struct http_client *client = http_client_new("http://127.0.0.1:1", "a\r\nX: y");
    assert_int_equal(http_client_call(client, &get, &arena, &reply, NULL), ERR_INVALID);
    http_client_free(client);
    arena_done(&arena);
}

struct lines_seen {
    struct buf text;
    size_t max;
    size_t count;
};

static bool line_seen(void *ctx, struct str line)
{
    struct lines_seen *seen = ctx;
    buf_add(&seen->text, line.p, line.len);
    buf_add_char(&seen->text, ';');
    return ++seen->count < seen->max;
}

/* One stream; `text` are the lines it must have given. */
static enum err stream_of(struct pair *p, struct http_stream_call what, size_t max,
                          const char *text)
{
    struct lines_seen seen = {.max = max};
    buf_init(&seen.text, 1000);
    what.on_line = line_seen;
    what.ctx = &seen;
    what.call.method = "GET";
    enum err r = http_client_stream(p->client, &what, &p->arena, &p->reply, &p->e);
    assert_string_equal(buf_text(&seen.text), text);
    buf_done(&seen.text);
    return r;
}

static void streams_come_line_by_line(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    struct http_stream_call what = {.call.path = "/lines", .idle_ms = 20000};
    assert_int_equal(stream_of(p, what, 100, "one;two;;last without end;"), ERR_OK);
    assert_int_equal(p->reply.status, 200);
    assert_int_equal(stream_of(p, what, 2, "one;two;"), ERR_OK);
    what.call.path = "/none";
    assert_int_equal(stream_of(p, what, 100, ""), ERR_OK);
    assert_int_equal(p->reply.status, 404);
    assert_string_equal(p->reply.body.p, "not here");
    char path[64];
    (void)snprintf(path, sizeof path, "/bytes?n=%d", HTTP_LINE_BYTES_MAX + 1);
    what.call.path = path;
    assert_int_equal(stream_of(p, what, 100, ""), ERR_LIMIT);
    pair_free(p);
}

static void a_silent_stream_times_out_or_is_stopped(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    struct http_stream_call what = {.call.path = "/silent", .idle_ms = 50};
    assert_int_equal(stream_of(p, what, 100, "only;"), ERR_TIMEOUT);
    what.call.path = "/park";
    what.call.timeout_ms = 50;
    assert_int_equal(stream_of(p, what, 100, ""), ERR_TIMEOUT);
    /* The far side has set the flag meanwhile: no time-out is needed. */
    what.stop = &p->far->stop;
    what.idle_ms = 0;
    what.call.timeout_ms = 0;
    assert_int_equal(stream_of(p, what, 100, ""), ERR_OK);
    struct http_call get = {.method = "GET", .path = "/park", .stop = &p->far->stop};
    assert_int_equal(call(p, &get), ERR_TIMEOUT);
    pair_free(p);
}

static void *quit_later(void *ctx)
{
    struct far *far = ctx;
    while (__atomic_load_n(&far->stop, __ATOMIC_RELAXED) == 0) {
        (void)sched_yield();
    }
    mailbox_close(far->quit);
    (void)pthread_join(far->thread, NULL);
    http_server_free(steal(far->server));
    far->thread = 0;
    return NULL;
}

static void a_stream_that_breaks_off_is_unreachable(void **state)
{
    (void)state;
    struct pair *p = pair_new();
    pthread_t killer;
    assert_int_equal(pthread_create(&killer, NULL, quit_later, p->far), 0);
    struct http_stream_call what = {.call.path = "/silent", .call.retry_ms = 20000};
    assert_int_equal(stream_of(p, what, 100, "only;"), ERR_UNREACHABLE);
    assert_int_equal(pthread_join(killer, NULL), 0);
    assert_int_equal(pthread_create(&p->far->thread, NULL, far_run, p->far), 0);
    pair_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(method_headers_and_body_arrive),
        cmocka_unit_test(a_call_that_may_not_be_repeated_has_its_own_connection),
        cmocka_unit_test(busy_servers_are_asked_again_only_when_that_is_safe),
        cmocka_unit_test(a_server_that_is_not_there_is_unreachable),
        cmocka_unit_test(a_server_that_does_not_answer_times_out),
        cmocka_unit_test(answers_are_bounded),
        cmocka_unit_test(bad_urls_and_tokens_are_invalid),
        cmocka_unit_test(streams_come_line_by_line),
        cmocka_unit_test(a_silent_stream_times_out_or_is_stopped),
        cmocka_unit_test(a_stream_that_breaks_off_is_unreachable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
