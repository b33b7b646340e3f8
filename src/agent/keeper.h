/* keeper.h - the agent's side of the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_internal.h"

/* Connects to the supervisor that serves the directory, or starts a supervisor. */
must_use enum err keeper_begin(struct agent *agent, struct error *e);
void keeper_end(struct agent *agent);

/* Does the agent still speak in the name of a dead supervisor? */
bool keeper_closing(const struct agent *agent);

/* The spool goes on with this supervisor: the agent speaks in its name from now on. */
void keeper_crossed(struct agent *agent, const unsigned char *id);

/* Passes an order on to the supervisor. While the part of a dead supervisor is reported, starts are
 * dropped: the next hello, in the living supervisor's name, makes the server decide anew. */
void keeper_start(struct agent *agent, const struct agent_start *start);
void keeper_stop(struct agent *agent, const struct attempt_key *key, int64_t grace_ms);
void keeper_ack(struct agent *agent, struct spool_position at);

/* Asks the supervisor for its attempts. The answer leads to session_listed(), or to the stop of all
 * attempts. */
/* The spool is damaged: asks the supervisor for a new segment. */
void keeper_renew(struct agent *agent);

/* Tells the supervisor that the agent ends. Waits a moment for a supervisor that ends too. */
void keeper_bye(struct agent *agent);

void keeper_list(struct agent *agent, enum listing why);

/* Sends what was gathered in this loop turn. */
void keeper_flush(struct agent *agent);
