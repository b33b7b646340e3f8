/* host.h - what the API asks of the server around it: the core, the one road into it, the wait for
 * the disk, and other threads. A table of functions, so that handlers can be tried without threads,
 * and so that api/ need not see server/. Everything here is called on the loop's thread.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "io/http_server.h"
#include "store/store.h"

#include <sys/queue.h>

struct call;

/* Something that waits until all that was decided so far is on disk (P10). Lives in its owner. */
struct parked_answer {
    TAILQ_ENTRY(parked_answer) link;
    /* `failure` is NULL when it is on disk; else nothing of it ever will be. */
    void (*fn)(struct parked_answer *hold, const struct error *failure);
    struct parked_list *list; /* where it waits; NULL: it does not */
};
TAILQ_HEAD(parked_list, parked_answer);

/* A piece of bounded work for another thread. `run` sees nothing but the work itself. */
struct work {
    void (*run)(struct work *work, struct store_reader *reader); /* reader: NULL on a worker */
    void (*done)(struct work *work);                             /* back on the loop; owns it */
};

/* How full the server is, in order of what is refused first. */
enum room_class {
    ROOM_SUBMIT,  /* new work */
    ROOM_READ,    /* looking */
    ROOM_CONTROL, /* cancels, heartbeats, reports: as long as there is memory */
};

/* Numbers the API shows that only the server knows. */
struct host_numbers {
    uint64_t seq_committed;
    uint64_t commits;
    uint64_t commit_failures;
    uint64_t commit_us_total;
    uint64_t facts_waiting;
    uint64_t holds_waiting;
    uint64_t snapshots;
    uint64_t snapshot_seq;
    uint64_t agents_connected;
    uint64_t reports;
    uint64_t passes;     /* that changed something */
    uint64_t pass_tries; /* all */
    uint64_t connections;
    int64_t started_ms;
};

struct api_host {
    void *ctx;

    /* The state; NULL while it is being rebuilt. Valid until the handler returns. */
    const struct core *(*core)(void *ctx);

    int64_t (*now_ms)(void *ctx);

    /* ERR_OK, or why nothing can be changed now (ERR_BUSY). */
    must_use enum err (*writable)(void *ctx, struct error *e);

    /* ERR_OK, or ERR_BUSY: too much is waiting for the disk. */
    must_use enum err (*room)(void *ctx, enum room_class class, struct error *e);

    /* Decide, and make it so when the verdict is VERDICT_OK. Stamps the time. `out` has the facts
     * (in its arena) or the refusal. Needs writable(). */
    enum verdict (*input)(void *ctx, struct input *in, struct facts *out);

    /* Store a token with the next commit; it is valid from then on. */
    void (*token_put)(void *ctx, const struct store_token *token);

    /* Call hold->fn when all decided so far is on disk: at once when it is. */
    void (*hold)(void *ctx, struct parked_answer *hold);
    /* While there is no core: call hold->fn when there is one again, or why there is none yet. */
    void (*await_core)(void *ctx, struct parked_answer *hold);
    void (*unhold)(void *ctx,
                   struct parked_answer *hold); /* forget it; fine when it does not wait */

    /* Run on the reader thread (with a connection) or on a worker (with a copy of the core inside
     * the work). False: too many already wait; the work stays the caller's. */
    must_use bool (*read)(void *ctx, struct work *work);
    must_use bool (*compute)(void *ctx, struct work *work);

    void (*numbers)(void *ctx, struct host_numbers *ret);

    /* An agent's hello and its reports; the host answers the call. The credential has been checked:
     * call->name is the node. */
    void (*agent_stream)(void *ctx, struct call *call);
    void (*agent_reports)(void *ctx, struct call *call);

    /* Has this node a connected agent whose supervisor is not this one? */
    bool (*agent_connected)(void *ctx, const char *node);
};
