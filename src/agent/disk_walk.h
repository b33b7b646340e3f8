/* disk_walk.h - how much disk a task uses: its job directory, the files of its user in /tmp and
 * /var/tmp, and the files that the task removed but still holds open or mapped.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct disk_walk {
    const char *dir; /* the job directory */
    /* the user that only this task has, whose files outside the job directory count as well; 0: the
     * task shares its user with other tasks */
    uid_t uid;
    uint64_t limit; /* in bytes; the walk stops as soon as the sum is above the limit */
};

/* Adds up the bytes on disk. Each file, directory and link counts as 4 KiB at least. A file with
 * several names counts once. A result above the limit says only that the limit is passed. A tree
 * deeper than DISK_DEPTH_MAX directories counts as above the limit, because no task needs such a
 * tree and files could hide in it. */
uint64_t disk_walk_bytes(const struct disk_walk *walk);

enum { DISK_DEPTH_MAX = 200 };
