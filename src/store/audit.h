/* audit.h - what administrators did, in the file audit.log of the data directory: one line of JSON an act.
 *
 *   {"n":2,…,"prev":HASH 1,"hash":HASH 2}     HASH: of the text before it, with the hash of the line before in it
 *
 * Holds: A1 a line that is changed, moved, added or taken away breaks the chain, unless all lines behind it are made
 * anew; who keeps the last hash elsewhere sees that, too. A2 a line is in the file before its act is answered. It
 * survives a kill; after a power cut the last lines may be missing.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    AUDIT_LINE_MAX = 16384,
    AUDIT_HASH_TEXT = 65, /* 32 bytes in hex, and the end of the text */
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
    uint64_t seq; /* the last fact that was on disk then */
};

/* Opens the log, or begins one. A line that a power cut left half written is removed. */
must_use enum err audit_open(const char *dir, struct audit **ret, struct error *e);
void audit_free(struct audit *audit); /* accepts NULL */

must_use enum err audit_add(struct audit *audit, const struct audit_entry *entry, struct error *e);

/* Gives up to `limit` lines that end before byte `end` (0: the end of the file), the newest first. *ret_next: `end` for
 * the lines before; 0: there are none. A missing file has no lines. */
typedef void (*audit_line_fn)(void *ctx, struct str line);
must_use enum err audit_read(const char *dir, uint64_t end, size_t limit, audit_line_fn fn,
                             void *ctx, uint64_t *ret_next, struct error *e);

struct audit_finding {
    uint64_t lines;             /* that are sound, before the first that is not */
    const char *why;            /* what is wrong with the line behind them; NULL: nothing */
    char last[AUDIT_HASH_TEXT]; /* the hash of the last sound line; empty: there is no line */
    bool known_found;
};

/* Checks the chain from its first line. `known`: a hash that must be in the chain; NULL: none. */
must_use enum err audit_verify(const char *dir, const char *known, struct audit_finding *ret,
                               struct error *e);
