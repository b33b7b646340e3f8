/* text.h - text as a terminal shows it: wrapped, without anything that could move the cursor, and
 * times and ages for people. base/width.h has the width of a text.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes one paragraph in lines of at most `columns`, broken between words. Further lines begin
 * with `indent` spaces. A word longer than a line is not broken. */
void text_wrap(struct buf *out, struct str text, size_t columns, size_t indent);

/* Appends text with everything that a terminal would obey made visible: \n, \t, \x1b, \u202e. A
 * byte that is not UTF-8 becomes \xNN. */
void text_escape(struct buf *out, struct str text);

/* Writes "just now", "42s ago", "3m ago", "5h ago", "2d ago"; "in 5m" for a time in the future. */
void text_ago(struct buf *out, int64_t then_ms, int64_t now_ms);

/* Writes a length of time: "42s", "3m12s", "5h07m", "2d3h". */
void text_span(struct buf *out, int64_t ms);

/* Writes a number with commas: 19,950. */
void text_thousands(struct buf *out, uint64_t number);

/* Parses "2026-11-15T12:00:00.000Z" to milliseconds since 1970; false: the text has another
 * form. */
bool text_time_parse(struct str text, int64_t *ret_ms);

/* Parses "5", "5s" or "2h" (ago), a day such as 2026-11-15 (its begin, UTC), or an absolute time, to
 * milliseconds since 1970; for --since. */
bool text_moment(struct str text, int64_t now_ms, int64_t *ret_ms);

/* The same for the value of --flag. ERR_USAGE names the flag and what would do. */
must_use enum err text_moment_flag(const char *flag, const char *text, int64_t *ret_ms,
                                   struct error *e);

/* Writes "2026-11-15T12:00:00.000Z" into `out` of TEXT_TIME_MAX bytes. */
enum { TEXT_TIME_MAX = 32 };
void text_time(int64_t ms, char *out);

/* Returns milliseconds since 1970 by the wall clock, for showing only. */
int64_t text_now_ms(void);
