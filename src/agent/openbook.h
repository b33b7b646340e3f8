/* openbook.h - which attempts of which supervisor have no recorded end, as the spool tells. When the
 * spool passes from one supervisor to the next, what the first left open is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"

struct openbook;

struct openbook *openbook_new(void);
void openbook_free(struct openbook *openbook);

/* Take note of a record. Doing it again for the same stretch of the spool changes nothing. */
void openbook_note(struct openbook *openbook, const struct record *record);

/* Is this the first record of another supervisor than the one before? */
bool openbook_crosses(const struct openbook *openbook, const struct record *record);

/* An order was given to the supervisor, which has died since; its spool may not tell of it. */
void openbook_doubt(struct openbook *openbook, const struct attempt_key *key);

/* Takes out one attempt without an end; false: there are none. */
bool openbook_take(struct openbook *openbook, struct attempt_key *ret);
