/* fleet.h - the nodes that providers brought up during a run.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

struct fleet {
    uint64_t launched; /* nodes that pools asked for */
    uint64_t now;      /* of these, nodes that have not gone */
    uint64_t most;     /* the most at one moment */
    int64_t node_ms;   /* the time of all of them together, from the request to the end */
};

/* Called after a fact was applied. */
void fleet_fact(struct fleet *fleet, const struct fact *fact);

/* Counts the present state for so long. */
void fleet_count(struct fleet *fleet, int64_t for_ms);
