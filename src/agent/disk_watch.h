/* disk_watch.h - looks again and again whether a task of this node uses more disk than tasks may. A thread of its
 * own: a file system may be slow, and nothing else may wait for it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_watch;

/* Starts the thread. `limit` is in bytes; 0: there is no limit, and the result is NULL, which all functions
 * here take. */
struct disk_watch *disk_watch_new(uint64_t limit);
void disk_watch_free(struct disk_watch *watch);
uint64_t disk_watch_limit(const struct disk_watch *watch);

/* The attempt has this job directory and, where `uid` is not 0, a user that no other task has. */
void disk_watch_add(struct disk_watch *watch, const struct attempt_key *key, const char *dir,
                    uid_t uid);
void disk_watch_drop(struct disk_watch *watch, const struct attempt_key *key);

/* Has the attempt been seen to use more than the limit? */
bool disk_watch_over(struct disk_watch *watch, const struct attempt_key *key);
