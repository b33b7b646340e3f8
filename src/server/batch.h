/* batch.h - what one commit carries, and what may happen only after it: effects, answers, events.
 * Filled on the loop's thread; while the store thread has it, the loop touches `holds` only, which
 * the store thread never does.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/host.h"
#include "base/vec.h"

struct batch {
    struct arena arena; /* everything below points into it */
    VEC(struct store_fact) facts;
    VEC(struct store_history) history;
    VEC(struct store_log) logs;
    VEC(struct store_token) tokens;
    VEC(struct effect) effects;
    struct parked_list holds;
    size_t bytes; /* of facts, history and logs together */
};

struct batch *batch_new(void);
void batch_free(struct batch *batch); /* NULL is fine; no hold may be left */

/* Empty again; keeps some of its memory. */
void batch_clear(struct batch *batch);

/* True when there is nothing to commit. */
bool batch_empty(const struct batch *batch);

/* Add a copy. */
void batch_fact(struct batch *batch, const struct store_fact *fact);
void batch_log(struct batch *batch, const struct store_log *log);

/* The form store_commit() takes; borrowed from the batch. */
struct store_batch batch_for_store(const struct batch *batch);
