/* keeper.h - the agent's side of the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_internal.h"

/* Connects to the supervisor that is there, or starts one. */
must_use enum err keeper_begin(struct agent *agent, struct error *e);
void keeper_end(struct agent *agent);

/* Do we still speak in the name of a supervisor that is gone? */
bool keeper_closing(const struct agent *agent);

/* The spool goes on with this supervisor: speak in its name. */
void keeper_crossed(struct agent *agent, const unsigned char *id);

/* Pass on to the supervisor. While a dead one's part of the spool is told, starts are dropped: the
 * hello in the living one's name makes the server think again. */
void keeper_start(struct agent *agent, const struct agent_start *start);
void keeper_stop(struct agent *agent, const struct attempt_key *key, int64_t grace_ms);
void keeper_ack(struct agent *agent, struct spool_position at);

/* Ask for its attempts; session_listed() or the stop of all of them follows. */
void keeper_list(struct agent *agent, enum listing why);

/* What was gathered in this turn goes out. */
void keeper_flush(struct agent *agent);
