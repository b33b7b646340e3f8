/* evict_watch.h - while `weir run` follows a task: says on standard error when the task is evicted.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "cli/login.h"

#include <stdint.h>

struct evict_watch;

/* Watches the task. The login must outlive the watch. */
struct evict_watch *evict_watch_start(const struct login *login, uint64_t task);

/* Ends the watch: at once when the task has ended, else within 200 ms. NULL is allowed. */
void evict_watch_free(struct evict_watch *watch);
