/* fail.h - failures: a code and 240 bytes of text, no allocation. Made where they happen by
 * fail(), given context on the way up by fail_in(), reported once at the top.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

enum err {
    ERR_OK,
    ERR_USAGE,       /* the command line is wrong */
    ERR_INVALID,     /* malformed text, field or value */
    ERR_NOT_FOUND,   /* no such object */
    ERR_DENIED,      /* not logged in, or not allowed */
    ERR_CONFLICT,    /* the state does not allow it now; exists already; a key reused */
    ERR_LIMIT,       /* over a named limit */
    ERR_UNREACHABLE, /* the other side cannot be reached */
    ERR_TIMEOUT,     /* no answer in time */
    ERR_NEVER,       /* can never run */
    ERR_BUSY,        /* overloaded or unable just now; try again */
    ERR_IO,          /* disk or system call */
    ERR_CORRUPT,     /* stored data is not what was written */
    ERR_INTERNAL,    /* a bug seen from outside */
};
enum { ERR_COUNT = ERR_INTERNAL + 1 };

enum { ERROR_TEXT_MAX = 240, ERROR_PATH_MAX = 120 };

struct error {
    enum err code;
    char path[ERROR_PATH_MAX]; /* the place in the input ("pools[2].name"), or empty */
    char text[ERROR_TEXT_MAX];
};

/* Set `e` and return `code`. Text: lower case, no full stop, says what was found and what would do.
 * `e` may be NULL. */
enum err fail(struct error *e, enum err code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like fail(), and records the place in the input, which API errors show as `path`. */
enum err fail_at(struct error *e, enum err code, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Put "context: " in front of the text of `e`; returns its code. */
enum err fail_in(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* fail() with the text of errno value `number` behind the message. */
enum err fail_errno(struct error *e, enum err code, int number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "invalid", "not-found" …: the code as API and logs write it. */
const char *fail_code_name(enum err code);
