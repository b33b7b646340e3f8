/* stream.c - the thread that holds the connection on which orders come. The thread makes one
 * connection for each request of the loop. The loop decides when to try again.
 * SPDX-License-Identifier: Apache-2.0 */
#include "agent/stream.h"

#include "agent/enrol.h"
#include "agent/identity.h"
#include "agent/node_cert.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rest.h"
#include "io/http_client.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    CONNECT_MS_MAX = 15000,
    STREAM_IDLE_MS = 35000, /* three and a half heartbeats */
    JOIN_WAIT_MS = 1000,
    ADDRESS_BYTES_MAX = 128,
    STATUS_OK = 200,
    STATUS_UNAUTHORIZED = 401,
    STATUS_FORBIDDEN = 403,
    STATUS_NOT_FOUND = 404,
};

struct stream {
    struct stream_options options;
    struct mailbox *requests; /* of struct stream_request */
    pthread_t thread;
    struct timespec started;
    volatile int stop;
    int stop_fd; /* an eventfd, readable while `stop` is set */
    uint64_t epoch_seen;
    uint64_t fact_seen; /* of this process's life */
    char *credential;   /* the last credential that the server accepted; NULL: none yet */
};

struct stream_request {
    struct arena arena;
    struct stream_hello hello;
};

/* The state of one connection. */
struct connection {
    struct stream *stream;
    const char *url;
    const char *credential;
    bool welcomed;
    struct error error;
};

/* Checks the server's first message. False: the agent will not work for this server. */
static bool welcome_check(struct connection *connection, const struct agent_order *order)
{
    struct stream *stream = connection->stream;
    if (order->type != AGENT_WELCOME) {
        (void)fail(&connection->error, ERR_INVALID, "the server did not begin with a welcome");
        return false;
    }
    if (order->epoch < stream->epoch_seen) {
        (void)fail(&connection->error, ERR_CONFLICT,
                   "stale-epoch: the server is of epoch %llu, and %llu has been seen",
                   (unsigned long long)order->epoch, (unsigned long long)stream->epoch_seen);
        return false;
    }
    if (order->epoch > stream->epoch_seen) {
        stream->epoch_seen = order->epoch;
        enrol_epoch_set(stream->options.options->dir, order->epoch);
    }
    connection->welcomed = true;
    node_cert_taken(stream->options.options, connection->credential);
    return true;
}

static bool line_take(void *ctx, struct str line)
{
    struct connection *connection = ctx;
    struct stream *stream = connection->stream;
    if (line.len == 0) {
        return true;
    }
    struct inbox_message *message = inbox_message_new(INBOX_ORDER);
    enum err r = agent_order_decode(line, &message->arena, &message->order, &connection->error);
    if (r != ERR_OK || (!connection->welcomed && !welcome_check(connection, &message->order))) {
        inbox_message_free(message);
        return false;
    }
    if (message->order.fact > stream->fact_seen) {
        stream->fact_seen = message->order.fact;
    }
    if (message->order.type == AGENT_WELCOME) {
        message->url = arena_str(&message->arena, connection->url);
        message->credential = arena_str(&message->arena, connection->credential);
    }
    inbox_send(stream->options.inbox, message);
    return __atomic_load_n(&stream->stop, __ATOMIC_RELAXED) == 0;
}

static void hello_put(const struct stream *stream, const struct stream_request *request,
                      const char *url, struct buf *out)
{
    char address[ADDRESS_BYTES_MAX];
    struct agent_hello hello = {.protocol_min = AGENT_PROTOCOL_MIN,
                                .protocol_max = AGENT_PROTOCOL_MAX,
                                .epoch_seen = stream->epoch_seen,
                                .fact_seen = stream->fact_seen,
                                .stop_after_ms = stream->options.options->stop_after_ms,
                                .node = *stream->options.node,
                                .closing = request->hello.closing,
                                .attempts = request->hello.attempts,
                                .attempt_count = (uint32_t)request->hello.attempt_count};
    memcpy(hello.node.supervisor, request->hello.supervisor, SUPERVISOR_ID_LEN);
    hello.node.trouble = request->hello.trouble;
    hello.node.devices_out = request->hello.devices.out;
    hello.node.devices_lost = request->hello.devices.lost;
    hello.node.device_trouble = request->hello.devices.why;
    hello.node.address = stream->options.options->address;
    if (hello.node.address == NULL) {
        identity_address(url, address, sizeof address);
        hello.node.address = address;
    }
    agent_hello_encode(&hello, out);
}

/* The credential is revoked, or its node was removed: the next try joins anew. Where the file does
 * not have the credential that the server took before, the file is damaged and is written anew. */
static void credential_refused(const struct connection *connection)
{
    struct stream *stream = connection->stream;
    if (stream->credential != NULL && strcmp(stream->credential, connection->credential) != 0) {
        enrol_restore(stream->options.options, stream->credential);
        return;
    }
    free(stream->credential);
    stream->credential = NULL;
    enrol_forget(stream->options.options);
}

static must_use enum err orders_take(struct connection *connection, const struct buf *hello,
                                     struct arena *arena, struct error *e)
{
    struct stream *stream = connection->stream;
    struct http_client *client = http_client_new(connection->url, connection->credential);
    struct http_trust trust;
    node_cert_trust(stream->options.options, arena, &trust);
    http_client_trust(client, &trust);
    struct http_stream_call call = {.call = {.method = "POST",
                                             .path = "/api/v1/agent/stream",
                                             .body = {buf_text(hello), hello->len},
                                             .repeatable = true,
                                             .timeout_ms = CONNECT_MS_MAX},
                                    .idle_ms = STREAM_IDLE_MS,
                                    .on_line = line_take,
                                    .ctx = connection,
                                    .stop = &stream->stop,
                                    .stop_fd = stream->stop_fd};
    struct http_reply reply = {0};
    enum err r = http_client_stream(client, &call, arena, &reply, e);
    http_client_free(client);
    if (connection->welcomed) {
        free(stream->credential);
        stream->credential = xstrdup(connection->credential);
    }
    if (r == ERR_OK && (reply.status == STATUS_UNAUTHORIZED || reply.status == STATUS_NOT_FOUND)) {
        credential_refused(connection);
    }
    if (r == ERR_OK && reply.status == STATUS_FORBIDDEN && trust.cert != NULL) {
        /* The certificate is out of its dates, by the server's clock. */
        r = node_cert_renew(stream->options.options, connection->url, connection->credential, e);
        return r == ERR_OK ? fail(e, ERR_BUSY, "the node has a new certificate now") : r;
    }
    if (r == ERR_OK && reply.status != STATUS_OK && reply.status != 0) {
        return fail(e, ERR_DENIED, "the server answers %u: %.*s", reply.status, (int)reply.body.len,
                    reply.body.p);
    }
    if (r == ERR_OK && connection->error.code != ERR_OK) {
        *e = connection->error;
        return e->code;
    }
    return r;
}

static void request_do(struct stream *stream, const struct stream_request *request)
{
    struct inbox_message *ended = inbox_message_new(INBOX_STREAM_ENDED);
    struct connection connection = {.stream = stream};
    struct arena *arena = &ended->arena;
    struct error *e = &ended->error;
    const struct agent_options *options = stream->options.options;
    enum err r = enrol_url(options, stream->started, arena, &connection.url, e);
    if (r == ERR_OK) {
        r = enrol_credential(options, stream->options.node, connection.url, stream->credential,
                             arena, &connection.credential, e);
        ended->refused = r == ERR_DENIED;
    }
    if (r == ERR_OK) {
        struct buf hello;
        buf_init(&hello, AGENT_HELLO_BYTES_MAX);
        hello_put(stream, request, connection.url, &hello);
        r = hello.full ? fail(e, ERR_LIMIT, "the hello is too large")
                       : orders_take(&connection, &hello, arena, e);
        buf_done(&hello);
    }
    ended->url = connection.url;
    ended->error.code = r;
    inbox_send(stream->options.inbox, ended);
}

static void request_free(struct stream_request *request)
{
    arena_done(&request->arena);
    free(request);
}

static void *run(void *ctx)
{
    struct stream *stream = ctx;
    for (struct stream_request *request = mailbox_wait(stream->requests); request != NULL;
         request = mailbox_wait(stream->requests)) {
        request_do(stream, request);
        request_free(request);
    }
    return NULL;
}

static void stop_set(struct stream *stream, bool stop)
{
    eventfd_t count;
    __atomic_store_n(&stream->stop, stop, __ATOMIC_RELAXED);
    (void)(stop ? eventfd_write(stream->stop_fd, 1) : eventfd_read(stream->stop_fd, &count));
}

must_use enum err stream_new(const struct stream_options *options, struct stream **ret,
                             struct error *e)
{
    struct stream *stream = xcalloc(1, sizeof *stream);
    stream->options = *options;
    stream->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stream->stop_fd < 0) {
        free(stream);
        return fail_errno(e, ERR_IO, errno, "cannot make an eventfd");
    }
    stream->requests = mailbox_new(2);
    stream->epoch_seen = enrol_epoch(options->options->dir);
    must(clock_gettime(CLOCK_REALTIME, &stream->started) == 0);
    int failed = pthread_create(&stream->thread, NULL, run, stream);
    if (failed != 0) {
        mailbox_free(stream->requests);
        (void)close(stream->stop_fd);
        free(stream);
        return fail_errno(e, ERR_IO, failed, "cannot start a thread");
    }
    *ret = stream;
    return ERR_OK;
}

bool stream_free(struct stream *stream)
{
    if (stream == NULL) {
        return true;
    }
    stop_set(stream, true);
    mailbox_close(stream->requests);
    if (!rest_join(stream->thread, JOIN_WAIT_MS)) {
        return false;
    }
    mailbox_free(stream->requests);
    (void)close(stream->stop_fd);
    free(stream->credential);
    free(stream);
    return true;
}

void stream_connect(struct stream *stream, const struct stream_hello *hello)
{
    struct stream_request *request = xcalloc(1, sizeof *request);
    arena_init(&request->arena);
    request->hello = *hello;
    request->hello.trouble = arena_str(&request->arena, hello->trouble);
    request->hello.attempts =
        arena_dup(&request->arena, hello->attempts, hello->attempt_count * sizeof *hello->attempts);
    stop_set(stream, false);
    must(mailbox_send(stream->requests, request));
}

void stream_stop(struct stream *stream)
{
    stop_set(stream, true);
}
