/* kill.h - many tasks told to end by few calls. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/api.h"

enum { KILL_IDS_MAX = 1000 }; /* of one call */

/* Calls POST /tasks/kill with 1 to KILL_IDS_MAX ids. `tasks` of `ret->doc` has an entry for each
 * id. */
must_use enum err kill_call(struct cli *cli, struct arena *arena, const uint64_t *ids, size_t count,
                            struct api_reply *ret, struct error *e);

/* Kills all these tasks, with progress on a terminal. Says which tasks had ended already or do
 * not exist. The exit status is that of the first task that could not be killed. */
int kill_many(struct cli *cli, const uint64_t *ids, size_t count);

/* --dry-run of kill_many(). Returns the exit status. */
int kill_dry(struct cli *cli, const uint64_t *ids, size_t count);

/* Says on standard error which tasks a kill of these would stop, end and start, for the first KILL_IDS_MAX tasks. */
void kill_say(struct cli *cli, const uint64_t *ids, size_t count);
