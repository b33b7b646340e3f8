/* wait_line.h - while a task of `weir run` has no place: one line on the terminal that says why.
 * The line changes in place and is gone before the first output.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/login.h"

#include <stdint.h>

struct wait_line;

/* Starts the thread that asks the server. The login must outlive the thread. */
struct wait_line *wait_line_start(const struct login *login, uint64_t task);

/* Removes the line for good. May be called several times. */
void wait_line_clear(struct wait_line *line);

/* Ends the thread. NULL is allowed. */
void wait_line_free(struct wait_line *line);
