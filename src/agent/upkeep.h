/* upkeep.h - what the supervisor stands on: its directory, lock, socket, log, spool and job
 * directories. A person, a full disk or a broken disk can take each of them away under a living
 * supervisor. The supervisor looks at them every UPKEEP_MS, and every UPKEEP_IDLE_MS while it has no
 * tasks; it makes anew what is gone, and else says why the node is out of service. SPDX-License-Identifier: Apache-2.0 */
#pragma once

struct supervisor;

enum { UPKEEP_MS = 2000, UPKEEP_IDLE_MS = 10000 };

/* Looks at everything, heals what can be healed, and tells the agent when the trouble changes. */
void upkeep_look(struct supervisor *sup);

/* Looks now and again and again from now on. */
void upkeep_begin(struct supervisor *sup);
void upkeep_end(struct supervisor *sup);

/* An attempt could not be started through no fault of its task. The node is out of service for 20 s,
 * then tries again. */
void upkeep_start_failed(struct supervisor *sup, const char *why);

/* A reader found the spool damaged: begins a new segment with everything that is not
 * acknowledged. */
void upkeep_spool_renew(struct supervisor *sup);
