/* named.h - finds objects by the names in a request. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "wire/reason_names.h"

/* The node, pool, flavor or account of this name. NULL: the call was answered with 404 and the nearest name
 * that there is. `path` says where the name stands in the request ("": in the request's path). */
const struct node *named_node(struct call *call, const char *path, const char *name);
const struct pool *named_pool(struct call *call, const char *path, const char *name);
const struct account *named_account(struct call *call, const char *path, enum account_kind kind,
                                    const char *name);
const struct flavor *named_flavor(struct call *call, const char *path, const char *name);
const struct network *named_network(struct call *call, const char *path, const char *name);
