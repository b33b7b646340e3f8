/* qarnot_handlers.h - every handler that routes.def names.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

#define ROUTE(method, pattern, permission, whose, body, room, audited, handler, query)             \
    void handler(struct call *call);
#include "compat/qarnot/routes.def"
#undef ROUTE
