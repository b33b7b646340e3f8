/* fairshare.h - the division of an amount among siblings: first the guarantees, then the surplus by weight, band of rank by band of
 * rank, then the remainders of the rounding. The division uses integers and 128-bit products only. So no share depends on
 * the order in which the caller lists the siblings.
 *
 * The caller divides a tree from the top down: the share of a parent is the total that the parent's children divide.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FAIRSHARE_SIBLINGS_MAX = 4096,
    FAIRSHARE_WEIGHT_MAX = 1000000, /* thousandths: a weight of 1,000 */
    FAIRSHARE_USAGE_FULL = 1000000, /* millionths: the sibling used the whole pool */
    FAIRSHARE_K_MAX = 10000,        /* thousandths: usage history counts tenfold */
};

enum { SHARE_UNLIMITED = -1 };

/* One sibling and one resource, in the resource's own units. */
struct fairshare {
    int64_t guaranteed; /* or SHARE_UNLIMITED */
    int64_t limit;      /* or SHARE_UNLIMITED */
    int64_t demand;     /* what the sibling holds and what its waiting tasks request */
    int64_t usage;      /* the part of the pool used in the past, in millionths */
    uint64_t order;     /* lower for older siblings; decides between equal remainders */
    uint32_t weight;    /* in thousandths; a sibling of weight 0 gets no surplus */
    uint32_t rank;      /* all siblings of a higher rank get surplus before any of a lower rank */
    int64_t share;      /* the result; fairshare_surplus() adds to the share that is there */
};

/* Gives each sibling its guarantee, at most its demand, and then divides the surplus. A sibling whose demand is not met gets whole
 * `unit`s of the surplus (1,000 for slots and named resources, 1 for cpu and memory). `k`, in thousandths, says how much usage history
 * counts. Returns the amount that no sibling got. */
int64_t fairshare_divide(struct fairshare *siblings, size_t count, int64_t total, int64_t unit,
                         uint32_t k, struct arena *scratch);

/* Divides only a surplus: adds parts of `surplus` to the shares that are there. Returns the amount that no sibling got. */
int64_t fairshare_surplus(struct fairshare *siblings, size_t count, int64_t surplus, int64_t unit,
                          uint32_t k, struct arena *scratch);
