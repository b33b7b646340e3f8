/* attempt_key.h - attempt keys as text: task 12, instance 0, attempt 1 is `12.0:1`.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"
#include "core/model/ids.h"

enum { ATTEMPT_KEY_TEXT_MAX = 48 };

/* Writes the NUL-terminated text into `out` of ATTEMPT_KEY_TEXT_MAX bytes. Returns its length. */
size_t attempt_key_text(struct attempt_key key, char *out);

/* Parses exactly the form that attempt_key_text() writes. False: the text has another form; *ret
 * is unchanged. */
bool attempt_key_parse(struct str text, struct attempt_key *ret);
