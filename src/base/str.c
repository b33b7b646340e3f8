/* str.c - pieces of text.
 * SPDX-License-Identifier: Apache-2.0 */
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
