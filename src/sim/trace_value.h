/* trace_value.h - values as they stand in traces: looser than what users write.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/str.h"

#include <stdint.h>

/* "30", "30.0", "12.3456": in thousandths, further places dropped. */
bool trace_value_milli(struct str text, int64_t *ret);

/* "4096" (bytes), "4Gi". */
bool trace_value_bytes(struct str text, int64_t *ret);

/* How a trace writes its times: those of the two kinds have nothing to do with each other. */
enum trace_clock { CLOCK_UNKNOWN, CLOCK_SECONDS, CLOCK_DATES };

/* Seconds as above, or "2017-10-01 00:00:45" and RFC 3339: milliseconds since 1970, or since the
 * trace's own beginning; and which of them it was. */
bool trace_value_time(struct str text, int64_t *ret_ms, enum trace_clock *ret_clock);

/* A name of a project out of any text; `out` has NAME_LEN_MAX + 1. Other characters become '-'. */
void trace_value_name(struct str text, char *out);
