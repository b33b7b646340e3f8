/* guild_remote.h - a running Weir: each run becomes a task there, whose command is `weir guild start`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/guild_session.h"

/* Finds the running Weir by the usual login. NULL: there is none, or the user wants none. ERR_…: there is one, and it cannot be used. */
must_use enum err guild_remote_open(struct guild_session *session, struct guild_remote **ret,
                                    struct error *e);
void guild_remote_free(struct guild_remote *remote);

/* The address, for people. */
const char *guild_remote_url(const struct guild_session *session);

/* True when a node of the pool has a resource of this name. `remote` may be NULL. */
bool guild_remote_has(const struct guild_remote *remote, const char *name);

/* The part of a run's needs that this command's own scheduler counts: all, or with a running Weir those that the flag `resources` names. */
struct guild_needs guild_remote_needs(const struct guild_session *session,
                                      const struct guild_needs *needs);

/* Submits the task of a run. */
must_use enum err guild_remote_send(struct guild_session *session, struct guild_entry *entry,
                                    struct error *e);

/* Asks for the tasks of all runs under way, and shows what the runs have written. */
void guild_remote_look(struct guild_session *session);

/* Kills tasks that wait and have not begun their run. */
void guild_remote_withdraw(struct guild_session *session);
