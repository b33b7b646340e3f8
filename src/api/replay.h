/* replay.h - applies stored facts to a core, in order: at the start of a server, and for a read of an earlier moment.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "store/store.h"

struct replay {
    struct core *core;
    struct arena arena; /* of one fact; the caller makes and frees it */
    uint64_t count;     /* facts that were applied */
};

/* A store_fact_fn whose `ctx` is a struct replay. ERR_CORRUPT: a fact is missing, or cannot be read. */
must_use enum err replay_fact(void *ctx, const struct store_fact *stored, struct error *e);
