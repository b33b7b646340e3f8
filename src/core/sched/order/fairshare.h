/* fairshare.h - divide an amount among siblings: guaranteed parts first, then the surplus by weight in bands of rank, then what
 * rounding left over. Exact: integers and 128-bit products, so the order of the siblings cannot matter.
 *
 * The caller divides a tree top-down: the share of a parent is the total of its children.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAIRSHARE_SIBLINGS_MAX = 4096,
    FAIRSHARE_WEIGHT_MAX = 1000000, /* thousandths: a weight of 1,000 */
    FAIRSHARE_USAGE_FULL = 1000000, /* millionths: used all of the pool in the past */
    FAIRSHARE_K_MAX = 10000,        /* thousandths */
};

enum { SHARE_UNLIMITED = -1 };

/* One sibling and one resource, in the resource's own units. */
struct fairshare {
    int64_t guaranteed; /* or SHARE_UNLIMITED */
    int64_t limit;      /* or SHARE_UNLIMITED */
    int64_t demand;     /* what it holds and what it waits for */
    int64_t usage;      /* its part of the past, in millionths; 0 without history */
    uint64_t order;     /* older siblings have lower ones; decides between equal remainders */
    uint32_t weight;    /* in thousandths; 0 takes no surplus */
    uint32_t rank;      /* a higher rank is served before any lower one when surplus is divided */
    int64_t share;      /* the result; fairshare_surplus() adds to it */
};

/* Guaranteed parts, as far as they are wanted; then the surplus. What an unsatisfied sibling gets of the surplus is whole
 * `unit`s (1,000 for slots, 1 for cpu and memory). `k` (thousandths) is how much the past counts. Returns what nobody got. */
int64_t fairshare_divide(struct fairshare *siblings, size_t count, int64_t total, int64_t unit,
                         uint32_t k, struct arena *scratch);

/* The second half alone: `surplus` on top of the shares that are there. */
int64_t fairshare_surplus(struct fairshare *siblings, size_t count, int64_t surplus, int64_t unit,
                          uint32_t k, struct arena *scratch);
