/* disk_walk.h - how much disk a task uses: its job directory, what its user has in the directories for
 * temporary files, and files that it removed and holds open. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_walk {
    const char *dir; /* the job directory */
    /* the user that only this task has: its other files count, too; 0: the task shares a user */
    uid_t uid;
    uint64_t limit; /* bytes; the walk stops as soon as it has counted more */
};

/* Adds up the bytes on disk. Each file, directory and link counts as 4 KiB at least, a file with several names
 * once. Above the limit the result is no sum. A tree deeper than DISK_DEPTH_MAX directories counts as over
 * the limit, because nobody needs one and it could hide files. */
uint64_t disk_walk_bytes(const struct disk_walk *walk);

enum { DISK_DEPTH_MAX = 200 };
