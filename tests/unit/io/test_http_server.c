/* test_http_server.c - requests and answers: keep-alive, decoding, malformed input, body limits,
 * pipelining, the limit of connections.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"
#include "io/http_request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>

/* The site still answers a request; then it is freed. */
static void site_serves_and_ends(struct site *site)
{
    struct client *client = client_new(site);
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    client_free(client);
    site_free(site);
}

static void a_connection_serves_many_requests(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    for (size_t i = 0; i < 3; i++) {
        client_get(client, "/now");
        client_wait(client, "\r\n\r\nnow");
        assert_int_equal(client_count(client, "HTTP/1.1 200 OK"), 1);
        assert_non_null(strstr(client->text, "Content-Type: text/plain"));
        client_clear(client);
    }
    assert_int_equal(http_server_connections(site->server), 1);
    client_free(client);
    site_free(site);
}

static void path_query_headers_and_body_reach_the_handler(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_send(client, "POST /echo%2Ea+b?x=1&y=%C3%A4+%26&&z&x=2%2F HTTP/1.1\r\nHost: a\r\n"
                        "X-EXTRA: more\r\nContent-Length: 5\r\n\r\nhello");
    client_wait(client, "POST /echo.a+b [x=1][y=\xc3\xa4 &][z=][x=2/] extra=more "
                        "peer=127.0.0.1 body=hello");
    client_clear(client);
    client_send(client, "GET http://site/echo?q HTTP/1.1\r\nHost: site\r\n\r\n");
    client_wait(client, "GET /echo [q=] extra= peer=127.0.0.1 body=");
    client_free(client);
    site_free(site);
}

static void a_head_may_come_byte_by_byte(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    const char *text = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
    for (size_t i = 0; text[i] != '\0'; i++) {
        client_send_bytes(client, text + i, 1);
        loop_turn(site->loop, 0);
    }
    client_wait(client, "body=abc");
    client_free(client);
    site_free(site);
}

static void malformed_requests_get_400(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /% HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /now%2fa HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%2F HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /now?x=%c3 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET now HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /now HTTP/1.1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
    };
    struct site *site = site_new();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct client *client = client_new(site);
        client_send(client, requests[i]);
        client_wait(client, "HTTP/1.1 400 Bad Request");
        client_wait(client, "{\"error\":{\"code\":\"invalid\",\"message\":\"");
        client_wait_closed(client);
        client_free(client);
    }
    assert_int_equal(site->requests, 0);
    site_free(site);
}

static void what_the_library_cannot_parse_ends_the_connection_only(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "\x01\x02\x03\r\n\r\n",
        "GET\r\n\r\n",
        "GET /now HTTP/9.9\r\nHost: a\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
        "GET /now HTTP/1.1\r\nHost: a\r\nno colon here\r\n\r\n",
    };
    struct site *site = site_new();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct client *client = client_new(site);
        client_send(client, requests[i]);
        client_wait_closed(client);
        assert_null(strstr(client->text, "200 OK"));
        client_free(client);
    }
    site_serves_and_ends(site);
}

static void heads_are_bounded(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    char many[HTTP_HEAD_MAX + 1];
    memset(many, 'a', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    client_send(client, "GET /now HTTP/1.1\r\nHost: a\r\nX-Long: ");
    client_send(client, many);
    client_wait(client, "HTTP/1.1 431 ");
    client_wait_closed(client);
    client_free(client);

    client = client_new(site);
    client_send(client, "GET /now?a");
    for (unsigned i = 0; i < HTTP_QUERY_MAX; i++) {
        client_send(client, "&a");
    }
    client_send(client, " HTTP/1.1\r\nHost: a\r\n\r\n");
    client_wait(client, "400 Bad Request");
    client_wait(client, "\"code\":\"limit\"");
    client_free(client);
    site_free(site);
}

/* As many short parameters as a request line can hold: more than the library has room for. */
static void a_query_of_any_length_is_answered(void **state)
{
    (void)state;
    struct site *site = site_new();
    for (unsigned count = 64; count <= 4096; count *= 2) {
        struct client *client = client_new(site);
        client_send(client, "GET /now?a");
        for (unsigned i = 0; i < count; i++) {
            client_send(client, "&a");
        }
        client_send(client, " HTTP/1.1\r\nHost: a\r\n\r\n");
        client_wait(client, "400 Bad Request");
        client_wait(client, "\"code\":\"limit\"");
        client_wait_closed(client);
        client_free(client);
    }
    struct client *client = client_new(site);
    client_get(client, "/now?a=1");
    client_wait(client, "\r\n\r\nnow");
    client_free(client);
    site_free(site);
}

/* Headers of every size around the room that the library has left for its own refusal. */
static void a_head_that_fills_the_memory_ends_its_connection_only(void **state)
{
    (void)state;
    struct site *site = site_new();
    for (unsigned count = 16; count <= 1024; count += 24) {
        struct client *client = client_new(site);
        client_send(client, "GET /now HTTP/1.1\r\nHost: a\r\n");
        for (unsigned i = 0; i < count; i++) {
            client_send(client, "A: b\r\n");
        }
        client_send(client, "\r\n");
        client_send(client, "GET /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        client_wait_closed(client);
        client_free(client);
    }
    site_serves_and_ends(site);
}

static void a_body_at_its_limit_passes_and_one_above_gets_413(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    char body[SITE_BODY_MAX + 2];
    memset(body, 'b', sizeof body - 1);
    body[sizeof body - 1] = '\0';
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n");
    client_send(client, body + 1);
    client_wait(client, body + 1);
    client_clear(client);

    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n");
    client_send(client, body);
    client_wait(client, "HTTP/1.1 413 ");
    client_wait(client,
                "{\"error\":{\"code\":\"limit\",\"message\":\"the body is larger than the 100 "
                "bytes taken here\",\"path\":\"\"}}");
    /* The refused body was read to its end: the connection goes on. */
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    assert_int_equal(site->requests, 2);
    client_free(client);
    site_free(site);
}

static void chunked_bodies_are_joined_and_bounded(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    const char *head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    client_send(client, head);
    client_send(client, "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    client_wait(client, "body=abcde");
    client_send(client, head);
    for (unsigned i = 0; i < 30; i++) {
        client_send(client, "4\r\nabcd\r\n");
    }
    client_send(client, "0\r\n\r\n");
    client_wait(client, "HTTP/1.1 413 ");
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    assert_int_equal(site->requests, 2);
    client_free(client);
    site_free(site);
}

static void a_client_that_asks_first_is_told_before_it_sends(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Content-Length: 3\r\n\r\n");
    client_wait(client, "100 Continue");
    client_send(client, "abc");
    client_wait(client, "body=abc");
    client_clear(client);
    client_send(client, "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                        "Content-Length: 1000000\r\n\r\n");
    client_wait(client, "HTTP/1.1 413 ");
    assert_int_equal(client_count(client, "100 Continue"), 0);
    client_free(client);
    site_free(site);
}

static void a_refusal_at_the_head_keeps_the_connection(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_get(client, "/refuse");
    client_wait(client, "\r\n\r\nrefused");
    assert_non_null(strstr(client->text, "WWW-Authenticate: Bearer"));
    client_clear(client);
    client_send(client, "POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    client_wait(client, "\r\n\r\nrefused");
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    assert_int_equal(site->requests, 1);
    client_free(client);
    site_free(site);
}

static void clients_that_stop_in_the_middle_are_let_go(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "",
        "GET /no",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\na",
        "GET /now HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    struct site *site = site_new();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        struct client *client = client_new(site);
        client_send(client, requests[i]);
        /* The end comes together with the last bytes. */
        assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
        client_wait_closed(client);
        client_free(client);
    }
    site_wait_connections(site, 0);
    assert_int_equal(site->requests, 1);
    site_free(site);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_send(client,
                "GET /echo?1 HTTP/1.1\r\nHost: a\r\n\r\nGET /park HTTP/1.1\r\nHost: a\r\n\r\n"
                "GET /echo?3 HTTP/1.1\r\nHost: a\r\n\r\n");
    client_wait(client, "[1=]");
    site_wait(site, &site->parked_count, 1);
    assert_int_equal(site->requests, 2);
    http_request_answer(site->parked[0], 200, "text/plain", str_of("second"));
    client_wait(client, "[3=]");
    const char *second = strstr(client->text, "second");
    assert_non_null(second);
    assert_true(second < strstr(client->text, "[3=]"));
    client_free(client);
    site_free(site);
}

static void a_large_answer_arrives_whole_also_when_read_late(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_read(client, false);
    client_get(client, "/big");
    site_wait(site, &site->requests, 1);
    client_read(client, true);
    client_wait(client, "\r\n\r\n");
    size_t head = (size_t)(strstr(client->text, "\r\n\r\n") + 4 - client->text);
    while (client->len < head + SITE_BIG_BYTES) {
        loop_turn(site->loop, -1);
    }
    assert_int_equal(client->len, head + SITE_BIG_BYTES);
    client_free(client);
    site_free(site);
}

static void head_requests_get_no_body(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *client = client_new(site);
    client_send(client, "HEAD /now HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    client_wait_closed(client);
    assert_non_null(strstr(client->text, "Content-Length: 3"));
    assert_null(strstr(client->text, "now"));
    client_free(client);
    site_free(site);
}

static void client_wait_or_parked(struct client *client, bool parked)
{
    if (parked) {
        site_wait(client->site, &client->site->parked_count, 1);
    } else {
        client_wait(client, "\r\n\r\nnow");
    }
}

static void connections_above_the_limit_are_told_so(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *clients[SITE_CONNECTIONS_MAX + 1];
    for (size_t i = 0; i <= SITE_CONNECTIONS_MAX; i++) {
        clients[i] = client_new(site);
        client_get(clients[i], "/park");
        if (i < SITE_CONNECTIONS_MAX) {
            site_wait(site, &site->parked_count, i + 1);
        } else {
            client_wait(clients[i], "HTTP/1.1 503 ");
        }
    }
    struct client *last = clients[SITE_CONNECTIONS_MAX];
    client_wait(last, "{\"error\":{\"code\":\"busy\"");
    assert_non_null(strstr(last->text, "Retry-After: 1"));
    client_wait_closed(last);
    for (size_t i = 0; i < SITE_CONNECTIONS_MAX; i++) {
        http_request_answer(site->parked[i], 200, "text/plain", str_of("parked"));
        client_wait(clients[i], "parked");
    }
    client_clear(clients[0]);
    client_get(clients[0], "/now");
    client_wait(clients[0], "\r\n\r\nnow");
    for (size_t i = 0; i <= SITE_CONNECTIONS_MAX; i++) {
        client_free(clients[i]);
    }
    site_free(site);
}

static void the_oldest_idle_connection_is_given_up_first(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct client *clients[SITE_CONNECTIONS_MAX + 3];
    for (size_t i = 0; i < SITE_CONNECTIONS_MAX; i++) {
        clients[i] = client_new(site);
        client_get(clients[i], i == 0 ? "/park" : "/now");
        client_wait_or_parked(clients[i], i == 0);
    }
    client_clear(clients[1]);
    client_get(clients[1], "/now"); /* from now on clients[2] is the oldest */
    client_wait(clients[1], "\r\n\r\nnow");
    for (size_t i = SITE_CONNECTIONS_MAX; i < SITE_CONNECTIONS_MAX + 3; i++) {
        clients[i] = client_new(site);
        client_get(clients[i], "/now");
        client_wait(clients[i], "\r\n\r\nnow");
    }
    for (size_t i = 2; i < 5; i++) {
        client_wait_closed(clients[i]);
    }
    assert_false(clients[0]->closed);
    assert_false(clients[1]->closed);
    assert_false(clients[5]->closed);
    for (size_t i = 0; i < SITE_CONNECTIONS_MAX + 3; i++) {
        client_free(clients[i]);
    }
    site_free(site);
}

static void a_taken_port_and_a_bad_address_are_errors(void **state)
{
    (void)state;
    struct site *site = site_new();
    struct error e;
    struct http_server *other = NULL;
    struct http_server_options options = {
        .loop = site->loop,
        .address = "127.0.0.1",
        .port = http_server_port(site->server),
        .connections_max = 1,
        .on_request = (void (*)(void *, struct http_request *))abort,
    };
    assert_int_equal(http_server_new(&options, &other, &e), ERR_CONFLICT);
    options.address = "localhost";
    assert_int_equal(http_server_new(&options, &other, &e), ERR_INVALID);
    assert_string_equal(e.text, "'localhost' is not an IPv4 or IPv6 address");
    assert_null(other);
    site_free(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_serves_many_requests),
        cmocka_unit_test(path_query_headers_and_body_reach_the_handler),
        cmocka_unit_test(a_head_may_come_byte_by_byte),
        cmocka_unit_test(malformed_requests_get_400),
        cmocka_unit_test(what_the_library_cannot_parse_ends_the_connection_only),
        cmocka_unit_test(heads_are_bounded),
        cmocka_unit_test(a_query_of_any_length_is_answered),
        cmocka_unit_test(a_head_that_fills_the_memory_ends_its_connection_only),
        cmocka_unit_test(a_body_at_its_limit_passes_and_one_above_gets_413),
        cmocka_unit_test(chunked_bodies_are_joined_and_bounded),
        cmocka_unit_test(a_client_that_asks_first_is_told_before_it_sends),
        cmocka_unit_test(a_refusal_at_the_head_keeps_the_connection),
        cmocka_unit_test(clients_that_stop_in_the_middle_are_let_go),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(a_large_answer_arrives_whole_also_when_read_late),
        cmocka_unit_test(head_requests_get_no_body),
        cmocka_unit_test(connections_above_the_limit_are_told_so),
        cmocka_unit_test(the_oldest_idle_connection_is_given_up_first),
        cmocka_unit_test(a_taken_port_and_a_bad_address_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
