/* attempt.h - one attempt from its start to its end. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/supervisor_internal.h"

/* Is the key new? What is to be started is recorded as accepted before. */
bool attempt_is_new(const struct supervisor *sup, const struct attempt_key *key);

/* Starts it, unless its key is known; the outcome is in the spool. */
void attempt_start(struct supervisor *sup, const struct start_order *order);

/* The start of an attempt is done, for better or worse. True: to be tried without its cgroup. */
bool attempt_started(struct spawn_job *job);

/* SIGTERM now and SIGKILL after the grace time; grace 0: SIGKILL now. Again: the shorter holds. */
void attempt_stop(struct attempt *attempt, int64_t grace_ms);

/* Its first process has ended (wait status and use); the group it leads is ended with it. */
void attempt_leader_ended(struct attempt *attempt, int status, const struct rusage *use);

/* All its processes are gone: take what is left in its pipes and record the end. False: the spool
 * cannot be written just now; call again. */
must_use bool attempt_finish(struct attempt *attempt);

/* The server has everything before `at`: forget what ended before. */
void attempt_forget(struct supervisor *sup, struct spool_position at);

/* Watch all pipes, or none. */
void attempt_pause(struct supervisor *sup, bool paused);

void attempt_free(struct attempt *attempt);
