/* host.h - what the API needs of the server around it: the core, the only way into the core, the
 * wait for the disk, and other threads. The host is a table of functions, so that handlers can be
 * tested without threads, and so that api/ does not include server/. Everything here is called on
 * the loop's thread. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "io/http_server.h"
#include "io/x509_make.h"
#include "spec/server_settings.h"
#include "store/store.h"

#include <sys/queue.h>

struct call;
struct agent_order;

/* An answer that waits until everything decided so far is on disk (P10). The struct lives in its
 * owner. */
struct parked_answer {
    TAILQ_ENTRY(parked_answer) link;
    /* `failure` NULL: everything is on disk. Otherwise nothing that was decided will ever be on
     * disk. */
    void (*fn)(struct parked_answer *hold, const struct error *failure);
    struct parked_list *list; /* the list in which the answer waits; NULL: it does not wait */
};
TAILQ_HEAD(parked_list, parked_answer);

/* A piece of bounded work for another thread. `run` uses nothing but the work itself. */
struct work {
    void (*run)(struct work *work, struct store_reader *reader); /* reader: NULL on a worker */
    void (*done)(struct work *work); /* called on the loop; owns the work */
};

/* Classes of requests. As the server fills, the first class is refused first. */
enum room_class {
    ROOM_SUBMIT,  /* new tasks */
    ROOM_READ,    /* reads */
    ROOM_CONTROL, /* cancels, heartbeats, reports: accepted as long as there is memory */
};

/* Figures that the API shows and only the server knows. */
struct use_table; /* wire/use_table.h */

struct host_numbers {
    uint64_t seq_committed;
    uint64_t commits;
    uint64_t commit_failures;
    uint64_t commit_us_total;
    uint64_t logs_refused; /* pieces of output that the store refused */
    uint64_t facts_waiting;
    uint64_t holds_waiting;
    uint64_t snapshots;
    uint64_t snapshot_seq;
    uint64_t agents_connected;
    uint64_t reports;
    uint64_t passes;     /* passes that changed something */
    uint64_t pass_tries; /* all passes */
    uint64_t connections;
    int64_t started_ms;
};

/* The server's file, as the file is now, and the settings that the server runs with. Everything lives in the arena
 * of the question. */
struct host_config {
    const char *path; /* NULL: the server has no file */
    struct str text;  /* of the file */
    const struct server_file
        *file;           /* NULL: there is none, or `problem` says why it cannot be read */
    const char *problem; /* NULL: none */
    struct server_settings settings; /* where each comes from */
};

struct api_host {
    void *ctx;

    /* The state; NULL while the state is being rebuilt. Valid until the handler returns. */
    const struct core *(*core)(void *ctx);

    int64_t (*now_ms)(void *ctx);

    /* ERR_OK, or ERR_BUSY with the reason why nothing can be changed now. */
    must_use enum err (*writable)(void *ctx, struct error *e);

    /* ERR_OK, or ERR_BUSY: too much waits for the disk. */
    must_use enum err (*room)(void *ctx, enum room_class class, struct error *e);

    /* Decides, and applies the facts when the verdict is VERDICT_OK. Stamps the time. `out` has the
     * facts (in its arena) or the refusal. Call only when writable() says ERR_OK. */
    enum verdict (*input)(void *ctx, struct input *in, struct facts *out);

    /* Stores a token with the next commit. The token is valid from that commit on. */
    void (*token_put)(void *ctx, const struct store_token *token);

    /* Removes an ended task from the history with the next commit, with its attempts and output. */
    void (*forget)(void *ctx, task_id task);

    /* Signs the request of a node for a certificate. Call only on a server with TLS. *ret_renew_ms:
     * after how long the node asks for its next one. node->now_ms and life_ms are the host's. */
    must_use enum err (*node_sign)(void *ctx, const char *request, const struct x509_node *node,
                                   struct arena *arena, const char **ret_pem, int64_t *ret_renew_ms,
                                   struct error *e);

    /* Calls hold->fn when everything decided so far is on disk, which may be at once. */
    void (*hold)(void *ctx, struct parked_answer *hold);
    /* While there is no core: calls hold->fn when there is a core again, or with the reason why
     * there is none yet. */
    void (*await_core)(void *ctx, struct parked_answer *hold);
    /* Removes the hold; allowed for a hold that does not wait. */
    void (*unhold)(void *ctx, struct parked_answer *hold);

    /* Run work on the reader thread (with a connection) or on a worker (with a copy of the core
     * inside the work). False: too much work waits already, and this work stays the caller's. */
    must_use bool (*read)(void *ctx, struct work *work);
    must_use bool (*compute)(void *ctx, struct work *work);

    /* What attempts use now. NULL: the host does not know. */
    const struct use_table *(*uses)(void *ctx);
    void (*numbers)(void *ctx, struct host_numbers *ret);
    void (*config)(void *ctx, struct arena *arena, struct host_config *ret);

    /* An agent's hello and an agent's reports. The host answers the call. The credential was
     * checked: call->name is the node. */
    void (*agent_stream)(void *ctx, struct call *call);
    void (*agent_reports)(void *ctx, struct call *call);

    /* Has this node a connected agent? */
    bool (*agent_connected)(void *ctx, const char *node);

    /* Sends an order that rests on no fact. False: the node has no connected agent. */
    bool (*agent_order)(void *ctx, const char *node, struct agent_order *order);
};
