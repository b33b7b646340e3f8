/* handlers.h - declares every handler of routes.def, from the table itself.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct call;

#define ROUTE(method, pattern, permission, whose, body, room, audited, handler, query)             \
    void handler(struct call *call);
#include "api/routes.def"
#undef ROUTE
