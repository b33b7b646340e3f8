/* upkeep.h - keeps what the supervisor needs: its directory, lock, socket, log, spool and job
 * directories. A person, a full disk or a broken disk can take each of them away from a living
 * supervisor. The supervisor looks at them every UPKEEP_MS, and every UPKEEP_IDLE_MS while it has
 * no tasks. The supervisor makes a missing one again. Where that fails, the supervisor says why the
 * node is out of service. SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct supervisor;

enum { UPKEEP_MS = 2000, UPKEEP_IDLE_MS = 10000 };

/* Looks at everything, heals what can be healed, and tells the agent when the trouble changes. */
void upkeep_look(struct supervisor *sup);

/* Looks now, and from now on every UPKEEP_MS. */
void upkeep_begin(struct supervisor *sup);
void upkeep_end(struct supervisor *sup);

/* An attempt could not be started through no fault of its task. The node is out of service for 20 s,
 * then tries again. */
void upkeep_start_failed(struct supervisor *sup, const char *why);

/* A reader found the spool damaged: begins a new segment with everything that is not
 * acknowledged. */
void upkeep_spool_renew(struct supervisor *sup);
