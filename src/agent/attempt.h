/* attempt.h - one attempt from its start to its end. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Is the key new? Before a new key is started, the spool must hold its record `accepted`. */
bool attempt_is_new(const struct supervisor *sup, const struct attempt_key *key);

/* Starts the attempt unless its key is known. The spool gets the outcome. */
void attempt_start(struct supervisor *sup, const struct start_order *order);

/* The spawner calls this when a start is done or has failed. True: try the start again without a
 * cgroup. */
bool attempt_started(struct spawn_job *job);

/* Sends SIGTERM now and SIGKILL after the grace time; with grace 0 sends SIGKILL now. A second call
 * can only bring the SIGKILL forward. */
void attempt_stop(struct attempt *attempt, int64_t grace_ms);

/* The attempt's first process has ended with this wait status and resource use. Ends the process
 * group that the first process led. */
void attempt_leader_ended(struct attempt *attempt, int status, const struct rusage *use);

/* Takes the output left in the pipes and records the end. All processes of the attempt must have
 * ended. False: the spool cannot be written now, or it is not known yet whether the node itself is
 * ending. After false the caller calls again later. */
must_use bool attempt_finish(struct attempt *attempt);

/* The server has every record before `at`: forgets the attempts whose end lies before `at`. */
void attempt_forget(struct supervisor *sup, struct spool_position at);

/* Stops reading the pipes of all attempts, or reads them again. */
void attempt_pause(struct supervisor *sup, bool paused);

void attempt_free(struct attempt *attempt);
