/* crash_disk.h - a disk that loses power. It records what a store does to files, and makes
 * images of what a crash at any point may leave.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Starts or stops recording everything below `dir`. */
void crash_disk_watch(const char *dir);
void crash_disk_stop(void);

/* Notes in the record that `seq` was acknowledged. */
void crash_disk_acknowledge(uint64_t seq);

/* Returns the number of recorded operations. */
size_t crash_disk_count(void);

/* Writes into the existing directory `image` what a crash before operation `at` may leave.
 * Everything flushed is there. Of the rest `seed` picks some sectors of each write, and in each
 * directory the first few changes of names. Returns the last number acknowledged before the
 * crash. */
uint64_t crash_disk_image(size_t at, uint64_t seed, const char *image);

/* Forgets the record. */
void crash_disk_done(void);
