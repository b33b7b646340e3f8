/* disk_watch.h - looks again and again whether a task of this node uses more disk than tasks may.
 * The watch has a thread of its own, because a file system may be slow and nothing else may wait
 * for it. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_watch;

/* Starts the thread. `limit` is in bytes. Returns NULL for limit 0, which means that there is no
 * limit. All functions of this file accept NULL. */
struct disk_watch *disk_watch_new(uint64_t limit);
void disk_watch_free(struct disk_watch *watch);
uint64_t disk_watch_limit(const struct disk_watch *watch);

/* Begins to watch the attempt with this job directory. `uid` is the user that only this attempt
 * has; 0: the attempt shares its user with others. */
void disk_watch_add(struct disk_watch *watch, const struct attempt_key *key, const char *dir,
                    uid_t uid);
void disk_watch_drop(struct disk_watch *watch, const struct attempt_key *key);

/* Returns whether the attempt has been seen to use more disk than the limit. */
bool disk_watch_over(struct disk_watch *watch, const struct attempt_key *key);
