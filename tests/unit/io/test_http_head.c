/* test_http_head.c - heads that another HTTP implementation could read differently get 400, and the
 * connection closes before a second request in the same bytes is heard.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#define BYTES(text)                                                                                \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
#define SECOND "GET /now HTTP/1.1\r\nHost: a\r\n\r\n"

struct bytes {
    const char *p;
    size_t len;
};

static const struct bytes refused[] = {
    BYTES(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 30\r\n\r\n" SECOND),
    BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: "
          "3\r\n\r\nabc" SECOND),
    BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n" SECOND),
    BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n" SECOND),
    BYTES(
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n"
        "0\r\n\r\n" SECOND),
    BYTES(
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n"
        "\r\n0\r\n\r\n" SECOND),
    BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nX: y\r\n\tz\r\nContent-Length: 0\r\n\r\n" SECOND),
    BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
          "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND),
    BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\nX: y\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\nHost: a\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\n\n" SECOND),
    BYTES("GET /now HTTP/1.1\nHost: a\n\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\nX: y\0z\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nX: y\0z\r\nHost: a\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\0\r\n\r\n" SECOND),
    BYTES("GET /now\0x HTTP/1.1\r\nHost: a\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\rX: y\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\nX: \x1b[2J\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\n: y\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n" SECOND),
    BYTES("GET /now HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAuthorization: Bearer "
          "b\r\n\r\n" SECOND),
};

/* Whole, and byte by byte, so that the library sees the head in every state of its buffer. */
static void send_in_steps(struct client *client, struct bytes text, size_t step)
{
    for (size_t at = 0; at < text.len && !client->closed; at += step) {
        const size_t left = text.len - at;
        client_send_bytes(client, text.p + at, left < step ? left : step);
        loop_turn(client->site->loop, 0);
    }
}

static void an_ambiguous_head_gets_400_and_the_end(void **state)
{
    (void)state;
    struct site *site = site_new();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct client *client = client_new(site);
        client_send_bytes(client, refused[i].p, refused[i].len);
        client_wait_closed(client);
        if (client_count(client, "HTTP/1.1 400 ") == 0 || client_count(client, " 200 OK") > 0) {
            print_error("request %zu: %s\n", i, client->text);
        }
        assert_true(client_count(client, "HTTP/1.1 400 ") > 0);
        assert_int_equal(client_count(client, " 200 OK"), 0);
        client_free(client);
    }
    assert_int_equal(site->requests, 0);
    site_free(site);
}

static void unusual_heads_in_strict_form_pass(void **state)
{
    (void)state;
    static const struct bytes taken[] = {
        BYTES(
            "POST /echo HTTP/1.1\r\nHost:a\r\nX:\r\nY: \t z \t \r\nContent-Length:   3\r\n\r\nabc"),
        BYTES("POST /echo?a=b&c=%20 HTTP/1.1\r\nHOST: a\r\nCookie: a=b; c=d\r\nx!#$%&'*+-.^_`|~9: "
              "z\r\n"
              "content-length: 3\r\n\r\nabc"),
        BYTES("POST /echo HTTP/1.1\r\nHost: a\r\nX: \xc3\xa4\tb\r\nX: again\r\n"
              "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    };
    struct site *site = site_new();
    struct client *client = client_new(site);
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        for (size_t step = 1; step < 400; step *= 7) {
            send_in_steps(client, taken[i], step);
            client_wait(client, "body=abc");
            client_clear(client);
        }
    }
    client_free(client);
    site_free(site);
}

/* The library's buffer grows while such a head arrives. */
static void a_long_head_passes(void **state)
{
    (void)state;
    struct site *site = site_new();
    char head[12 * 1024];
    size_t len = 0;
    len += (size_t)snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: a\r\n");
    for (unsigned i = 0; i < 60; i++) {
        len += (size_t)snprintf(head + len, sizeof head - len, "X-%u: %0100u\r\n", i, i);
    }
    len += (size_t)snprintf(head + len, sizeof head - len, "Content-Length: 3\r\n\r\nabc");
    struct client *client = client_new(site);
    for (size_t step = 1; step < sizeof head; step *= 11) {
        send_in_steps(client, (struct bytes){head, len}, step);
        client_wait(client, "body=abc");
        client_clear(client);
    }
    client_free(client);
    site_free(site);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ambiguous_head_gets_400_and_the_end),
        cmocka_unit_test(unusual_heads_in_strict_form_pass),
        cmocka_unit_test(a_long_head_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
