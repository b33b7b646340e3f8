/* attempt_record.h - puts the records of an attempt into the spool. Private to the supervisor.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"

struct attempt;
struct supervisor;

/* A record of this type about the attempt, of this moment. */
struct record attempt_record_of(const struct attempt *attempt, enum record_kind type);

void attempt_record_started(const struct attempt *attempt);
void attempt_record_ended(const struct attempt *attempt);
void attempt_record_spawn_failed(const struct attempt *attempt, const char *message);
void attempt_record_lost(const struct attempt *attempt);

/* Records the state of every attempt again, because records that are not acknowledged were lost. */
void attempt_record_again(struct supervisor *sup);
