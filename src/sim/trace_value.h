/* trace_value.h - values in the forms of traces, which are looser than what users write.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <stdint.h>

/* Parses "30", "30.0" or "12.3456" into thousandths. Further places are dropped. */
bool trace_value_milli(struct str text, int64_t *ret);

enum { TRACE_FACTOR_PLACES = 4, TRACE_FACTOR_ONE = 10000, TRACE_FACTOR_MAX = 1000 };

/* Parses a factor like "0.5178" into ten-thousandths. The error says what is wanted. */
must_use enum err trace_value_factor(struct str text, int64_t *ret, struct error *e);

/* Parses "4096" (bytes) or "4Gi". */
bool trace_value_bytes(struct str text, int64_t *ret);

/* How a trace writes times. Times of the two kinds cannot be compared. */
enum trace_clock { CLOCK_UNKNOWN, CLOCK_SECONDS, CLOCK_DATES };

/* Parses seconds, or "2017-10-01 00:00:45" and RFC 3339, into milliseconds since 1970 or since
 * the trace's own beginning. Also says which of the two forms it was. */
bool trace_value_time(struct str text, int64_t *ret_ms, enum trace_clock *ret_clock);
