/* test_http_stream.c - requests that are parked and answers that stay open, and clients that leave.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"

#include "base/mem.h"
#include "io/http_request.h"
#include "io/http_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>

static void parked_requests_are_answered_in_any_order(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *a = client_new(site);
    struct client *b = client_new(site);
    client_get(a, "/park");
    site_wait(site, &site->parked_count, 1);
    client_get(b, "/park");
    site_wait(site, &site->parked_count, 2);
    http_request_answer(site->parked[1], 200, "text/plain", str_of("for b"));
    client_wait(b, "for b");
    assert_int_equal(a->len, 0);
    http_request_answer(site->parked[0], 503, "text/plain", str_of("for a"));
    client_wait(a, "HTTP/1.1 503 ");
    client_wait(a, "for a");
    client_get(a, "/now");
    client_wait(a, "\r\n\r\nnow");
    assert_int_equal(site->gone, 0);
    client_free(a);
    client_free(b);
    site_free(site);
}

static void answer_all(void *ctx)
{
    struct site *site = ctx;
    while (site->parked_count > 0) {
        http_request_answer(site->parked[--site->parked_count], 200, "text/plain", str_of("held"));
    }
}

static void an_answer_of_the_turn_end_goes_out_in_the_same_turn(void **state)
{
    (void)state;
    struct site *site = site_new();
    loop_turn_end(site->loop, answer_all, site);
    struct client *client = client_new(site);
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    client_get(client, "/park");
    size_t before = site->requests;
    while (site->requests == before) {
        loop_turn(site->loop, -1);
    }
    char text[512];
    ssize_t len = recv(client->fd, text, sizeof text - 1, MSG_DONTWAIT);
    assert_true(len > 0);
    text[len] = '\0';
    assert_non_null(strstr(text, "\r\n\r\nheld"));
    client_free(client);
    site_free(site);
}

static void a_half_closed_client_still_gets_its_answer(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_get(client, "/park");
    assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
    site_wait(site, &site->parked_count, 1);
    http_request_answer(site->parked[0], 200, "text/plain", str_of("late"));
    client_wait(client, "\r\n\r\nlate");
    client_wait_closed(client);
    assert_int_equal(site->gone, 0);
    client_free(client);
    site_free(site);
}

/* Closes with a reset instead of the usual end. */
static void client_break(struct client *client)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    assert_int_equal(setsockopt(client->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now), 0);
    client_free(client);
}

static void a_parked_request_whose_connection_breaks_is_reported_gone(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_get(client, "/park");
    site_wait(site, &site->parked_count, 1);
    client_break(client);
    site_wait(site, &site->gone, 1);
    assert_int_equal(site->parked_count, 0);
    site_wait_connections(site, 0);
    site_free(site);
}

static void stream_open(struct site *site, struct client *client)
{
    size_t before = site->streams;
    client_get(client, "/stream");
    site_wait(site, &site->streams, before + 1);
}

static void a_stream_shows_its_head_and_each_write_at_once(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    stream_open(site, client);
    client_wait(client, "\r\n\r\n");
    assert_non_null(strstr(client->text, "HTTP/1.1 200 OK"));
    for (size_t i = 1; i <= 3; i++) {
        client_clear(client);
        assert_true(http_stream_write(site->stream, str_of("a line\n")));
        client_wait(client, "7\r\na line\n\r\n");
        assert_int_equal(http_stream_pending(site->stream), 0);
    }
    http_stream_end(site->stream);
    client_wait(client, "\r\n0\r\n\r\n");
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    assert_int_equal(site->streams_gone, 0);
    client_free(client);
    site_free(site);
}

static void a_stream_may_begin_late_and_end_at_once(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_get(client, "/park");
    site_wait(site, &site->parked_count, 1);
    struct http_stream *stream =
        http_stream_begin(site->parked[0], 200, "text/plain", 100, NULL, NULL);
    assert_true(http_stream_write(stream, str_of("all of it")));
    http_stream_end(stream);
    client_wait(client, "9\r\nall of it\r\n0\r\n\r\n");
    client_free(client);
    site_free(site);
}

static void a_client_that_leaves_an_idle_stream_is_noticed(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    stream_open(site, client);
    client_wait(client, "\r\n\r\n");
    client_free(client);
    site_wait(site, &site->streams_gone, 1);
    struct client *other = client_new(site);
    stream_open(site, other);
    assert_true(http_stream_write(site->stream, str_of("x")));
    client_break(other);
    site_wait(site, &site->streams_gone, 2);
    site_wait_connections(site, 0);
    site_free(site);
}

static void a_stream_nobody_reads_refuses_more_and_keeps_what_it_has(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    stream_open(site, client);
    client_wait(client, "\r\n\r\n");
    client_clear(client);
    client_read(client, false);
    char block[1000];
    memset(block, 'x', sizeof block);
    size_t written = 0;
    while (http_stream_write(site->stream, (struct str){block, sizeof block})) {
        written += sizeof block;
        loop_turn(site->loop, 0);
        assert_true(http_stream_pending(site->stream) <= SITE_STREAM_MAX);
    }
    assert_true(http_stream_pending(site->stream) > SITE_STREAM_MAX - sizeof block);
    http_stream_end(site->stream);
    /* Reads and drops: far more may be in the sockets than a client's text holds. */
    size_t got = 0;
    client_read(client, true);
    while (got < written) {
        client_clear(client);
        loop_turn(site->loop, -1);
        for (size_t i = 0; i < client->len; i++) {
            got += client->text[i] == 'x';
        }
    }
    assert_int_equal(got, written);
    client_wait(client, "\r\n0\r\n\r\n");
    client_free(client);
    site_free(site);
}

static void a_client_that_leaves_a_full_stream_is_noticed(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    stream_open(site, client);
    client_read(client, false);
    char block[1000];
    memset(block, 'x', sizeof block);
    while (http_stream_write(site->stream, (struct str){block, sizeof block})) {
        loop_turn(site->loop, 0);
    }
    assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
    site_wait(site, &site->streams_gone, 1);
    client_free(client);
    site_free(site);
}

static void an_old_client_gets_the_plain_bytes(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_send(client, "GET /stream HTTP/1.0\r\n\r\n");
    site_wait(site, &site->streams, 1);
    assert_true(http_stream_write(site->stream, str_of("first\n")));
    client_wait(client, "\r\n\r\nfirst\n");
    assert_true(http_stream_write(site->stream, str_of("last\n")));
    http_stream_end(site->stream);
    client_wait(client, "\r\n\r\nfirst\nlast\n");
    client_wait_closed(client);
    assert_null(strstr(client->text, "last\n\n"));
    site_wait_connections(site, 0);
    client_free(client);
    site_free(site);
}

static void freeing_the_server_tells_all_who_wait(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *a = client_new(site);
    struct client *b = client_new(site);
    client_get(a, "/park");
    site_wait(site, &site->parked_count, 1);
    stream_open(site, b);
    client_wait(b, "\r\n\r\n");
    http_server_free(steal(site->server));
    assert_int_equal(site->gone, 1);
    assert_int_equal(site->streams_gone, 1);
    client_wait_closed(a);
    client_wait_closed(b);
    client_free(a);
    client_free(b);
    site_free(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parked_requests_are_answered_in_any_order),
        cmocka_unit_test(an_answer_of_the_turn_end_goes_out_in_the_same_turn),
        cmocka_unit_test(a_half_closed_client_still_gets_its_answer),
        cmocka_unit_test(a_parked_request_whose_connection_breaks_is_reported_gone),
        cmocka_unit_test(a_stream_shows_its_head_and_each_write_at_once),
        cmocka_unit_test(a_stream_may_begin_late_and_end_at_once),
        cmocka_unit_test(a_client_that_leaves_an_idle_stream_is_noticed),
        cmocka_unit_test(a_stream_nobody_reads_refuses_more_and_keeps_what_it_has),
        cmocka_unit_test(a_client_that_leaves_a_full_stream_is_noticed),
        cmocka_unit_test(an_old_client_gets_the_plain_bytes),
        cmocka_unit_test(freeing_the_server_tells_all_who_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
