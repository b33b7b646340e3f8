/* http_internal.h - the structs that the files of the HTTP server share: the server, its requests
 * and streams. "The library" is libmicrohttpd.
 *
 * The phases of a request:
 *
 *   READING ─▶ HANDLING ─┬─▶ ANSWERED ─▶ freed        (the library completed it)
 *      │          │      ├─▶ STREAMING ─▶ ENDED ─▶ freed
 *      │          └─▶ PARKED ─┴──────────▶ (resumed with its answer)
 *      └─▶ ANSWERED (refused at the head)
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "io/http_server.h"
#include "io/http_stream.h"
#include "io/http_upgrade.h"
#include "io/http_url.h"

#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/queue.h>

enum http_phase {
    HTTP_READING,
    HTTP_HANDLING,
    HTTP_PARKED,
    HTTP_ANSWERED,
    HTTP_STREAMING,
    HTTP_ENDED,
    HTTP_UPGRADED, /* answered 101; see http_upgrade.c */
};

struct http_answer_field {
    struct http_answer_field *next;
    const char *name;
    const char *value;
};

struct http_stream {
    struct buf out;
    size_t out_sent; /* bytes of `out` that the library has taken */
    void (*on_gone)(void *ctx);
    http_source_fn source; /* NULL: none */
    http_piece_fn pieces;  /* NULL: none */
    void *ctx;
    bool head_pushed;
    bool piece_kept;         /* the descriptor of `piece` is our own */
    struct http_piece piece; /* what the socket has not taken yet; its length is 0: nothing */
    int64_t piece_ms;        /* when the socket took something of it */
};

struct http_address;
TAILQ_HEAD(http_conn_list, http_conn);

struct http_conn {
    struct http_conn *next; /* in the server's list of connections */
    struct http_conn *prev;
    struct http_server *server;
    int fd;
    struct http_node_cert node;
    bool peer_read;               /* `node` says what the client's certificate is */
    struct http_request *request; /* the request in progress, or NULL */
    bool half_closed; /* the last sweep saw the client's end, with no request to answer */
    /* Of http_guard.c: */
    struct http_address *address; /* NULL: this machine, which has no limit of its own */
    TAILQ_ENTRY(http_conn) idle_link;
    TAILQ_ENTRY(http_conn) address_link;
    int64_t since_ms; /* when the connection, its head, its body or its idle time began */
    uint64_t bytes;   /* received when the last sweep looked */
    bool bytes_known;
    bool idle;       /* in the lists of connections whose next head is not in */
    bool used;       /* had a request before */
    bool head_begun; /* a part of the next head has arrived */
    bool ending;     /* given up; the library has not closed the connection yet */
};

struct http_request {
    struct http_server *server;
    struct http_conn *conn;
    struct MHD_Connection *connection;
    struct http_request *next; /* in the server's list of live requests, or its list of spares */
    struct http_request *prev;
    struct loop_fd *watch; /* of a stream: tells when the client leaves */
    enum http_phase phase;
    bool head_seen;
    bool plain;     /* HTTP/1.0: a stream goes out without chunks and ends by closing */
    bool body_over; /* the body is longer than the route takes: read to the end, then refused */
    bool waited; /* the library has called once without getting an answer; see access_complete() */
    bool suspended; /* the library leaves the connection alone */
    bool complete;  /* the body is in */
    bool lost;      /* the client has left; the connection is to be closed */
    struct arena arena;
    const char *method;
    const char *target; /* the request's target, not decoded */
    struct http_url url;
    struct buf body;
    size_t body_discarded;
    void *data;
    char peer[INET6_ADDRSTRLEN];
    struct http_answer_field *fields;
    unsigned status;
    struct MHD_Response *response; /* made, and not yet queued */
    struct http_stream stream;
    http_upgraded_fn upgraded; /* NULL: none, or called already */
    void *upgraded_ctx;
};

struct http_server {
    struct http_server_options options;
    struct MHD_Daemon *daemon;
    struct loop_fd *watch;
    struct loop_timer *timer; /* due at the library's next time-out */
    int64_t timer_at_ms;
    struct loop_timer *sweep;
    struct http_conn *conns;
    VEC(struct pollfd) polls; /* used by http_conn_sweep() */
    uint16_t port;
    bool local; /* listens on a file */
    unsigned connections;
    unsigned ending; /* of them given up and not closed yet */
    uint64_t given_up;
    uint64_t given_up_told;
    struct http_conn_list idle; /* oldest first */
    struct map *addresses;      /* bytes of the address -> struct http_address */
    /* A connection ended while there were as many as allowed. The library must run once more, because
     * it listens again only at the beginning of a run. */
    bool room;
    bool resumed; /* a request was resumed since the library last ran */
    bool closing;
    uint64_t calls;    /* calls of handlers so far */
    unsigned upgrades; /* connections that left HTTP and were not ended */
    struct http_request *live;
    struct http_request *spares;
    size_t spare_count;
};

/* Makes a request for this target and adds it to the live list. */
struct http_request *http_request_new(struct http_server *server, const char *target);

/* Removes the request from the live list. The request is kept as a spare or freed. */
void http_request_drop(struct http_request *request);

void http_request_spares_free(struct http_server *server);

/* Answers with an error in the API's form. Ends the request like http_request_answer(). */
void http_request_refuse(struct http_request *request, unsigned status, enum err code,
                         const char *message);

/* Lets the library look at the connection again, before the loop waits. */
void http_server_resume(struct http_request *request);

/* Ends a request that the library has no more use for: the request is answered, or its client is
 * gone, which its owner is told. The request is freed. */
void http_server_completed(struct http_request *request);

/* Watches the socket of a stream, to notice when the client leaves. */
void http_conn_watch(struct http_request *request);

/* The library calls this when a connection begins or ends. */
void http_conn_notify(void *cls, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode what);

/* Looks at all connections for clients that left without the library noticing. */
void http_conn_sweep(void *ctx);

/* http_upgrade.c: the client of an upgrade left before the answer was out. */
void http_upgrade_lost(struct http_request *request);

/* http_listen.c: makes the listening socket of the options. */
must_use enum err http_listen(const struct http_server_options *options, int *ret_fd,
                              uint16_t *ret_port, struct error *e);

/* http_tls.c: gives GnuTLS the certificate for a handshake; and the authority of the nodes, as PEM. */
gnutls_certificate_retrieve_function3 http_tls_retrieve;
const char *http_tls_nodes_pem(const struct http_tls *tls);

/* http_guard.c: the limits of time and number. */

/* How many connections this process can serve with its limit of open files, at most `wanted`; and how
 * many more the library may accept, which are told that there are too many. */
unsigned http_guard_max(unsigned wanted);
unsigned http_guard_extra(unsigned connections_max);

/* A connection begins, has got the head of a request, is done with a request, ends. */
void http_guard_enter(struct http_server *server, struct http_conn *conn,
                      const struct sockaddr *peer);
void http_guard_busy(struct http_conn *conn);
void http_guard_idle(struct http_server *server, struct http_conn *conn);
void http_guard_leave(struct http_server *server, struct http_conn *conn);

/* True: there are more connections than one of the limits allows. */
bool http_guard_over(const struct http_server *server, const struct http_conn *conn);

/* Called for each connection once a second: gives up a connection whose head or body is too slow. */
void http_guard_look(struct http_server *server, struct http_conn *conn);

/* Tells the owner of the server how many connections were given up since the last call. */
void http_guard_told(struct http_server *server);

/* Takes `response`, with the extra headers, as the request's answer. Wakes a parked request. */
void http_request_respond(struct http_request *request, unsigned status, const char *content_type,
                          struct MHD_Response *response);
