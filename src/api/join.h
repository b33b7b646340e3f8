/* join.h - may this machine become this node with this join token?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/call.h"
#include "api/token.h"
#include "wire/agent.h"

enum {
    JOIN_USES_DEFAULT = 1,
    JOIN_USES_MAX = 100000,
    JOIN_EXPIRES_MS = 60 * 60 * 1000,
};

/* Limits a new join token to the pool and to this number of joins (0: the default). */
void join_limit(struct store_token *token, const char *pool, int64_t uses);

/* The rules, in this order:
 *   - the token in the server's own directory (uses 0), which only the server's own account can read,
 *     works for any pool and name, from this machine only;
 *   - any other token works for its pool, `uses` times, and, where it names a node, for that node;
 *   - a used-up token works again for the same machine and node, whose answer may have been lost;
 *   - a name that another machine has is given only to a token that names the node (`weir node rejoin`).
 * Returns the token as it is after the join, in *ret. False: the call is answered. */
must_use bool join_allowed(struct call *call, const struct agent_join *join,
                           struct store_token *ret);
