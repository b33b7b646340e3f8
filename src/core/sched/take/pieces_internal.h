/* pieces_internal.h - the book of pieces: shared by pieces_cache.c (making and comparing them) and pieces.c (the order of a project).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/task.h"
#include "core/sched/order/account.h"
#include "core/sched/take/pieces.h"

#include <stdint.h>

/* What goes of an instance or, in one entry, of a gang. */
struct piece_entry {
    uint64_t task; /* 0: free */
    uint32_t index;
    uint32_t count; /* of its pieces; 0: none of it may go */
    struct piece *first;
    uint32_t listed
        [2]; /* of a gang: the numbers of the orders, one without and one for a need, that have it */
};

/* The entry of a running instance, made where there is none. `account` is that of its task. */
struct piece_entry *pieces_cache_get(struct piece_cache *cache, const struct account_view *account,
                                     const struct instance *instance);

/* How many equal ones make up `need_milli` slots of a node; of a gang one of its instances counts. */
uint64_t pieces_cache_parts(const struct piece *piece, int64_t need_milli);
