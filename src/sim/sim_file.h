/* sim_file.h - whole files in and out; "-" is standard input or output.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"

/* The text of a file, NUL-terminated, in the arena. ERR_LIMIT beyond SCENARIO_FILE_BYTES_MAX. */
must_use enum err sim_file_read(const char *path, struct arena *arena, struct str *ret,
                                struct error *e);

/* Could it be written? Asked before a long run, so that this is not in vain; NULL is fine. */
must_use enum err sim_file_writable(const char *path, struct error *e);

must_use enum err sim_file_write(const char *path, const struct buf *text, struct error *e);
