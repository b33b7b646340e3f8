/* guild_look.h - which runs are staged, and which of them may start.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/guild_session.h"
#include "compat/guild/guild_start.h"

/* Looks at the home. New runs become QUEUED or LEFT; runs that are gone are dropped. */
void guild_look_scan(struct guild_session *session);
/* Leaves a run staged and says why, once for each reason. */
void guild_look_leave(struct guild_entry *entry, bool warn, const char *why);
/* Leaves a run staged whose starter failed. It is tried again later where this may help. */
void guild_look_failed(struct guild_session *session, struct guild_entry *entry,
                       const struct guild_told *told);
/* Leaves a run staged that other runs (`names`) keep from starting. */
void guild_look_wait(struct guild_entry *entry, const char *names);
/* Names the runs that a killed queue of Guild has left pending, or makes them staged again where the flag says so. */
void guild_look_orphans(const struct guild_session *session);
void guild_look_free(struct guild_entry *entry);
