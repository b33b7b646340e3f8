/* fail.h - failures: a code and 240 bytes of text, no allocation. fail() makes a failure where it
 * happens, fail_in() adds context on the way up, and the top reports the failure once.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/must.h"

enum err {
    ERR_OK,
    ERR_USAGE,     /* the command line is wrong */
    ERR_INVALID,   /* malformed text, field or value */
    ERR_NOT_FOUND, /* no such object */
    ERR_DENIED,    /* not logged in, or not allowed */
    ERR_CONFLICT, /* the state does not allow it now; the object exists already; a key was reused */
    ERR_LIMIT,    /* over a named limit */
    ERR_UNREACHABLE, /* the other side cannot be reached */
    ERR_TIMEOUT,     /* no answer in time */
    ERR_NEVER,       /* the task can never run */
    ERR_BUSY,        /* overloaded, or unable for now; try again */
    ERR_IO,          /* disk or system call */
    ERR_CORRUPT,     /* stored data is not what was written */
    ERR_INTERNAL,    /* a bug, as seen from outside */
};
enum { ERR_COUNT = ERR_INTERNAL + 1 };

enum { ERROR_TEXT_MAX = 240, ERROR_PATH_MAX = 120 };

struct error {
    enum err code;
    unsigned line; /* of the text that was read, from 1; 0: not known */
    unsigned column;
    char path[ERROR_PATH_MAX]; /* the place in the input ("pools[2].name"), or empty */
    char text[ERROR_TEXT_MAX];
};

/* Sets `e` and returns `code`. The text is lower case without full stop, and says what was found
 * and what would be accepted. `e` may be NULL. */
enum err fail(struct error *e, enum err code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Like fail(), and records the place in the input, which API errors show as `path`. */
enum err fail_at(struct error *e, enum err code, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Like fail_at(), for a text with lines: puts "line 2, column 7: " in front. */
enum err fail_line(struct error *e, unsigned line, unsigned column, const char *path,
                   const char *text);

/* The text of an error of fail_line() without the line and the column in front. An error without
 * a line is all text. */
const char *fail_line_text(const struct error *e);

/* Puts "context: " in front of the text of `e`; returns the code of `e`. */
enum err fail_in(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Like fail(), with the text of the errno value `number` behind the message. */
enum err fail_errno(struct error *e, enum err code, int number, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The code as API and logs write it: "invalid", "not-found" … */
const char *fail_code_name(enum err code);
