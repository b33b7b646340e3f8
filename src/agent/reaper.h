/* reaper.h - children that ended, and strays. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* The first process of an attempt was reaped: what it left behind is ended next. */
void reaper_leader_ended(struct supervisor *sup, struct attempt *attempt, int status,
                         const struct rusage *use);

/* SIGCHLD: reap whoever ended, then look for strays of closing attempts. */
void reaper_run(struct supervisor *sup);
