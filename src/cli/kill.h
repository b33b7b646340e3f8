/* kill.h - many tasks told to end by few calls. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/api.h"

enum { KILL_IDS_MAX = 1000 }; /* of one call */

/* POST /tasks/kill: `ret->doc` has `tasks`, one for each of the 1 to KILL_IDS_MAX ids. */
must_use enum err kill_call(struct cli *cli, struct arena *arena, const uint64_t *ids, size_t count,
                            struct api_reply *ret, struct error *e);

/* Kills them all, with progress on a terminal; says which had ended or never were. The exit status:
 * that of the first which could not be killed. */
int kill_many(struct cli *cli, const uint64_t *ids, size_t count);
