/* guild_runner.h - starters on this machine.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/guild_session.h"

/* Forks a starter for the run. It outlives this process. */
must_use enum err guild_runner_send(struct guild_session *session, struct guild_entry *entry,
                                    struct error *e);
/* Waits a moment for the starter's first word, so that log lines come in order. True: there is something to read. */
bool guild_runner_await(const struct guild_entry *entry);
void guild_runner_go(struct guild_entry *entry);   /* the run's output may be shown */
void guild_runner_done(struct guild_entry *entry); /* collects the starter */
