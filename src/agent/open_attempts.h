/* open_attempts.h - which attempts of the supervisor have no recorded end, as the spool tells. When
 * the spool passes from one supervisor to the next, the open attempts of the first supervisor are
 * lost. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"

struct open_attempts;

struct open_attempts *open_attempts_new(void);
void open_attempts_free(struct open_attempts *open_attempts);

/* Takes note of a record. Noting the same stretch of the spool again changes nothing. */
void open_attempts_note(struct open_attempts *open_attempts, const struct record *record);

/* Is the record the first of another supervisor? */
bool open_attempts_crosses(const struct open_attempts *open_attempts, const struct record *record);

/* Counts an attempt as open because a start was sent to a supervisor that has died since. The spool
 * may hold no record of the start. */
void open_attempts_doubt(struct open_attempts *open_attempts, const struct attempt_key *key);

/* Takes out one open attempt. False: no attempt is open. */
bool open_attempts_take(struct open_attempts *open_attempts, struct attempt_key *ret);
