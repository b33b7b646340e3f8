/* name.c - see name.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/name.h"

#include <stdbool.h>

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
