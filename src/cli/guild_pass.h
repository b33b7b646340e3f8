/* guild_pass.h - what starts now, and what becomes of it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/guild_session.h"
#include "compat/guild/guild_start.h"

void guild_pass_run(struct guild_session *session);
/* Reads what a starter tells. */
void guild_pass_told(struct guild_session *session, struct guild_entry *entry);
/* True while a run waits for the scheduler, or runs. */
bool guild_pass_busy(const struct guild_session *session);

/* What a starter told, wherever the starter works. */
void guild_pass_step(struct guild_session *session, struct guild_entry *entry,
                     const struct guild_told *told);
