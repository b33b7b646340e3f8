/* waste.h - how much of what is idle on a node is of no use to what is usually asked of its pool.
 *
 * For each typical request (core/model/typical.h): were the node filled with as many of them as fit, so many of its idle slots
 * would be left over. The waste is
 *
 *       Σ weight · (left / idle)² · h(idle)      h(idle) = idle · c / (c + √idle)
 *
 * The square: slots that some request can use to the full are worth more than slots of which every request leaves a part. The root:
 * a few slots left over here and a few there are worse than the same number in one place, so that what is in use is filled up
 * before more is begun. A request for another kind of node (labels, named resources, memory of devices) counts idle slots as they are:
 * wherever they lie, they are of no use to it, and taking them costs it nothing (docs/dev/adr/0011 has the figures).
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/typical.h"
#include "core/model/fit.h"

/* A typical request, made ready to be asked of many nodes. Borrows the row of the state. */
struct typical_use {
    const struct request *request;
    uint64_t weight;
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
    uint32_t
        of_device; /* as often does its share go into a whole device; 0: it asks for whole ones */
    bool plain;    /* slots of devices, cpu and memory of given amounts are all that bounds it */
    bool picky;    /* it asks for a kind of node: labels, named resources, memory of devices */
};

/* What is usually asked of a pool. */
struct typical_uses {
    struct typical_use at[TYPICAL_MAX];
    uint32_t count;
    bool labelled;    /* some of them ask for labels */
    uint64_t version; /* how often they were weighed */
};

struct core;
void waste_uses_load(struct typical_uses *uses, const struct core *core, pool_id pool);

/* The request of a row, made ready. */
void typical_use_of(const struct request *request, uint64_t weight, struct typical_use *ret);

/* The idle devices of a place: whole ones, and parts of others. */
struct idle {
    const struct space *place;
    uint32_t whole;
    uint32_t part_count;
    uint16_t parts[NODE_DEVICES_MAX];
};
void typical_use_idle(const struct space *place, struct idle *ret);

/* As fit_count() without a bound. */
uint32_t typical_use_fits(const struct typical_use *use, const struct idle *idle);

/* The largest whole number whose square is at most `value`. */
uint64_t typical_use_root(uint64_t value);

/* What is wasted of a place, in thousandths of slots times weights; 0 where nothing is idle or nothing is known. */
int64_t waste_of(const struct typical_uses *uses, const struct space *place);

/* By how much the waste grows when so many such instances, which must fit, are put there. Nothing that belongs to one node only
 * counts: `plain` is a request as tight_plain() makes it. */
int64_t waste_growth(const struct typical_uses *uses, const struct space *place, int64_t waste,
                     const struct request *plain, uint32_t count);
