/* access.h - whose object a request is about, and which principals reach that object.
 *
 * A route's permission says what kind of token may call the route. This file says about which
 * objects: each row of routes.def names whose object the row is about, and call_run() asks here
 * before the handler runs. A principal is whoever holds the token.
 *
 *   reach        the principal reaches                              who, today
 *   nobody       only what belongs to nobody: health, the pages     a caller without a token
 *   own          also its own objects                               nodes, joining nodes
 *   project      also the objects of its project                    nobody: roles are to come
 *   department   also the objects of its department's projects      nobody: roles are to come
 *   server       everything                                         every user's token
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/token.h"
#include "core/core.h"

enum access_whose {
    ACCESS_NOBODY,     /* it says nothing about anybody */
    ACCESS_OWN,        /* a user's: a task; without a parameter in the path: the caller itself */
    ACCESS_PROJECT,    /* a project's: the project, its quotas, what is submitted to it */
    ACCESS_DEPARTMENT, /* a department's: the department */
    ACCESS_SERVER,     /* everybody's: pools, nodes, tokens, and every list over all projects */
};

/* A text that is NULL or "" is not known; nothing is equal to it. */
struct access_principal {
    enum access_whose reach;
    const char *user;
    const char *project;
    const char *department;
};

struct access_object {
    enum access_whose whose;
    const char *user;
    const char *project;
    const char *department;
};

/* The principal behind a token. `name` is borrowed. */
struct access_principal access_principal_of(enum token_scope scope, const char *name);

/* The object that a row (`whose`) and its path's parameter (NULL: none) are about. An object that is
 * not in the state (absent, or in the history), or that only the body names, has no owner: then
 * only a principal who reaches the whole server reaches the object. Texts live as long as the core. */
struct access_object access_object_of(const struct core *core, enum access_whose whose,
                                      const char *param, const struct access_principal *principal);

/* May the principal touch the object? */
bool access_reaches(const struct access_principal *principal, const struct access_object *object);
