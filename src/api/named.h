/* named.h - objects by the names that a request has for them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"

/* The pool or account of this name; NULL: answered 404. `path` says where the name stands in the request ("": in its path). */
const struct pool *named_pool(struct call *call, const char *path, const char *name);
const struct account *named_account(struct call *call, const char *path, enum account_kind kind,
                                    const char *name);
