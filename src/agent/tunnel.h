/* tunnel.h - connections that the agent opens because the server asked for them (order "tunnel"): one
 * thread for each, between the connection and a program or port of an attempt.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "wire/agent.h"

struct tunnel_server {
    char *url; /* of the server that welcomed us; NULL: none */
    char *credential;
};

/* Where tunnels lead from now on; both are copied. NULL: nowhere. */
void tunnel_session(struct tunnel_server *tunnels, const char *url, const char *credential);

/* Opens the tunnel on a thread of its own. A failure is told to the server, which tells the client. */
void tunnel_open(const struct tunnel_server *tunnels, const struct agent_options *options,
                 const struct agent_tunnel *order);
