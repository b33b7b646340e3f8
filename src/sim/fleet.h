/* fleet.h - the nodes that providers brought up during a run, and what they cost.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

struct fleet {
    uint64_t launched;  /* nodes that pools asked for */
    uint64_t refused;   /* of these, nodes that no provider brought up */
    uint64_t now;       /* nodes that were asked for and have not gone */
    uint64_t most;      /* the most at one moment */
    int64_t node_ms;    /* the time of all of them together, from the request to the end */
    int64_t rate_milli; /* what the present nodes cost in an hour, in thousandths */
    __int128 cost;      /* thousandths x ms of an hour's price */
};

/* Called after a fact was applied. */
void fleet_fact(struct fleet *fleet, const struct core *core, const struct fact *fact);

/* Counts the present state for so long. */
void fleet_count(struct fleet *fleet, int64_t for_ms);

/* What all nodes cost, in thousandths of the currency. */
int64_t fleet_cost_milli(const struct fleet *fleet);

/* The same scenario with all nodes of its elastic pools always up. */
struct fleet_fixed {
    bool played; /* false: no provider brought nodes up, or the run was stopped */
    uint64_t nodes;
    int64_t node_ms;
    int64_t cost_milli;
    int64_t wait_mean_ms;
};
