/* store_salvage.h - takes what can be proven out of a damaged directory.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "store/store.h"

/* Fills the empty directory `dir` from the damaged directory `from`, which stays as it is. ERR_CORRUPT:
 * nothing can be proven. The caller holds the lock of `dir`. */
must_use enum err store_salvage(const char *from, const char *dir, store_decode_fn decode,
                                struct store_restored *ret, struct error *e);
