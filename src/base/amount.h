/* amount.h - amounts as people write them. Memory is in bytes (`64Gi`, `500M`); durations in
 * milliseconds (`5m`, `1h30m`, `250ms`); every other amount in thousandths (`0.5`, at most three
 * places). All are 0 or more and bounded.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <stdint.h>

/* 10^12 units: so that sums over any cluster fit 64 bits. */
#define AMOUNT_MILLI_MAX ((int64_t)1000000000000000)
#define AMOUNT_BYTES_MAX ((int64_t)1 << 56)
#define AMOUNT_MS_MAX ((int64_t)1000 * 60 * 60 * 24 * 366 * 100)

/* "0.5" -> 500. The error says what was found and what would do. NaN, infinity, exponents, signs,
 * empty: refused. */
must_use enum err amount_milli(struct str text, int64_t *ret_milli, struct error *e);

/* "64Gi", "500M", "1073741824" (bytes). */
must_use enum err amount_bytes(struct str text, int64_t *ret_bytes, struct error *e);

/* "2h", "1h30m", "90s", "250ms", "90" (seconds). */
must_use enum err amount_duration(struct str text, int64_t *ret_ms, struct error *e);

enum { AMOUNT_TEXT_MAX = 32 };

/* Back to text: "0.5"; "64Gi" where it is exact, else "63.9Gi" style with one place; "1h30m". `out`
 * has AMOUNT_TEXT_MAX. */
void amount_milli_text(int64_t milli, char *out);
void amount_bytes_text(int64_t bytes, char *out);
void amount_duration_text(int64_t ms, char *out);
