/* str.h - borrowed pieces of text, and numbers out of text.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed run of characters, not NUL-terminated. */
struct str {
    const char *p;
    size_t len;
};

struct str str_of(const char *text);

bool str_equal(struct str a, struct str b);
bool str_is(struct str a, const char *text);

/* The part before the first `separator`; `*rest` becomes what follows it (p == NULL when there was
 * none). */
struct str str_cut(struct str text, char separator, struct str *rest);

/* Without leading and trailing blanks. */
struct str str_trim(struct str text);

/* The whole text as a decimal number. False, and *ret untouched, when it is anything else or out of
 * range. */
bool str_to_u64(struct str text, uint64_t *ret);
bool str_to_i64(struct str text, int64_t *ret);

/* Copies into `out`, cutting at size - 1, always NUL-terminated. True when nothing was cut. */
bool str_copy(char *out, size_t size, const char *text);

/* How much of a text a message shows, for "%.*s". */
enum { STR_SHOWN_MAX = 40 };
int str_shown(struct str text);
