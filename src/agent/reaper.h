/* reaper.h - ended children, and strays. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* The first process of an attempt was reaped. Ends the processes that it left behind. */
void reaper_leader_ended(struct supervisor *sup, struct attempt *attempt, int status,
                         const struct rusage *use);

/* Call on SIGCHLD: reaps the ended children, then looks for strays of closing attempts. */
void reaper_run(struct supervisor *sup);
