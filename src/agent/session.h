/* session.h - the agent's side of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_internal.h"

void session_begin(struct agent *agent);
void session_end(struct agent *agent);

/* The supervisor has listed its attempts: says hello to the server. */
void session_listed(struct agent *agent);

/* Handles one message of the stream or reporter thread. Frees the message. */
void session_take(struct agent *agent, struct inbox_message *message);

/* Drops the connection, if there is one, and says hello anew after a short wait at most. */
void session_restart(struct agent *agent);

/* Call when the reason why the node is out of service may have changed. Logs the change and says it in a
 * new hello. */
void session_trouble(struct agent *agent);

/* Tells the server which devices of the node are out of service. Call when that has changed. */
void session_devices(struct agent *agent);
