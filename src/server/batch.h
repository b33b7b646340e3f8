/* batch.h - the rows of one commit, and everything that may happen only after the commit:
 * effects, answers, events. The loop's thread fills a batch. While the store thread has the
 * batch, the loop touches only `holds`, which the store thread never touches.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/host.h"
#include "base/vec.h"
#include "store/store_usage.h"

struct batch {
    struct arena arena; /* holds everything that the members below point to */
    VEC(struct store_fact) facts;
    VEC(struct store_history) history;
    VEC(struct store_attempt) attempts;
    VEC(struct store_use) uses;
    VEC(struct store_log) logs;
    VEC(struct store_token) tokens;
    VEC(uint64_t) forgotten; /* ended tasks that leave the history */
    VEC(struct effect) effects;
    struct parked_list holds;
    size_t bytes; /* of facts, history and logs together */
};

struct batch *batch_new(void);
void batch_free(struct batch *batch); /* NULL is allowed; no hold may be left */

/* Empties the batch and keeps some of its memory. */
void batch_clear(struct batch *batch);

/* True: there is nothing to commit. */
bool batch_empty(const struct batch *batch);

/* Each adds a copy to the batch. */
void batch_fact(struct batch *batch, const struct store_fact *fact);
void batch_log(struct batch *batch, const struct store_log *log);

/* The batch in the form that store_commit() takes; borrowed from the batch. */
struct store_batch batch_for_store(const struct batch *batch);
