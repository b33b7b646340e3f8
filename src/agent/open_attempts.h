/* open_attempts.h - which attempts of which supervisor have no recorded end, as the spool tells. When the
 * spool passes from one supervisor to the next, what the first left open is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"

struct open_attempts;

struct open_attempts *open_attempts_new(void);
void open_attempts_free(struct open_attempts *open_attempts);

/* Take note of a record. Doing it again for the same stretch of the spool changes nothing. */
void open_attempts_note(struct open_attempts *open_attempts, const struct record *record);

/* Is this the first record of another supervisor than the one before? */
bool open_attempts_crosses(const struct open_attempts *open_attempts, const struct record *record);

/* An order was given to the supervisor, which has died since; its spool may not tell of it. */
void open_attempts_doubt(struct open_attempts *open_attempts, const struct attempt_key *key);

/* Takes out one attempt without an end; false: there are none. */
bool open_attempts_take(struct open_attempts *open_attempts, struct attempt_key *ret);
