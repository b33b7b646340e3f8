/* sim_file.h - reads and writes whole files; "-" is standard input or output.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

/* Reads a file into the arena, NUL-terminated. ERR_LIMIT: more than SCENARIO_FILE_BYTES_MAX. */
must_use enum err sim_file_read(const char *path, struct arena *arena, struct str *ret,
                                struct error *e);

/* Checks that a file can be written, before a long run would be in vain. NULL is allowed. */
must_use enum err sim_file_writable(const char *path, struct error *e);

must_use enum err sim_file_write(const char *path, const struct buf *text, struct error *e);
