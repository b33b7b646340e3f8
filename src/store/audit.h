/* audit.h - what administrators did, in the file audit.log of the data directory. Each act is one line of JSON:
 *
 *   {"n":2,…,"prev":HASH 1,"hash":HASH 2}
 *
 * HASH 2 is the hash of all text of the line before ,"hash". This text has HASH 1, the hash of the line before. Holds:
 * A1 a line that was changed, moved, added or taken away breaks the chain. An intruder can hide this only by making all
 * later lines anew, and not from a reader who keeps the last hash elsewhere. A2 a line is in the file before its act is
 * answered. The line survives a kill of the server. After a power cut the last lines may be missing. A3 a line that the
 * disk takes in part leaves nothing behind: the next line does not begin in the middle of a line.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AUDIT_LINE_MAX = 16384,
    AUDIT_HASH_TEXT = 65, /* 32 bytes in hex, and a 0 */
    AUDIT_PAGE_LINES = 1000,
};

struct audit;

struct audit_entry {
    int64_t time_ms;
    const char *actor;
    const char *token; /* the id of the token or session; "": none */
    const char *peer;
    const char *method;
    const char *path;
    unsigned status;
    uint64_t seq; /* the last fact that was on disk at the time of the act */
};

/* Opens the log, or makes it. Removes a line that was only half written before a power cut. */
must_use enum err audit_open(const char *dir, struct audit **ret, struct error *e);
void audit_free(struct audit *audit); /* NULL is allowed */

must_use enum err audit_add(struct audit *audit, const struct audit_entry *entry, struct error *e);

/* Gives up to `limit` lines to `fn`, the newest first. The lines end before byte `end` of the file
 * (0: its end). *ret_next is the `end` for the lines before these; 0: there are none. A missing
 * file has no lines. */
typedef void (*audit_line_fn)(void *ctx, struct str line);
must_use enum err audit_read(const char *dir, uint64_t end, size_t limit, audit_line_fn fn,
                             void *ctx, uint64_t *ret_next, struct error *e);

struct audit_finding {
    uint64_t lines;  /* how many lines from the first on are sound */
    const char *why; /* what is wrong with the first line that is not sound; NULL: all are sound */
    char last[AUDIT_HASH_TEXT]; /* the hash of the last sound line; "": no line is sound */
    bool known_found;
};

/* Checks the log from its first line to the first line that is not sound. `known` is a hash that
 * some line must have; NULL: none. */
must_use enum err audit_verify(const char *dir, const char *known, struct audit_finding *ret,
                               struct error *e);
