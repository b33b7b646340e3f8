/* test_http_upgrade.c - connections that leave HTTP, and the relay between two of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"

#include "base/mem.h"
#include "io/http_request.h"
#include "io/http_upgrade.h"
#include "io/relay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Two clients, joined by a relay in the server. */
struct pair {
    struct site *site;
    struct client *clients[2];
    struct http_upgrade *ups[2];
    struct relay_end ends[2];
    struct relay *relay;
    size_t opened;
    size_t ended;
    size_t lost;
};

static void pair_ended(void *ctx)
{
    struct pair *pair = ctx;
    relay_free(pair->relay);
    pair->relay = NULL;
    http_upgrade_end(pair->ups[0]);
    http_upgrade_end(pair->ups[1]);
    pair->ended++;
}

static void pair_upgraded(void *ctx, struct http_upgrade *upgrade, int fd, struct str early)
{
    struct pair *pair = ctx;
    if (upgrade == NULL) {
        pair->lost++;
        return;
    }
    pair->ups[pair->opened] = upgrade;
    assert_int_equal(early.len, 0);
    pair->ends[pair->opened] = (struct relay_end){fd, {"", 0}};
    pair->opened++;
    if (pair->opened == 2) {
        pair->relay = relay_new(pair->site->loop, pair->ends, pair_ended, pair);
    }
}

static void ask(struct client *client)
{
    client_send(client, "GET /park HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n"
                        "Upgrade: weir-tunnel\r\n\r\n");
}

static struct pair pair_new(void)
{
    struct pair pair = {.site = site_new()};
    for (size_t i = 0; i < 2; i++) {
        pair.clients[i] = client_new(pair.site);
        ask(pair.clients[i]);
        site_wait(pair.site, &pair.site->parked_count, i + 1);
        assert_true(http_upgrade_asked(pair.site->parked[i], "weir-tunnel"));
        assert_false(http_upgrade_asked(pair.site->parked[i], "websocket"));
    }
    return pair;
}

static void pair_join(struct pair *pair)
{
    for (size_t i = 0; i < 2; i++) {
        http_upgrade_answer(pair->site->parked[i], "weir-tunnel", pair_upgraded, pair);
        site_wait(pair->site, &pair->opened, i + 1);
    }
    pair->site->parked_count = 0;
    client_wait(pair->clients[0], "HTTP/1.1 101 ");
    client_wait(pair->clients[1], "HTTP/1.1 101 ");
    client_wait(pair->clients[0], "\r\n\r\n");
    client_wait(pair->clients[1], "\r\n\r\n");
    client_clear(pair->clients[0]);
    client_clear(pair->clients[1]);
}

static void pair_free(struct pair *pair)
{
    client_free(pair->clients[0]);
    client_free(pair->clients[1]);
    site_free(pair->site);
}

static void bytes_go_both_ways_and_the_end_is_passed_on(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    pair_join(&pair);
    client_send(pair.clients[0], "to the second");
    client_wait(pair.clients[1], "to the second");
    client_send(pair.clients[1], "to the first");
    client_wait(pair.clients[0], "to the first");
    assert_int_equal(relay_bytes(pair.relay, 0), strlen("to the second"));
    client_send(pair.clients[0], "last words");
    assert_int_equal(shutdown(pair.clients[0]->fd, SHUT_WR), 0);
    client_wait(pair.clients[1], "last words");
    client_wait_closed(pair.clients[1]);
    site_wait(pair.site, &pair.ended, 1);
    client_wait_closed(pair.clients[0]);
    site_wait_connections(pair.site, 0);
    pair_free(&pair);
}

static void a_reader_that_is_slow_stops_the_writer(void **state)
{
    (void)state;
    enum { CHUNK = 256 * 1024, CHUNKS = 64 };
    struct pair pair = pair_new();
    pair_join(&pair);
    client_read(pair.clients[1], false);
    int fd = pair.clients[0]->fd;
    char *chunk = xcalloc(1, CHUNK);
    memset(chunk, 'x', CHUNK);
    size_t put = 0;
    for (int quiet = 0; quiet < 20;) {
        ssize_t n = send(fd, chunk, CHUNK, MSG_DONTWAIT | MSG_NOSIGNAL);
        put += n > 0 ? (size_t)n : 0;
        quiet = n > 0 ? 0 : quiet + 1;
        loop_turn(pair.site->loop, 5);
        assert_true(put < (size_t)CHUNK * CHUNKS); /* 16 MiB would mean that somebody buffers */
    }
    client_read(pair.clients[1], true);
    while (pair.clients[1]->len < put && pair.clients[1]->len < CLIENT_TEXT_MAX / 2) {
        loop_turn(pair.site->loop, -1);
    }
    free(chunk);
    pair_ended(&pair);
    client_read(pair.clients[1], false);
    pair_free(&pair);
}

/* Two pairs of sockets: the relay has ends[0] and ends[2], the test has ends[1] and ends[3]. */
struct sockets {
    int ends[4];
    bool ended;
};

static void sockets_ended(void *ctx)
{
    ((struct sockets *)ctx)->ended = true;
}

static size_t fill(int fd)
{
    char chunk[16 * 1024];
    size_t put = 0;
    memset(chunk, 'x', sizeof chunk);
    for (ssize_t n = 1; n > 0; put += n > 0 ? (size_t)n : 0) {
        n = send(fd, chunk, sizeof chunk, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    return put;
}

/* One side sends more than the relay and the reader take at once, and closes with unread bytes of the other side. */
static void what_was_sent_arrives_although_the_sender_reads_no_more(void **state)
{
    (void)state;
    enum { SMALL = 4096 };
    struct error e;
    struct loop *loop;
    assert_int_equal(loop_new(&loop, &e), ERR_OK);
    struct sockets s = {.ended = false};
    const int small = SMALL;
    char chunk[1000];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s.ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s.ends + 2), 0);
    assert_int_equal(setsockopt(s.ends[2], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    const struct relay_end ends[2] = {{s.ends[0], {"", 0}}, {s.ends[2], {"", 0}}};
    struct relay *relay = relay_new(loop, ends, sockets_ended, &s);
    const size_t sent = fill(s.ends[1]);
    assert_true(sent > 2 * (size_t)RELAY_BYTES_MAX);
    assert_int_equal(send(s.ends[3], "unread", 6, 0), 6);
    loop_turn(loop, -1);
    assert_int_equal(close(s.ends[1]), 0);
    assert_int_equal(send(s.ends[3], "to nobody", 9, 0), 9);
    size_t got = 0;
    while (!s.ended) {
        loop_turn(loop, 5);
        for (ssize_t n = 1; n > 0; got += n > 0 ? (size_t)n : 0) {
            n = recv(s.ends[3], chunk, sizeof chunk, 0);
        }
    }
    assert_int_equal(got, sent);
    relay_free(relay);
    loop_free(loop);
    assert_int_equal(close(s.ends[0]) + close(s.ends[2]) + close(s.ends[3]), 0);
}

static void a_client_that_leaves_before_the_answer_is_reported_once(void **state)
{
    (void)state;
    struct pair pair = pair_new();
    client_free(pair.clients[0]);
    http_upgrade_answer(pair.site->parked[0], "weir-tunnel", pair_upgraded, &pair);
    while (pair.opened + pair.lost == 0) {
        loop_turn(pair.site->loop, -1);
    }
    if (pair.opened == 1) { /* the kernel had not yet said that the client is gone */
        http_upgrade_end(pair.ups[0]);
    }
    http_request_answer(pair.site->parked[1], 200, "text/plain", str_of("no"));
    client_wait(pair.clients[1], "no");
    site_wait_connections(pair.site, 1);
    assert_int_equal(pair.opened + pair.lost, 1);
    pair.site->parked_count = 0;
    pair.clients[0] = client_new(pair.site);
    pair_free(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_both_ways_and_the_end_is_passed_on),
        cmocka_unit_test(a_reader_that_is_slow_stops_the_writer),
        cmocka_unit_test(what_was_sent_arrives_although_the_sender_reads_no_more),
        cmocka_unit_test(a_client_that_leaves_before_the_answer_is_reported_once),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
