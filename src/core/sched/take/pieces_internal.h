/* pieces_internal.h - the cache of pieces: shared by pieces_cache.c (makes and compares pieces) and pieces.c (their order).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/order/account.h"
#include "core/sched/take/pieces.h"

#include <stdint.h>

/* The pieces of one gang, or the piece of one instance of any other task. */
struct piece_entry {
    uint64_t task;  /* 0: the entry is free */
    uint32_t index; /* of the instance; of a gang GANG_INDEX */
    uint32_t count; /* of the pieces; 0: no instance may be evicted */
    struct piece *first;
    uint32_t listed[2]; /* of a gang: the last orders, without and with a need, that have it */
};

/* The entry of a running instance. A missing entry is made. `account` is the account of the instance's task. */
struct piece_entry *pieces_cache_get(struct piece_cache *cache, const struct account_view *account,
                                     const struct instance *instance);

/* How many pieces like this one make `need_milli` slots of a node free. Of a gang one instance counts. At least 1. */
uint64_t pieces_cache_parts(const struct piece *piece, int64_t need_milli);
