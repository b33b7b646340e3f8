/* cursors.h - how far clients without a cursor of their own have read the output of tasks. Kept in memory: after a restart
 * such a client gets the output from its begin. The least recently used cursor goes when there are CURSORS_MAX.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct cursors;

enum { CURSORS_MAX = 4096 };

struct cursor_key {
    uint64_t task;
    int64_t index;   /* of the instance; -1: the whole task */
    uint32_t stream; /* 1: standard output, 2: standard error */
};

struct cursors *cursors_new(void);
void cursors_free(struct cursors *cursors);

/* The last piece that was read; 0: none. */
uint64_t cursors_get(const struct cursors *cursors, const struct cursor_key *key);
void cursors_set(struct cursors *cursors, const struct cursor_key *key, uint64_t piece);
