/* asker.h - the thread that answers the server's questions (AGENT_ASK) with requests of its own.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/agent_options.h"
#include "agent/inbox.h"

struct ask_thread;

must_use enum err asker_new(const struct agent_options *options, struct ask_thread **ret,
                            struct error *e);

/* Ends the thread. False: the thread did not end in time, and its memory is not freed. */
bool asker_free(struct ask_thread *asker);

/* The server has welcomed the agent at this address. */
void asker_session(struct ask_thread *asker, const char *url, const char *credential);

/* Removes what lies in D/job/.gone, now and then. Call often. */
void asker_sweep(struct ask_thread *asker);

/* Answers the question. A question that comes while too many wait is dropped; its asker times out. */
void asker_take(struct ask_thread *asker, const struct agent_ask *ask);
