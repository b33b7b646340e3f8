/* store_snapshot.h - snapshot files, snapshot/<seq>.snap: the state after fact <seq>, checksummed.
 * Writing one is store_snapshot_write() in store.h.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

#include <stdint.h>

/* The file's content into `arena`. ERR_NOT_FOUND when it is missing; ERR_CORRUPT, naming the file
 * and what is wrong, when it is damaged or another snapshot's. */
must_use enum err store_snapshot_read(const char *dir, uint64_t seq, struct arena *arena,
                                      struct str *ret, struct error *e);

/* Removes what an interrupted write left behind. */
void store_snapshot_sweep(const char *dir);
