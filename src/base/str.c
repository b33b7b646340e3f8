/* str.c - pieces of text. SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <string.h>

struct str str_of(const char *text)
{
    return (struct str){text, text != NULL ? strlen(text) : 0};
}

bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool str_is(struct str a, const char *text)
{
    return str_equal(a, str_of(text));
}

struct str str_cut(struct str text, char separator, struct str *rest)
{
    const char *at = text.len > 0 ? memchr(text.p, separator, text.len) : NULL;
    if (at == NULL) {
        *rest = (struct str){NULL, 0};
        return text;
    }
    size_t head = (size_t)(at - text.p);
    *rest = (struct str){at + 1, text.len - head - 1};
    return (struct str){text.p, head};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str text)
{
    while (text.len > 0 && is_blank(text.p[0])) {
        text.p++;
        text.len--;
    }
    while (text.len > 0 && is_blank(text.p[text.len - 1])) {
        text.len--;
    }
    return text;
}

bool str_to_u64(struct str text, uint64_t *ret)
{
    uint64_t value = 0;
    if (text.len == 0) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        if (__builtin_mul_overflow(value, 10U, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.p[i] - '0'), &value)) {
            return false;
        }
    }
    *ret = value;
    return true;
}

bool str_to_i64(struct str text, int64_t *ret)
{
    bool negative = text.len > 0 && text.p[0] == '-';
    uint64_t magnitude;
    if (!str_to_u64(negative ? (struct str){text.p + 1, text.len - 1} : text, &magnitude)) {
        return false;
    }
    if (magnitude > (uint64_t)INT64_MAX) {
        return false;
    }
    *ret = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

size_t str_u64(char *out, uint64_t value)
{
    char text[STR_U64_MAX];
    size_t at = sizeof text;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    memcpy(out, text + at, sizeof text - at);
    return sizeof text - at;
}

int str_hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static const char hex_digits[] = "0123456789abcdef";

void str_hex(char *out, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = hex_digits[bytes[i] >> 4];
        out[2 * i + 1] = hex_digits[bytes[i] & 15];
    }
    out[2 * count] = '\0';
}

bool str_unhex(struct str text, uint8_t *ret, size_t count)
{
    if (text.len != 2 * count) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = memchr(hex_digits, text.p[i], sizeof hex_digits - 1);
        if (digit == NULL) {
            return false;
        }
        ret[i / 2] =
            (uint8_t)(i % 2 == 0 ? (digit - hex_digits) << 4 : ret[i / 2] | (digit - hex_digits));
    }
    return true;
}

bool str_copy(char *out, size_t size, const char *text)
{
    size_t len = strlen(text);
    size_t take = len < size ? len : size - 1;
    memcpy(out, text, take);
    out[take] = '\0';
    return take == len;
}

int str_shown(struct str text)
{
    return text.len < STR_SHOWN_MAX ? (int)text.len : STR_SHOWN_MAX;
}
