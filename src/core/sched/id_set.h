/* id_set.h - a set of ids within one pass: open addressing in an arena.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Empty when all is 0. */
struct id_set {
    uint64_t *at; /* 0: free */
    uint32_t count;
    uint32_t room;
};

/* `id` is not 0. */
void id_set_add(struct id_set *set, struct arena *arena, uint64_t id);
bool id_set_has(const struct id_set *set, uint64_t id);
