/* call.h - one request on its way through a handler, and every way to answer it. All answers wait
 * for the disk: what a handler saw or did is shown only once it is committed (P10).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"
#include "api/token.h"
#include "base/json_out.h"

enum {
    CALL_PARAMS_MAX = 2,
    ANSWER_BYTES_MAX = 64 * 1024 * 1024, /* of one answer that is not a stream */
};

struct call {
    struct parked_answer hold; /* first: the call is found from it */
    struct api *api;
    struct http_request *request;
    const struct route *route;
    const char *params[CALL_PARAMS_MAX]; /* what stood for {name} in the path */
    enum token_scope scope;
    const char *name;  /* the token's user or node; "" without a token */
    const char *actor; /* "user:root" */
    const char *token; /* its id, which is no secret; "" without one */
    const char *cause; /* request id */
    struct buf out;    /* the answer under construction; freed with the call */
    unsigned status;
    const char *content_type;
    void (*stored)(struct call *call); /* what to do when the disk has it */
    bool awaited;                      /* a read that was begun again on a rebuilt core */
    void *data;                        /* the handler's, between check and commit */
    /* The client went away while the call was parked elsewhere than in `hold`: forget it. */
    void (*gone)(struct call *call, void *ctx);
    void *gone_ctx;
};

struct arena *call_arena(const struct call *call);
const struct core *call_core(const struct call *call);
int64_t call_now_ms(const struct call *call);

/* Begin a JSON answer in call->out. */
void call_json(struct call *call, struct json_out *j);

/* Give call->out as the answer, once all it rests on is on disk. */
void call_answer_json(struct call *call, unsigned status);

/* The same for any text. */
void call_answer(struct call *call, unsigned status, const char *content_type);

/* Go on with `then` when all that was decided so far is on disk; a failed commit is answered here. */
void call_when_stored(struct call *call, void (*then)(struct call *call));

/* Does it only look? */
bool call_reads(const struct call *call);

/* A read while there is no core: its handler runs when there is one again. */
void call_await_core(struct call *call);

/* Answers with a live task, whole. */
void call_task_json(struct call *call, task_id id);

/* A failure: code -> status and body, in one place. */
void call_fail(struct call *call, const struct error *e);

/* A 409 with a code that agents tell apart from the others: "stale", "protocol". */
void call_conflict(struct call *call, const char *code, const char *message);

/* 429 (too busy) or 503 (cannot store, or starting), with Retry-After. */
void call_busy(struct call *call, unsigned status, const struct error *e);

/* The core said no. `of_many`: to one of several tasks; the path names it. */
void call_refuse(struct call *call, enum verdict verdict, const struct facts *facts, bool of_many);

/* fail() and call_fail() in one. */
void call_failf(struct call *call, enum err code, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Run an input for this call. False when it was refused: the answer is given then. */
must_use bool call_input(struct call *call, struct input *in, struct facts *facts);

/* The request is parked: `gone` is called if the client leaves. call_resume() ends that. */
void call_park(struct call *call, void (*gone)(struct call *call, void *ctx), void *ctx);
void call_resume(struct call *call);

/* Free what the call holds; the request itself is io's. Called when the answer is given or the
 * client has gone. */
void call_done(struct call *call);

/* ---- query parameters; each answers the call and returns false when malformed ---- */

/* Only those that the route's row names; asked once, before the handler. */
must_use bool call_query_known(struct call *call);
must_use bool call_query_u64(struct call *call, const char *name, uint64_t max, uint64_t *ret);
must_use bool call_query_bool(struct call *call, const char *name, bool *ret);

/* {id} of a task in params[0]. */
must_use bool call_task_id(struct call *call, task_id *ret);
