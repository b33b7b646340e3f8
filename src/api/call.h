/* call.h - one request on its way through a handler, and every way to answer it. All answers wait
 * for the disk: whatever a handler saw or did is shown only once it is committed (P10).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/access.h"
#include "api/api.h"
#include "api/token.h"
#include "api/who.h"
#include "base/json_out.h"

enum {
    CALL_PARAMS_MAX = 2,
    ANSWER_BYTES_MAX = 64 * 1024 * 1024, /* of one answer that is not a stream */
};

/* A call that is tried in place of the request that carries it. */
struct call_trial {
    const struct doc *body; /* NULL: none */
    const char *query;      /* "force=true&prune"; "": none */
};

struct call {
    struct parked_answer hold; /* the first member, so that a hold can be cast to its call */
    struct api *api;
    struct http_request *request;
    const struct route *route;
    const char *params[CALL_PARAMS_MAX]; /* the values of {name} in the path */
    enum token_scope scope;
    struct access_principal principal; /* what the token's holder reaches */
    const char *name;                  /* the token's user or node; "" without a token */
    const char *actor;                 /* "user:root" */
    enum who_by by;                    /* with what the caller proved who it is */
    const char *token; /* its id, or the session's, which is no secret; "" without one */
    const char *pool;  /* the only pool of a node's token; "": any */
    const char *cause; /* request id */
    struct buf out;    /* the answer under construction; freed with the call */
    unsigned status;
    const char *content_type;
    void (*stored)(struct call *call); /* called when everything decided so far is on disk */
    bool awaited;                      /* a read whose handler runs again on a rebuilt core */
    void *data;                        /* for the handler, between check and commit */
    const struct call_trial
        *trial; /* the change that POST /whatif tries; NULL: the request's own */
    struct arena
        *kept; /* in place of the request's arena, for a dry run that may outlive the request */
    struct core *past; /* of a read with ?at=TIME: the state of then (past.h); NULL: the present */
    int64_t past_ms;
    /* Called when the client leaves while the call is parked elsewhere than in `hold`: must forget
     * the call. */
    void (*gone)(struct call *call, void *ctx);
    void *gone_ctx;
};

struct arena *call_arena(const struct call *call);

/* Gives a dry run memory of its own, with the names that its inputs may point to. The memory goes with the call, unless
 * call_keep_take() hands it on. */
void call_keep(struct call *call);
struct arena *call_keep_take(struct call *call);
void call_keep_free(struct arena *arena); /* accepts NULL */
const struct core *call_core(const struct call *call);
int64_t call_now_ms(const struct call *call);

/* Begins a JSON answer in call->out. */
void call_json(struct call *call, struct json_out *j);

/* Answers with call->out, once everything it rests on is on disk. */
void call_answer_json(struct call *call, unsigned status);

/* Answers with call->out as any type of text, once everything it rests on is on disk. */
void call_answer(struct call *call, unsigned status, const char *content_type);

/* The same at once: for what shows nothing of the state. `content_type` NULL: none. */
void call_answer_at_once(struct call *call, unsigned status, const char *content_type);

/* Go on with `then` when all that was decided so far is on disk; a failed commit is answered here. */
void call_when_stored(struct call *call, void (*then)(struct call *call));

/* True: the call only reads. */
bool call_reads(const struct call *call);

/* Runs the route's handler, or answers 403 when the caller does not reach the object of the path.
 * The one place where handlers are called. Needs a core, unless the object is nobody's. */
void call_run(struct call *call);

/* A read while there is no core: its handler runs when there is one again. */
void call_await_core(struct call *call);

/* Answers with a failure. The only place that turns a code into status and body. */
void call_fail(struct call *call, const struct error *e);

/* Answers 409 with a code that agents tell apart from other conflicts: "stale", "protocol". */
void call_conflict(struct call *call, const char *code, const char *message);

/* Answers 429 (too busy) or 503 (cannot store, or starting), with Retry-After. */
void call_busy(struct call *call, unsigned status, const struct error *e);

/* Answers with the core's refusal. `of_many`: the refusal is of one of several tasks, and the path
 * names that task. */
void call_refuse(struct call *call, enum verdict verdict, const struct facts *facts, bool of_many);

/* Calls fail() and call_fail(). */
void call_failf(struct call *call, enum err code, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Runs an input for this call. False: the core refused the input, and the call was answered. */
must_use bool call_input(struct call *call, struct input *in, struct facts *facts);

/* Parks the request: `gone` is called if the client leaves. call_resume() ends the parking. */
void call_park(struct call *call, void (*gone)(struct call *call, void *ctx), void *ctx);
void call_resume(struct call *call);

/* Frees the memory of the call; io frees the request. Called after the answer, or when the client
 * has left. */
void call_done(struct call *call);

/* ---- query parameters; each function answers the call and returns false when one is malformed
 * ---- */

/* Allows only the parameters that the route's row names, and each of them once. Called once, before the
 * handler. */
must_use bool call_query_known(struct call *call);
/* The value of a parameter; NULL: absent. A change that is tried is always a dry run. */
const char *call_query(const struct call *call, const char *name);
must_use bool call_query_u64(struct call *call, const char *name, uint64_t max, uint64_t *ret);
must_use bool call_query_bool(struct call *call, const char *name, bool *ret);
/* Reads a time in RFC 3339; *ret stays as it is when the parameter is not there. */
must_use bool call_query_time(struct call *call, const char *name, int64_t *ret);

/* Reads the {id} of a task from params[0]. */
must_use bool call_task_id(struct call *call, task_id *ret);
