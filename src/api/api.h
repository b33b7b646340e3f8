/* api.h - the HTTP interface: routes, tokens, handlers, live streams. The server gives the API a
 * host (host.h), hands requests to the API, and tells the API what was committed.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/host.h"
#include "api/token.h"
#include "spec/server_file.h"

struct api;
struct route;

/* The routes of another system's interface (src/compat), under a prefix of their own. */
struct route_mount {
    const char *prefix; /* "/qarnot": begins with a slash and does not end with one */
    const struct route *rows;
    size_t count;
    bool bare_token; /* Authorization may be the token alone, without the word Bearer */
    bool
        gives_up; /* its clients end when a connection breaks: they must not keep one to a server that may be killed */
    /* Writes an error of Weir ({"error":{…}}) in the other system's form, and may change the status. NULL: as it is. */
    unsigned (*error)(unsigned status, const char *method, const char *path, struct str json,
                      struct buf *out);
};

struct route_mounts {
    const struct route_mount *at;
    size_t count;
};

struct api_options {
    const struct api_host *host; /* outlives the API */
    struct tokens *tokens;       /* owned by the server, which alone changes it, after commits */
    struct loop *loop;
    const char
        *listen_host; /* accepted as Host: besides localhost and address literals; NULL: none */
    const struct http_tls *tls;  /* NULL: plain HTTP */
    const char *dir;             /* the server's data directory */
    struct route_mounts mounts;  /* other systems' interfaces (src/compat); none: zeroed */
    bool inherited;              /* a parent keeps the listening socket while no server runs */
    struct server_qarnot qarnot; /* of the server's file; texts may be NULL: the defaults */
};

struct api *api_new(const struct api_options *options);

/* Ends every open answer and connection. Call before the HTTP servers are freed. */
void api_stop(struct api *api);

/* Ends every event stream. No watch may be left. */
void api_free(struct api *api);

/* For http_server_options; `ctx` is the API. */
size_t api_on_head(void *ctx, struct http_request *request);
void api_on_request(void *ctx, struct http_request *request);
void api_on_gone(void *ctx, struct http_request *request);

/* Removes what is too old. Call now and then. */
void api_sweep(struct api *api);

/* These facts, ended tasks and pieces of output are on disk: wakes the requests that wait for
 * them. */
void api_committed(struct api *api, const struct store_batch *batch);
