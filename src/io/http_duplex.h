/* http_duplex.h - the client's side of http_upgrade.h: a connection to the server that has left HTTP.
 * Blocking until the server has answered, then without blocking. One thread uses a duplex.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "io/http_client.h"

struct http_duplex;

struct http_duplex_call {
    const char *url; /* as for http_client_new() */
    const char *token;
    const struct http_trust *trust; /* NULL: the system's */
    const char *method;
    const char *path;
    const char *protocol;
    struct str body;    /* JSON; empty: none */
    int64_t timeout_ms; /* from connecting to the answer */
};

/* ERR_OK with *ret NULL: the server answered with another status, which *ret_reply has. */
must_use enum err http_duplex_open(const struct http_duplex_call *call, struct arena *arena,
                                   struct http_duplex **ret, struct http_reply *ret_reply,
                                   struct error *e);
void http_duplex_free(struct http_duplex *duplex); /* NULL is allowed */

/* For poll(). Bytes may wait inside the duplex although the descriptor is not readable: read until
 * HTTP_DUPLEX_AGAIN before waiting. */
int http_duplex_fd(const struct http_duplex *duplex);

enum { HTTP_DUPLEX_END = 0, HTTP_DUPLEX_AGAIN = -1 };

/* Bytes moved, or one of the two words above. An error is an end. */
long http_duplex_read(struct http_duplex *duplex, void *out, size_t max);
long http_duplex_write(struct http_duplex *duplex, const void *data, size_t len);

/* Carries bytes between the duplex and a local descriptor until either ends; what the descriptor gave is
 * delivered first, also where its other side closed without reading. Blocks. `stop_fd` readable
 * ends it; -1: none. */
void http_duplex_join(struct http_duplex *duplex, int fd, int stop_fd);
