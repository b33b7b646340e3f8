/* typical_use.h - what is usually asked of a pool, asked of one node: how many such instances would it take?
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/typical.h"

#include <stdbool.h>
#include <stdint.h>

struct space;

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

/* Is the node of the kind that is asked for, however little of it is free? */
bool typical_use_suits(const struct typical_use *use, const struct node *node);

/* As fit_count() without a bound. */
uint32_t typical_use_fits(const struct typical_use *use, const struct idle *idle);

/* The largest whole number whose square is at most `value`. */
uint64_t typical_use_root(uint64_t value);
