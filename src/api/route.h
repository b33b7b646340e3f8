/* route.h - routes.def is the only table of routes. A path without a row is no route.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

enum route_permission {
    PERMIT_NONE,  /* needs no token: health only */
    PERMIT_READ,  /* needs an admin or read token */
    PERMIT_WRITE, /* needs an admin token (that of any user, until there are roles) */
    PERMIT_ADMIN, /* needs an admin token */
    PERMIT_NODE,  /* needs a node's credential, and acts for that node only */
    PERMIT_JOIN,  /* needs a join token */
};

struct route {
    const char *method;
    const char *pattern; /* for example "/api/v1/tasks/{id}/kill" */
    enum route_permission permission;
    size_t body_max; /* bytes; 0: the route takes no body */
    enum room_class room;
    bool audited; /* every call leaves a line in the log, with its actor and its outcome */
    void (*handler)(struct call *call);
    const char *query; /* names of the query parameters, with a space between */
};

extern const struct route routes[];
extern const size_t routes_count;

/* The row for a method and path; params are filled (in `arena`). NULL: there is no such row. Then
 * *ret_allow lists the other methods of the path (405), or is NULL when the path is unknown. */
const struct route *route_find(const char *method, const char *path, struct arena *arena,
                               const char **params, const char **ret_allow);

/* Is `parameter` one of the route's query parameters? */
bool route_takes(const struct route *route, const char *parameter);

bool route_permits(enum route_permission permission, enum token_scope scope);
