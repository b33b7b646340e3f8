/* sim_text.h - numbers as texts for people.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

enum { SIM_TEXT_MAX = 48 };

/* Writes "250ms", "12.3s", "3m12s", "5h07m" or "2d03h": three or four significant digits,
 * rounded. `out` has SIM_TEXT_MAX bytes in all functions here. */
const char *sim_text_span(int64_t ms, char *out);

/* Writes "2017-10-01 00:00": a moment since 1970, in UTC. */
const char *sim_text_date(int64_t ms, char *out);

/* Writes "1,234,567". */
const char *sim_text_count(uint64_t count, char *out);

/* Writes `part` of `whole` in percent with two places: "12.34". */
const char *sim_text_percent(int64_t part, int64_t whole, char *out);

/* Returns `part` of `whole` in thousandths of a percent; 0 if there is no whole. */
int64_t sim_text_part_milli(int64_t part, int64_t whole);

/* Writes thousandths with one place: "12.3". */
const char *sim_text_milli(int64_t milli, char *out);
