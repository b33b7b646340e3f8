/* call_work.h - a call that is answered by work on another thread: from a copy of the state, from the history, from files.
 *
 * The work may outlive the call, because a client may leave while the work runs. What the work uses is in the piece of
 * work, not in the call. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api_internal.h"
#include "api/call.h"

/* The first member of each piece of work. Beforehand `kind` is set; call_work_send() sets `work` and `call`. */
struct call_work {
    struct work work;
    const struct call_work_kind *kind;
    struct call *call; /* NULL: the client has left */
    enum err err;      /* of `run`: the call is answered with `error` */
    struct error error;
};

struct call_work_kind {
    void (*run)(struct work *work, struct store_reader *reader); /* on the other thread */
    void (*answer)(
        struct call_work *work); /* on the loop: the work has succeeded, and the client is there */
    void (*free)(struct call_work *work); /* always called, last */
    bool
        reads; /* `run` wants the store's reader: the work goes to the reader's thread, not to the worker */
    const char *busy; /* what a client is told when too much work waits */
};

/* Gives the work to its thread at once. Takes ownership. */
void call_work_send(struct call *call, struct call_work *work);

/* Gives the work to its thread when all that the state has by now is on disk. Takes ownership. */
void call_work_send_stored(struct call *call, struct call_work *work);

/* Answers without any thread when all that the state has by now is on disk: nothing is left to run. Takes ownership. */
void call_work_answer_stored(struct call *call, struct call_work *work);

/* Runs the work here and answers. Takes ownership. */
void call_work_run(struct call *call, struct call_work *work);

/* Answers with the text, which the call takes over. */
void call_work_answer_json(struct call_work *work, struct buf *text, unsigned status);

/* Answers with a text that `write` writes on the worker, from a copy of the state, when all that the state has by now is
 * on disk. `write` gets a copy of the `size` bytes at `ask`. The text has `most` bytes at the most. */
typedef void (*call_work_write_fn)(const struct core *copy, const void *ask, int64_t now_ms,
                                   struct buf *out);
void call_work_send_copy(struct call *call, call_work_write_fn write, const void *ask, size_t size,
                         size_t most);
