/* tunnel.h - a connection that a node opens because the server asked for it. The connection carries the
 * bytes of a process or a port of an attempt (docs/dev/formats/agent-protocol.md, "Tunnels").
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"
#include "core/core.h"
#include "wire/agent.h"

struct api;
struct tunnels;
struct tunnel;

struct tunnels *tunnel_list_new(struct api *api);
void tunnel_list_free(struct tunnels *tunnels);

/* Closes every tunnel, and tells the owners of tunnels that are not open yet. No tunnel is made any
 * more. */
void tunnel_list_stop(struct tunnels *tunnels);

/* Called once. `failure` NULL: the tunnel is open. Else the tunnel is gone already. */
typedef void (*tunnel_fn)(void *ctx, const struct error *failure);

/* Finds the attempt of an instance that runs now, and its node. `index` -1: the lowest one that runs.
 * ERR_NOT_FOUND, ERR_CONFLICT: why nothing can be reached there. */
must_use enum err tunnel_target(const struct core *core, task_id task, int64_t index,
                                struct attempt_key *ret_key, node_id *ret_node, struct error *e);

/* Asks the node for a tunnel; order->id is filled in. fn is called later, never inside this call. The
 * owner frees the tunnel with tunnel_close(), which may be called before fn and then replaces fn. */
must_use enum err tunnel_ask(struct api *api, node_id node, struct agent_tunnel *order,
                             tunnel_fn fn, void *ctx, struct tunnel **ret, struct error *e);
void tunnel_close(struct tunnel *tunnel); /* NULL is allowed */

/* Of an open tunnel: its descriptor, and bytes that came already. */
int tunnel_fd(const struct tunnel *tunnel);
struct str tunnel_early(const struct tunnel *tunnel);
