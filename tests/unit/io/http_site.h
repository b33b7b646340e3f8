/* http_site.h - a small site on a real server, and raw clients on the same loop, for the tests of
 * the HTTP server. Everything waits for its event, with one deadline for the whole test.
 *
 *   /now     "now"                      /echo   METHOD PATH?a=… BODY (bodies up to SITE_BODY_MAX)
 *   /park    kept in site->parked       /stream kept in site->stream, SITE_STREAM_MAX bytes
 *   /refuse  401 already at the head    /big    SITE_BIG_BYTES of 'x'
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "io/http_server.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SITE_BODY_MAX = 100,
    SITE_STREAM_MAX = 64 * 1024,
    SITE_BIG_BYTES = 300 * 1000,
    SITE_PARKED_MAX = 20,
    SITE_CONNECTIONS_MAX = 20,
    CLIENT_TEXT_MAX = 1024 * 1024,
};

struct site {
    struct loop *loop;
    struct http_server *server;
    struct loop_timer *deadline;
    struct http_request *parked[SITE_PARKED_MAX];
    size_t parked_count;
    size_t requests;
    size_t gone; /* parked requests whose client has gone */
    struct http_stream *stream;
    size_t streams;
    size_t streams_gone;
};

struct site *site_new(void);
void site_free(struct site *site);

/* Runs the loop until *count is at least `want`. */
void site_wait(struct site *site, const size_t *count, size_t want);

/* Runs the loop until the server has this many connections. */
void site_wait_connections(struct site *site, unsigned want);

/* A connection. Received bytes are gathered in `text`. */
struct client {
    struct site *site;
    struct loop_fd *watch;
    int fd;
    bool closed; /* the server has closed the connection */
    size_t len;
    char text[CLIENT_TEXT_MAX];
};

struct client *client_new(struct site *site);
void client_free(struct client *client);

void client_send(struct client *client, const char *text);
void client_send_bytes(struct client *client, const char *data, size_t len);

/* Sends GET `target` with the usual headers. */
void client_get(struct client *client, const char *target);

/* Runs the loop until `needle` has come. Fails when the connection ends before. */
void client_wait(struct client *client, const char *needle);
void client_wait_closed(struct client *client);

/* Counts how often `needle` has come so far. */
size_t client_count(const struct client *client, const char *needle);

/* Forgets the received bytes. */
void client_clear(struct client *client);

/* Stops or starts reading from the socket, to play a client that does not read. */
void client_read(struct client *client, bool on);
