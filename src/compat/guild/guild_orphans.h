/* guild_orphans.h - runs that a queue of Guild has taken and, killed, has never started. They are pending for ever, because nothing in
 * Guild makes a pending run staged again.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "compat/guild/guild_home.h"

/* A run is pending for a moment whenever Guild itself starts it. */
enum { GUILD_ORPHAN_AGE_S = 60 };

/* The runs that were staged, are pending for GUILD_ORPHAN_AGE_S, and have no process. None while a queue or a scheduler of Guild runs on
 * the home: such runs may be its own. */
must_use enum err guild_orphans_find(const char *home, struct arena *arena, struct guild_ids *ret,
                                     struct error *e);

/* Makes them staged again, under Guild's lock, and returns which. */
must_use enum err guild_orphans_restage(const char *home, struct arena *arena,
                                        struct guild_ids *ret, struct error *e);
