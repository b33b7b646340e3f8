/* fragments.h - how much of what is idle cannot be used: the expected number of idle slots that a
 * task drawn from the workload could not use where they are (Weng et al., "Beware of
 * Fragmentation", 2023). SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "sim/scenario.h"

enum { FRAGMENT_SHAPES_MAX = 64 };

struct fragment_shape {
    int64_t slots_milli; /* of one instance */
    int64_t cpu_milli;   /* 0 where a task takes its proportional part */
    int64_t memory_bytes;
    uint64_t weight; /* jobs that ask for it, or slots asked by them */
};

/* The commonest requests of a workload. */
struct fragments {
    struct fragment_shape shapes[FRAGMENT_SHAPES_MAX];
    uint32_t count;
    uint64_t weight; /* of all of them */
};

/* Does each job count once, or by the slots it asks for? */
enum fragments_by { FRAGMENTS_BY_JOBS, FRAGMENTS_BY_SLOTS };

/* The commonest requests that make up 95 % of the jobs which ask for slots: those of one pool, or (NULL) of all. */
void fragments_init(struct fragments *fragments, const struct scenario *scenario, const char *pool,
                    enum fragments_by by);

/* Thousandths of idle slots of one node that are of no use, on average. */
int64_t fragments_of_node(const struct fragments *fragments, const struct node *node);

/* The same over the nodes of a pool (0: of all pools) that take work. */
int64_t fragments_of_pool(const struct fragments *fragments, const struct core *core, pool_id pool);
