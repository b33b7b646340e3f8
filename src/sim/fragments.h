/* fragments.h - fragmentation: the expected number of idle slots that a task drawn from the
 * workload could not use where they are (Weng et al., "Beware of Fragmentation", 2023).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"
#include "sim/scenario.h"

enum { FRAGMENT_SHAPES_MAX = 64 };

struct fragment_shape {
    int64_t slots_milli; /* slots of one instance */
    int64_t cpu_milli;   /* 0: the task takes cpu in proportion to its slots */
    int64_t memory_bytes;
    uint64_t weight; /* jobs with this request, or the slots of these jobs */
};

/* The most common requests of a workload. */
struct fragments {
    struct fragment_shape shapes[FRAGMENT_SHAPES_MAX];
    uint32_t count;
    uint64_t weight; /* sum over all shapes */
};

/* Each job counts once, or by the slots that it requests. */
enum fragments_by { FRAGMENTS_BY_JOBS, FRAGMENTS_BY_SLOTS };

/* Finds the most common requests, which together make up 95 % of the jobs with slots, in one
 * pool or (NULL) in all. */
void fragments_init(struct fragments *fragments, const struct scenario *scenario, const char *pool,
                    enum fragments_by by);

/* Returns the mean of the idle slots of one node that a task cannot use, in thousandths. */
int64_t fragments_of_node(const struct fragments *fragments, const struct node *node);

/* Sums fragments_of_node() over the usable nodes of a pool (0: of all pools). */
int64_t fragments_of_pool(const struct fragments *fragments, const struct core *core, pool_id pool);
