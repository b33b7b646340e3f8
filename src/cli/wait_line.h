/* wait_line.h - while a command waits for a task: says on standard error why the task has no place,
 * which place in the queue it has, and when it starts at the latest. On a terminal it is one line that
 * changes in place and is gone before the next output; elsewhere a plain line, rarely. A server that
 * does not answer is named within two seconds, and when it answers again. An eviction of the task is said, too.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/login.h"

#include <stdint.h>

struct wait_line;

/* For `evicted_ms`: the command began after the task. Evictions before the first look are not said. */
enum { WAIT_LINE_EARLIER = -1 };

/* Starts the thread that asks the server. `task` 0: only watches whether the server answers, and
 * `evicted_ms` is NULL. *evicted_ms is the time of the last eviction that was said; 0: none. The thread
 * changes it. The login and *evicted_ms must outlive the thread. */
struct wait_line *wait_line_start(const struct login *login, uint64_t task, int64_t *evicted_ms);

/* Removes the line from the terminal, because output follows. The line may come again. */
void wait_line_clear(struct wait_line *line);

/* Ends the thread. NULL is allowed. */
void wait_line_free(struct wait_line *line);
