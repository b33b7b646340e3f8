/* guild_look.h - which runs are staged, and which of them may start.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/guild_session.h"

/* Looks at the home. New runs become QUEUED or LEFT; runs that are gone are dropped. */
void guild_look_scan(struct guild_session *session);
/* Leaves a run staged and says why, once for each reason. */
void guild_look_leave(struct guild_session *session, struct guild_entry *entry, bool warn,
                      const char *why);
