/* log_filter.h - output of a task line by line: only lines that match, each with its time in front.
 * The pieces in which output arrives end anywhere, so a line is kept until its end has come.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdint.h>

struct log_filter;

/* Which stream of output a piece belongs to. */
struct log_source {
    uint64_t instance;
    uint64_t attempt;
    bool error; /* standard error */
};

/* `grep`: an extended regular expression, or NULL. ERR_USAGE: it is none. */
must_use enum err log_filter_new(const char *grep, bool timestamps, struct log_filter **ret,
                                 struct error *e);
void log_filter_free(struct log_filter *filter); /* NULL is allowed */

/* Takes a piece that arrived at the time `at`, and appends the lines that end with it to `out`. */
void log_filter_add(struct log_filter *filter, struct log_source source, const char *at,
                    struct str piece, struct buf *out);

/* Appends to `out` a line that never ended, if the line matches. Call until the result is false: there
 * is no such line left. */
bool log_filter_end(struct log_filter *filter, struct log_source *ret_source, struct buf *out);
