/* wait_line.h - while a task of `weir run` has no place yet: one line on the terminal that says why,
 * changing in place, gone before the first output. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/login.h"

#include <stdint.h>

struct wait_line;

/* Starts a thread that looks; the login must outlive it. */
struct wait_line *wait_line_start(const struct login *login, uint64_t task);

/* Takes the line away for good; may be called again and again. */
void wait_line_clear(struct wait_line *line);

/* Ends it; NULL is fine. */
void wait_line_free(struct wait_line *line);
