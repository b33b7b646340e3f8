/* test_http_piece.c - streams that are sent parts of one file in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "http_site.h"

#include "base/mem.h"
#include "io/http_internal.h"
#include "io/http_piece.h"
#include "io/http_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 1000,
    CHUNKS_MAX = 40000,
    CHUNK_FRAME = 7, /* "3e8\r\n" and "\r\n" */
};

/* What the callbacks of the one stream give and count. */
struct shelf {
    struct http_piece piece; /* given next; its length is 0: nothing */
    size_t given;
    size_t asked_source;
};

static struct shelf shelf;

static bool next_piece(void *ctx, struct http_piece *ret)
{
    (void)ctx;
    if (shelf.piece.len == 0) {
        return false;
    }
    *ret = shelf.piece;
    shelf.piece.len = 0;
    shelf.given++;
    return true;
}

static size_t source(void *ctx, char *out, size_t max)
{
    (void)ctx;
    if (shelf.piece.len == 0) {
        return 0;
    }
    shelf.piece.len = 0;
    shelf.asked_source++;
    assert_true(max > 5);
    memcpy(out, "plain", 5);
    return 5;
}

/* A file of `count` chunks, each of CHUNK_BYTES letters. */
static int file_of_chunks(size_t count)
{
    const int fd = memfd_create("chunks", MFD_CLOEXEC);
    assert_true(fd >= 0);
    char chunk[CHUNK_BYTES + CHUNK_FRAME + 1];
    memset(chunk, 'x', sizeof chunk);
    memcpy(chunk, "3e8\r\n", 5);
    memcpy(chunk + 5 + CHUNK_BYTES, "\r\n", 3);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(write(fd, chunk, CHUNK_BYTES + CHUNK_FRAME), CHUNK_BYTES + CHUNK_FRAME);
    }
    return fd;
}

static void give(struct site *site, int fd, size_t chunks)
{
    shelf.piece = (struct http_piece){.fd = fd, .len = chunks * (CHUNK_BYTES + CHUNK_FRAME)};
    http_stream_wake(site->stream);
}

static struct site *open_stream(struct client **ret, const char *request)
{
    shelf = (struct shelf){0};
    struct site *site = site_new();
    *ret = client_new(site);
    client_send(*ret, request);
    site_wait(site, &site->streams, 1);
    http_stream_source(site->stream, source);
    http_stream_pieces(site->stream, next_piece);
    http_stream_wake(site->stream);
    client_wait(*ret, "\r\n\r\n");
    return site;
}

#define GET "GET /stream HTTP/1.1\r\nHost: site\r\n\r\n"

/* Runs the loop and counts letters until `wanted` of them have come. Keeps the last bytes. */
static void letters_wait(struct site *site, struct client *client, size_t wanted)
{
    size_t got = 0;
    while (got < wanted) {
        client_clear(client);
        loop_turn(site->loop, -1);
        for (size_t i = 0; i < client->len; i++) {
            got += client->text[i] == 'x';
        }
    }
    assert_int_equal(got, wanted);
}

static void done(struct site *site, struct client *client, int fd)
{
    client_free(client);
    site_free(site);
    (void)close(fd);
}

static void pieces_and_writes_take_turns(void **state)
{
    (void)state;
    struct client *client;
    struct site *site = open_stream(&client, GET);
    const int fd = file_of_chunks(3);
    give(site, fd, 3);
    letters_wait(site, client, 3 * CHUNK_BYTES);
    assert_true(http_stream_write(site->stream, str_of("a line\n")));
    client_wait(client, "\r\n7\r\na line\n\r\n");
    give(site, fd, 2);
    letters_wait(site, client, 2 * CHUNK_BYTES);
    assert_int_equal(shelf.given, 2);
    assert_int_equal(shelf.asked_source, 0);
    assert_int_equal(http_stream_pending(site->stream), 0);
    http_stream_end(site->stream);
    client_wait(client, "\r\n0\r\n\r\n");
    client_get(client, "/now");
    client_wait(client, "\r\n\r\nnow");
    done(site, client, fd);
}

/* What is written while a piece is on its way follows the piece, and a file that its owner closes is
 * sent to its end. */
static void a_client_that_reads_late_gets_all_of_it_in_order(void **state)
{
    (void)state;
    struct client *client;
    struct site *site = open_stream(&client, GET);
    client_read(client, false);
    const int fd = file_of_chunks(CHUNKS_MAX);
    give(site, fd, CHUNKS_MAX);
    while (shelf.given == 0) {
        loop_turn(site->loop, 0);
    }
    (void)close(fd);
    for (int i = 0; i < 100; i++) {
        loop_turn(site->loop, 0);
    }
    assert_true(http_stream_pending(site->stream) > 0);
    assert_true(http_stream_write(site->stream, str_of("end\n")));
    client_read(client, true);
    letters_wait(site, client, (size_t)CHUNKS_MAX * CHUNK_BYTES);
    client_wait(client, "\r\n4\r\nend\n\r\n");
    done(site, client, -1);
}

static void a_stream_that_ends_inside_a_piece_is_seen_to_be_cut(void **state)
{
    (void)state;
    struct client *client;
    struct site *site = open_stream(&client, GET);
    client_read(client, false);
    const int fd = file_of_chunks(CHUNKS_MAX);
    give(site, fd, CHUNKS_MAX);
    for (int i = 0; i < 100; i++) {
        loop_turn(site->loop, 0);
    }
    assert_true(http_stream_pending(site->stream) > 0);
    http_stream_end(site->stream);
    site_wait_connections(site, 0);
    client_read(client, true);
    while (!client->closed) {
        client_clear(client);
        loop_turn(site->loop, -1);
    }
    assert_null(strstr(client->text, "\r\n0\r\n\r\n"));
    assert_int_equal(site->streams_gone, 0);
    done(site, client, fd);
}

static void a_client_that_leaves_inside_a_piece_is_noticed(void **state)
{
    (void)state;
    struct client *client;
    struct site *site = open_stream(&client, GET);
    client_read(client, false);
    const int fd = file_of_chunks(CHUNKS_MAX);
    give(site, fd, CHUNKS_MAX);
    assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
    site_wait(site, &site->streams_gone, 1);
    done(site, client, fd);
}

static void an_old_client_gets_what_the_source_has(void **state)
{
    (void)state;
    struct client *client;
    struct site *site = open_stream(&client, "GET /stream HTTP/1.0\r\n\r\n");
    const int fd = file_of_chunks(1);
    give(site, fd, 1);
    client_wait(client, "\r\n\r\nplain");
    assert_int_equal(shelf.given, 0);
    assert_int_equal(shelf.asked_source, 1);
    done(site, client, fd);
}

static void a_client_that_reads_nothing_is_late_after_the_idle_time(void **state)
{
    (void)state;
    struct client *client;
    struct site *site = open_stream(&client, GET);
    const struct http_request *request =
        (const void *)((const char *)site->stream - offsetof(struct http_request, stream));
    const int64_t ms = 1000, idle_ms = HTTP_IDLE_S_MIN * ms;
    assert_false(http_piece_late(request, loop_now_ms(site->loop) + 2 * idle_ms));
    client_read(client, false);
    const int fd = file_of_chunks(CHUNKS_MAX);
    give(site, fd, CHUNKS_MAX);
    const int64_t now_ms = loop_now_ms(site->loop);
    assert_false(http_piece_late(request, now_ms + idle_ms));
    assert_true(http_piece_late(request, now_ms + idle_ms + ms));
    done(site, client, fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_and_writes_take_turns),
        cmocka_unit_test(a_client_that_reads_late_gets_all_of_it_in_order),
        cmocka_unit_test(a_stream_that_ends_inside_a_piece_is_seen_to_be_cut),
        cmocka_unit_test(a_client_that_leaves_inside_a_piece_is_noticed),
        cmocka_unit_test(an_old_client_gets_what_the_source_has),
        cmocka_unit_test(a_client_that_reads_nothing_is_late_after_the_idle_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
