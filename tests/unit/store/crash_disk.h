/* crash_disk.h - a disk that loses its power: records what a store does to files, and makes images
 * of what may be found after a crash at any point. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Records everything below `dir` from now on, or no longer. */
void crash_disk_watch(const char *dir);
void crash_disk_stop(void);

/* Notes in the record that `seq` was acknowledged. */
void crash_disk_acknowledge(uint64_t seq);

/* How many operations are recorded. */
size_t crash_disk_count(void);

/* Writes into the existing data directory `image` what a crash before operation `at` may leave: all
 * that was flushed; of the rest, by `seed`, some sectors of each write and, in each directory, some
 * of the changes of names in their order. Returns the last number acknowledged by then. */
uint64_t crash_disk_image(size_t at, uint64_t seed, const char *image);

/* Forgets the record. */
void crash_disk_done(void);
