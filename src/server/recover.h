/* recover.h - the state from the disk: newest snapshot, then every fact after it. The one road back,
 * at start and after a failed commit.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "store/store.h"

/* What was read, for the log. */
struct recovered {
    uint64_t snapshot_seq; /* 0: there was none */
    uint64_t facts;        /* replayed after it */
};

/* Blocking; on the thread that owns the store. ERR_CORRUPT names the fact that cannot be read. */
must_use enum err recover_core(struct store *store, struct core **ret, struct recovered *ret_what,
                               struct error *e);
