/* fit.h - does an instance with this request fit this node, now or ever, and what would it hold
 * there? Plain arithmetic on one node; knows nothing of queues.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"

#include <stdbool.h>
#include <stdint.h>

/* The first thing that is missing. */
struct lack {
    enum reason_code code;
    resource_id resource;
    int64_t wanted;
    int64_t available;
};

/* May the node take starts at all: up, not draining? */
bool fit_usable(const struct node *node);

/* How many such instances fit together, at most `max`. Does not ask whether the node is usable. */
uint32_t fit_count(const struct space *place, const struct request *request, uint32_t max);

/* What the next instance would hold. fit_count() must have said 1 or more. */
void fit_grant(const struct space *place, const struct request *request, struct grant *ret);

/* Is exactly this free, devices by number: what an instance held, or was promised? */
bool fit_holds(const struct space *place, const struct request *request, const struct grant *grant);

/* The slots of one instance there: parts of devices by memory are larger where devices are smaller. */
int64_t fit_slots(const struct node *node, const struct request *request);

/* The amounts of a grant, without choosing devices. */
void fit_wants(const struct node *node, const struct request *request, struct grant *ret);

/* How often `wanted` goes into `free` (below 0: no bound), at most `max`; nothing wanted: always. */
uint32_t fit_times(int64_t free, int64_t wanted, uint32_t max);

/* What is missing for one instance; false: nothing. */
bool fit_lack(const struct space *place, const struct request *request, struct lack *ret);

/* The node's proportional part of cpu or memory for these slots, rounded down for each slot. */
int64_t fit_part(int64_t total, const struct node *node, int64_t slots_milli);
