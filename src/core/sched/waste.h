/* waste.h - how much of what is idle on a node is of no use to what is usually asked of its pool.
 *
 * For each typical request (core/model/typical.h): were the node filled with as many of them as fit, so many of its idle slots
 * would be left over. The waste is
 *
 *       Σ weight · (left / idle)² · h(idle)      h(idle) = idle · c / (c + √idle)
 *
 * The square: slots that some request can use to the full are worth more than slots of which every request leaves a part. The root:
 * a few slots left over here and a few there are worse than the same number in one place, so that what is in use is filled up
 * before more is begun (docs/dev/adr/0011 has the figures).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/typical.h"
#include "core/sched/fit.h"

/* What is usually asked of a pool. Borrows the rows of the state. */
struct tastes {
    const struct typical *at[TYPICAL_MAX];
    uint32_t count;
    bool labelled;    /* some of them ask for labels */
    uint64_t version; /* how often they were weighed */
};

struct core;
void tastes_load(struct tastes *tastes, const struct core *core, pool_id pool);

/* The largest whole number whose square is at most `value`. */
uint64_t waste_root(uint64_t value);

/* What is wasted of a place, in thousandths of slots times weights; 0 where nothing is idle or nothing is known. */
int64_t waste_of(const struct tastes *tastes, const struct place *place);

/* By how much the waste grows when so many such instances, which must fit, are put there. Nothing that belongs to one node only
 * counts: `plain` is a request as request_plain() makes it. */
int64_t waste_growth(const struct tastes *tastes, const struct place *place, int64_t waste,
                     const struct request *plain, uint32_t count);
