/* http_site.c - the small site and its raw clients.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/http_request.h"
#include "io/http_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DEADLINE_MS = 30 * 1000 };

static size_t on_head(void *ctx, struct http_request *request)
{
    (void)ctx;
    if (strcmp(http_request_path(request), "/refuse") == 0) {
        http_request_answer_header(request, "WWW-Authenticate", "Bearer");
        http_request_answer(request, 401, "text/plain", str_of("refused"));
    }
    return SITE_BODY_MAX;
}

static void param_add(void *ctx, const char *name, const char *value)
{
    buf_addf(ctx, "[%s=%s]", name, value);
}

static void echo(struct http_request *request)
{
    struct buf out;
    buf_init(&out, 4096);
    buf_addf(&out, "%s %s ", http_request_method(request), http_request_path(request));
    http_request_query_each(request, param_add, &out);
    const char *extra = http_request_header(request, "x-extra");
    buf_addf(&out, " extra=%s peer=%s body=", extra != NULL ? extra : "",
             http_request_peer(request));
    buf_add(&out, http_request_body(request).p, http_request_body(request).len);
    http_request_answer(request, 200, "text/plain", (struct str){buf_text(&out), out.len});
    buf_done(&out);
}

static void stream_gone(void *ctx)
{
    struct site *site = ctx;
    site->streams_gone++;
    site->stream = NULL;
}

static void big(struct http_request *request)
{
    char *data = xmalloc(SITE_BIG_BYTES);
    memset(data, 'x', SITE_BIG_BYTES);
    http_request_answer(request, 200, "text/plain", (struct str){data, SITE_BIG_BYTES});
    free(data);
}

static void on_request(void *ctx, struct http_request *request)
{
    struct site *site = ctx;
    site->requests++;
    const char *path = http_request_path(request);
    if (strncmp(path, "/echo", 5) == 0) {
        echo(request);
    } else if (strcmp(path, "/park") == 0) {
        assert_true(site->parked_count < SITE_PARKED_MAX);
        site->parked[site->parked_count++] = request;
    } else if (strcmp(path, "/stream") == 0) {
        site->stream =
            http_stream_begin(request, 200, "text/plain", SITE_STREAM_MAX, stream_gone, site);
        site->streams++;
    } else if (strcmp(path, "/big") == 0) {
        big(request);
    } else {
        http_request_answer(request, 200, "text/plain", str_of("now"));
    }
}

static void on_gone(void *ctx, struct http_request *request)
{
    struct site *site = ctx;
    site->gone++;
    for (size_t i = 0; i < site->parked_count; i++) {
        if (site->parked[i] == request) {
            site->parked[i] = site->parked[--site->parked_count];
            return;
        }
    }
    fail_msg("a request that is not parked went away");
}

static void too_late(void *ctx)
{
    (void)ctx;
    fail_msg("nothing happened for too long");
}

struct site *site_new(void)
{
    struct site *site = xcalloc(1, sizeof *site);
    assert_int_equal(loop_new(&site->loop, NULL), ERR_OK);
    struct http_server_options options = {
        .loop = site->loop,
        .address = "127.0.0.1",
        .connections_max = SITE_CONNECTIONS_MAX,
        .on_head = on_head,
        .on_request = on_request,
        .on_gone = on_gone,
        .ctx = site,
    };
    assert_int_equal(http_server_new(&options, &site->server, NULL), ERR_OK);
    site->deadline = loop_timer_new(site->loop, too_late, site);
    loop_timer_set(site->deadline, loop_now_ms(site->loop) + DEADLINE_MS);
    return site;
}

void site_free(struct site *site)
{
    http_server_free(site->server);
    loop_timer_free(site->deadline);
    loop_free(site->loop);
    free(site);
}

void site_wait(struct site *site, const size_t *count, size_t want)
{
    while (*count < want) {
        loop_turn(site->loop, -1);
    }
}

void site_wait_connections(struct site *site, unsigned want)
{
    while (http_server_connections(site->server) != want) {
        loop_turn(site->loop, -1);
    }
}

static void client_ready(void *ctx, uint32_t events)
{
    (void)events;
    struct client *client = ctx;
    size_t room = CLIENT_TEXT_MAX - 1 - client->len;
    assert_true(room > 0);
    ssize_t got = recv(client->fd, client->text + client->len, room, MSG_DONTWAIT);
    if (got > 0) {
        client->len += (size_t)got;
        client->text[client->len] = '\0';
    } else if (got == 0 || errno != EAGAIN) {
        client->closed = true;
        client_read(client, false);
    }
}

struct client *client_new(struct site *site)
{
    struct client *client = xcalloc(1, sizeof *client);
    client->site = site;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(client->fd >= 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(http_server_port(site->server)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    assert_int_equal(connect(client->fd, (struct sockaddr *)&address, sizeof address), 0);
    client_read(client, true);
    return client;
}

void client_free(struct client *client)
{
    client_read(client, false);
    (void)close(client->fd);
    free(client);
}

void client_read(struct client *client, bool on)
{
    if (on && client->watch == NULL) {
        client->watch = loop_fd_add(client->site->loop, client->fd, EPOLLIN, client_ready, client);
    } else if (!on) {
        loop_fd_remove(client->watch);
        client->watch = NULL;
    }
}

void client_send_bytes(struct client *client, const char *data, size_t len)
{
    assert_int_equal(send(client->fd, data, len, MSG_NOSIGNAL), len);
}

void client_send(struct client *client, const char *text)
{
    client_send_bytes(client, text, strlen(text));
}

void client_get(struct client *client, const char *target)
{
    client_send(client, "GET ");
    client_send(client, target);
    client_send(client, " HTTP/1.1\r\nHost: site\r\n\r\n");
}

void client_wait(struct client *client, const char *needle)
{
    while (strstr(client->text, needle) == NULL) {
        if (client->closed) {
            fail_msg("closed without \"%s\" after \"%.200s\"", needle, client->text);
        }
        loop_turn(client->site->loop, -1);
    }
}

void client_wait_closed(struct client *client)
{
    while (!client->closed) {
        loop_turn(client->site->loop, -1);
    }
}

size_t client_count(const struct client *client, const char *needle)
{
    size_t count = 0;
    for (const char *p = client->text; (p = strstr(p, needle)) != NULL; p++) {
        count++;
    }
    return count;
}

void client_clear(struct client *client)
{
    client->len = 0;
    client->text[0] = '\0';
}
