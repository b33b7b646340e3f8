/* guild_runner.h - starters on this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/guild_session.h"

/* Forks a starter for the run. It outlives this process. */
must_use enum err guild_runner_send(struct guild_session *session, struct guild_entry *entry,
                                    struct error *e);

/* Waits a moment for the starter's first word, so that log lines come in order. True: there is something to read. */
bool guild_runner_await(const struct guild_entry *entry);

/* Shows what the run has written; guild_runner_rest() shows all that is there. */
void guild_runner_output(struct guild_entry *entry, int stream);
void guild_runner_rest(struct guild_entry *entry);

void guild_runner_done(struct guild_entry *entry); /* collects the starter */
