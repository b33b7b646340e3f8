/* text.h - text as a terminal shows it: width in columns, nothing that could move its cursor, times
 * and ages for people. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* The code point of a well-formed sequence of `len` bytes. */
uint32_t text_point(const char *p, size_t len);

/* Columns that UTF-8 text takes; bytes that are not UTF-8 count 1 each. */
size_t text_width(struct str text);

/* The longest beginning of at most `columns`; its length in bytes. */
size_t text_fit(struct str text, size_t columns);

/* One paragraph in lines of at most `columns`, broken between words; further lines begin with
 * `indent` spaces. A word that is longer than a line is left to the terminal. */
void text_wrap(struct buf *out, struct str text, size_t columns, size_t indent);

/* Appends text with everything a terminal would obey made visible: \n, \t, \x1b, \u202e; bytes that
 * are not UTF-8 become \xNN. */
void text_escape(struct buf *out, struct str text);

/* "just now", "42s ago", "3m ago", "5h ago", "2d ago"; "in 5m" when it lies ahead. */
void text_ago(struct buf *out, int64_t then_ms, int64_t now_ms);

/* "42s", "3m12s", "5h07m", "2d3h": how long something took. */
void text_span(struct buf *out, int64_t ms);

/* "2026-11-15T12:00:00.000Z" to milliseconds since 1970; false when it is something else. */
bool text_time_parse(struct str text, int64_t *ret_ms);

/* "5", "5s", "2h" ago or an absolute time -> milliseconds since 1970, for --since. */
bool text_moment(struct str text, int64_t now_ms, int64_t *ret_ms);

/* "2026-11-15T12:00:00.000Z"; `out` has TEXT_TIME_MAX. */
enum { TEXT_TIME_MAX = 32 };
void text_time(int64_t ms, char *out);

/* Milliseconds since 1970, by the wall clock: for showing only. */
int64_t text_now_ms(void);
