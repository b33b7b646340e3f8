/* api_internal.h - the API's own state, shared by its handlers.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"
#include "api/session.h"
#include "api/watches.h"
#include "store/store.h"

struct event_streams;
struct tunnels;
struct proxies;
struct checkup;
struct asks;
struct uploads;
struct cursors;
struct pasts;

enum { STATUS_CLASSES = 6 };

/* An answer that stays open, and the token with which it was opened. */
struct token_use {
    LIST_ENTRY(token_use) link;
    char token[sizeof((struct store_token){0}.id)];
    /* Called when the token is revoked: ends the stream and the use. */
    void (*cut)(struct token_use *use);
};
LIST_HEAD(token_uses, token_use);

struct call;

/* The secret as it is shown: with the fingerprint of the server's authority where there is one. */
const char *api_token_text(const struct call *call, const char *secret);

/* From now until api_token_end(), revoking the call's token cuts the stream. */
void api_token_begin(const struct call *call, struct token_use *use,
                     void (*cut)(struct token_use *use));
void api_token_end(struct token_use *use);

struct api {
    struct api_options o;
    struct token_uses uses;
    struct token_uses cut_uses; /* were cut, and end when the library has answered */
    struct watches *watches;
    struct event_streams *events;
    struct tunnels *tunnels;
    struct proxies *proxies;
    struct checkup *checkup;
    struct asks *asks;
    struct uploads *uploads;
    struct pasts *pasts;
    /* the second of the last act that its token did not permit; refused_count counts such acts of that second */
    int64_t refused_second;
    uint32_t refused_count;
    /* NULL: the log could not be opened, and the server said so at its start */
    struct audit *audit;
    struct cursors *cursors; /* of clients without a cursor of their own */
    struct session_links links;
    uint64_t answers[STATUS_CLASSES]; /* by the first digit of the status */
    uint64_t submitted;               /* tasks submitted so far */
};

/* Gives an error the form that clients of the path's mount read. Returns the status. */
unsigned api_error_form(const struct api *api, struct http_request *request, unsigned status,
                        struct buf *body);

/* Ends the connection with the answer where that keeps a client from harm (struct route_mount, gives_up). */
void api_connection_form(const struct api *api, struct http_request *request);

/* Counts, for the metrics, an answer or stream that was begun with this status. */
void api_count_answer(struct api *api, unsigned status);
