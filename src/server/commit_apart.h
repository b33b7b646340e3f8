/* commit_apart.h - stores a batch; a batch whose content the store refuses twice is taken apart, so
 * that one bad piece of output does not stop everything else.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/store.h"

/* Stores the batch like store_commit(). When the store refuses the content of the batch twice, the
 * pieces of output are stored apart from the rest, in ever smaller groups. A piece that is refused
 * alone is set aside: logged as an error and dropped. *ret_aside counts these pieces. Facts, history,
 * attempts and tokens are never set aside: if the store refuses one of them, the call fails and the
 * error names it. A failure of the disk sets nothing aside. Call on the thread that owns the store. */
must_use enum err commit_apart(struct store *store, const struct store_batch *batch,
                               uint64_t *ret_aside, struct error *e);
