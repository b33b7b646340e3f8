/* time_text.h - times as text: RFC 3339, UTC, milliseconds: 2026-11-15T12:00:00.000Z.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { TIME_TEXT_MAX = 32 };

/* Writes milliseconds since 1970 into `out` of TIME_TEXT_MAX bytes. A time outside the years
 * 1970 to 9999 becomes the nearest time inside. */
void time_text(int64_t ms, char *out);

/* Parses RFC 3339 with `Z` or an offset; the fraction is optional. False: the text is malformed
 * or before 1970. */
bool time_text_parse(struct str text, int64_t *ret_ms);
