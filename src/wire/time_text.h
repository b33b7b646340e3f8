/* time_text.h - times as the API writes them: RFC 3339, UTC, milliseconds:
 * 2026-11-15T12:00:00.000Z.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/json_out.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIME_TEXT_MAX = 32 };

/* Milliseconds since 1970 to text; times outside the years 1970 to 9999 are moved to the nearer
 * end. `out` has TIME_TEXT_MAX. */
void time_text(int64_t ms, char *out);

/* RFC 3339 with `Z` or an offset, fraction optional. False: it is none, or before 1970. */
bool time_text_parse(struct str text, int64_t *ret_ms);

/* The time as a JSON string; 0 is written as null. */
void time_text_json(struct json_out *j, const char *key, int64_t ms);
