/* log_lines.h - the output of a task on its way to the terminal or a pipe: which instance wrote a line,
 * and nothing that a terminal would obey.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { LOG_LINES_STREAMS = 2 };

struct log_lines {
    bool prefix; /* lines begin with "3: " */
    bool colour; /* of the prefix */
    /* The stream is a terminal: everything that a terminal would obey is made visible. */
    bool inert[LOG_LINES_STREAMS]; /* standard output, standard error */
    /* The rest is kept by log_lines.c. */
    bool open; /* the last line that was written has not ended */
    uint64_t instance;
    unsigned stream;
    char kept[4]; /* the beginning of a character whose end has not come yet */
    size_t kept_len;
};

/* Appends to `out` what a piece of output becomes. `stream` is 0 or 1. */
void log_lines_add(struct log_lines *lines, uint64_t instance, unsigned stream, struct str piece,
                   struct buf *out);
