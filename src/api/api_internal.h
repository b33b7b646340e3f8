/* api_internal.h - the API's own state, shared by its handlers.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"
#include "api/watches.h"
#include "store/store.h"

struct event_streams;

enum { STATUS_CLASSES = 6 };

/* An answer that does not end, and the token it was opened with. */
struct token_use {
    LIST_ENTRY(token_use) link;
    char token[sizeof((struct store_token){0}.id)];
    void (*cut)(struct token_use *use); /* the token is revoked: end the stream, and the use */
};
LIST_HEAD(token_uses, token_use);

struct call;

/* From here on, until api_token_end(), revoking the call's token cuts the stream. */
void api_token_begin(const struct call *call, struct token_use *use,
                     void (*cut)(struct token_use *use));
void api_token_end(struct token_use *use);

struct api {
    struct api_options o;
    struct token_uses uses;
    struct watches *watches;
    struct event_streams *events;
    uint64_t answers[STATUS_CLASSES]; /* by hundreds of the status */
    uint64_t submitted;               /* tasks */
};

/* Metrics: an answer or stream with this status was begun. */
void api_count_answer(struct api *api, unsigned status);
