/* sim_text.h - numbers as people read them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

enum { SIM_TEXT_MAX = 48 };

/* "250ms", "12.3s", "3m12s", "5h07m", "2d03h": three or four digits that matter, the last one
 * rounded. `out` has SIM_TEXT_MAX, as below. */
const char *sim_text_span(int64_t ms, char *out);

/* "1,234,567" */
const char *sim_text_count(uint64_t count, char *out);

/* `part` of `whole` in percent with two places: "12.34". */
const char *sim_text_percent(int64_t part, int64_t whole, char *out);

/* Thousandths with one place: "12.3". */
const char *sim_text_milli(int64_t milli, char *out);
