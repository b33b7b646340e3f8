/* session.h - the agent's side of the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_internal.h"

void session_begin(struct agent *agent);
void session_end(struct agent *agent);

/* The supervisor has said what it has: say hello. */
void session_listed(struct agent *agent);

/* A message of one of the threads. */
void session_take(struct agent *agent, struct inbox_message *message);

/* Drop the connection and say hello anew at once. */
void session_restart(struct agent *agent);
