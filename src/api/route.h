/* route.h - routes.def is the only table of routes. A path without a row is no route.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/access.h"
#include "api/call.h"

enum route_permission {
    PERMIT_NONE,   /* no token needed: health only */
    PERMIT_ASSET,  /* no token needed: files of the program, the same for everybody (asset.h) */
    PERMIT_READ,   /* admin and read tokens */
    PERMIT_SIGNIN, /* admin and read tokens, for the caller's own session alone */
    PERMIT_WRITE,  /* admin tokens (every user's, until there are roles) */
    PERMIT_ADMIN,  /* admin tokens */
    PERMIT_NODE,   /* a node's credential, for that node only */
    PERMIT_JOIN,   /* a join token */
};

struct route {
    const char *method;
    const char *pattern; /* for example "/api/v1/tasks/{id}/kill" */
    enum route_permission permission;
    enum access_whose whose; /* asked before the handler runs, in call_run() */
    size_t body_max;         /* bytes; 0: takes no body */
    enum room_class room;
    bool audited; /* every call leaves a line in the log, with its actor and its outcome */
    void (*handler)(struct call *call);
    const char *query; /* names of the query parameters, with a space between */
    size_t pattern_len;
};

/* One row of a .def file; the file that includes the .def says `#define ROUTE ROUTE_ROW` before. */
#define ROUTE_ROW(method, pattern, permission, whose, body, room, audited, handler, query)         \
    {#method, pattern, PERMIT_##permission, ACCESS_##whose, body, ROOM_##room, audited,            \
     handler, query,   sizeof(pattern) - 1},

extern const struct route routes[];
extern const size_t routes_count;

/* The row for a method and path; params are filled (in `arena`). A path below a mount's prefix is
 * looked for in that mount's rows alone, without the prefix. NULL: there is none; *ret_allow then
 * lists the methods that the path does have (405), NULL when the path is unknown (404). */
const struct route *route_find(const struct route_mounts *mounts, const char *method,
                               const char *path, struct arena *arena, const char **params,
                               const char **ret_allow);

/* The table that a path belongs to: that of the prefix it begins with, else the server's own (prefix ""). */
struct route_mount route_mount_of(const struct route_mounts *mounts, const char *path);

/* Is `parameter` one of the route's query parameters? */
bool route_takes(const struct route *route, const char *parameter);

/* Is it called without a token? */
bool route_is_open(const struct route *route);

bool route_permits(enum route_permission permission, enum token_scope scope);
