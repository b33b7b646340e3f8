/* recover.h - rebuilds the state from disk: the newest snapshot, then every fact after it. Used at
 * the start and after a failed commit. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "store/store.h"

/* What was read, for the log. */
struct recovered {
    uint64_t snapshot_seq; /* 0: there was no snapshot */
    uint64_t facts;        /* replayed after the snapshot */
};

/* Blocks; call on the thread that owns the store. A snapshot that is damaged or does not decode is
 * logged and skipped, in favour of an older one or of all facts. ERR_CORRUPT names the fact, or the
 * snapshot and the ways out. */
must_use enum err recover_core(struct store *store, struct core **ret, struct recovered *ret_what,
                               struct error *e);
