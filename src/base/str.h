/* str.h - borrowed pieces of text, and numbers to and from text.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A borrowed run of characters, without a NUL at the end. */
struct str {
    const char *p;
    size_t len;
};

struct str str_of(const char *text);

bool str_equal(struct str a, struct str b);
bool str_is(struct str a, const char *text);

/* The part before the first `separator`. `*rest` becomes the part behind the separator, with p ==
 * NULL when there is no separator. */
struct str str_cut(struct str text, char separator, struct str *rest);

/* The text without leading and trailing blanks. */
struct str str_trim(struct str text);

/* Reads the whole text as a decimal number. False: the text is no number or out of range, and *ret
 * is untouched. */
bool str_to_u64(struct str text, uint64_t *ret);
bool str_to_i64(struct str text, int64_t *ret);

/* Writes a number in decimal, without a NUL, into `out` of STR_U64_MAX bytes. Returns the length. */
enum { STR_U64_MAX = 20 };
size_t str_u64(char *out, uint64_t value);

/* Returns the value of a hex digit, small or large; -1: the character is none. */
int str_hex_digit(char c);

/* Writes two hex digits for each byte, and a NUL. */
void str_hex(char *out, const uint8_t *bytes, size_t count);

/* Reads what str_hex() writes. False: the text has another form, and `ret` has no meaning. */
bool str_unhex(struct str text, uint8_t *ret, size_t count);

/* Copies into `out`, cuts at size - 1, and always adds a NUL. True: nothing was cut. */
bool str_copy(char *out, size_t size, const char *text);

/* How many characters of a text a message shows, for "%.*s". */
enum { STR_SHOWN_MAX = 40 };
int str_shown(struct str text);
