/* name.c - see name.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { NAME_MAX_LEN = 63 };

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

enum err name_check(struct str name, const char *what, struct error *e)
{
    if (name.len == 0) {
        return fail(e, ERR_INVALID, "the name of %s is empty", what);
    }
    if (name.len > NAME_MAX_LEN) {
        return fail(e, ERR_INVALID,
                    "the name of %s has %zu characters, at most %d are allowed: '%.*s…'", what,
                    name.len, NAME_MAX_LEN, str_shown(name), name.p);
    }
    bool good = is_alnum(name.p[0]);
    for (size_t i = 1; i < name.len && good; i++) {
        char c = name.p[i];
        good = is_alnum(c) || c == '-' || c == '_' || c == '.';
    }
    if (!good) {
        return fail(e, ERR_INVALID,
                    "the name of %s is made of letters, digits, '-', '_' and '.' and starts with a "
                    "letter or digit, not '%.*s'",
                    what, str_shown(name), name.p);
    }
    return ERR_OK;
}

/* The number of digits at the beginning; leading zeroes are skipped and do not count. */
static size_t digits_take(const char **p)
{
    while (**p == '0' && isdigit((unsigned char)(*p)[1]) != 0) {
        (*p)++;
    }
    return strspn(*p, "0123456789");
}

int name_order(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0') {
        if (isdigit((unsigned char)*a) != 0 && isdigit((unsigned char)*b) != 0) {
            const size_t a_len = digits_take(&a);
            const size_t b_len = digits_take(&b);
            const int order =
                a_len != b_len ? (a_len > b_len) - (a_len < b_len) : memcmp(a, b, a_len);
            if (order != 0) {
                return order;
            }
            a += a_len;
            b += b_len;
        } else if (*a != *b) {
            return (unsigned char)*a - (unsigned char)*b;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}
