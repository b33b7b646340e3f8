/* store_snapshot.h - snapshot files, snapshot/<seq>.snap: the state after fact <seq>, with a
 * checksum. store_snapshot_write() is declared in store.h. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdint.h>

/* Reads the file's content into `arena`. `crc` is the checksum of the data as the database has it; -1:
 * the database does not say. ERR_NOT_FOUND: the file is missing. ERR_CORRUPT, naming the file and the
 * fault: the file is damaged or holds another snapshot. */
must_use enum err store_snapshot_read(const char *dir, uint64_t seq, int64_t crc,
                                      struct arena *arena, struct str *ret, struct error *e);

/* The size of the file, and the checksum of its data as its head has it. */
must_use enum err store_snapshot_head(const char *dir, uint64_t seq, uint64_t *ret_bytes,
                                      uint32_t *ret_crc, struct error *e);

/* Removes files that an interrupted write left behind. */
void store_snapshot_sweep(const char *dir);
