/* route.h - the one table of what can be called: routes.def. No row, no route.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

enum route_permission {
    PERMIT_NONE,  /* no token needed: health only */
    PERMIT_READ,  /* admin and read tokens */
    PERMIT_WRITE, /* admin tokens (every user's, until there are roles) */
    PERMIT_ADMIN, /* admin tokens */
    PERMIT_NODE,  /* a node's credential, for that node only */
    PERMIT_JOIN,  /* a join token */
};

struct route {
    const char *method;
    const char *pattern; /* "/api/v1/tasks/{id}/kill" */
    enum route_permission permission;
    size_t body_max; /* bytes; 0: takes no body */
    enum room_class room;
    bool audited; /* a line in the log for every call, with who and what came of it */
    void (*handler)(struct call *call);
    const char *query; /* the names of the query parameters it takes, with a space between */
};

extern const struct route routes[];
extern const size_t routes_count;

/* The row for a method and path; params are filled (in `arena`). NULL: none; *ret_path_known says
 * whether the path has another method (405), and ret_allow then lists those. */
const struct route *route_find(const char *method, const char *path, struct arena *arena,
                               const char **params, const char **ret_allow);

/* Is it one of the route's query parameters? */
bool route_takes(const struct route *route, const char *parameter);

bool route_permits(enum route_permission permission, enum token_scope scope);
