/* fit.h - does an instance with a request fit a node, now or ever, and what would the instance hold there?
 * Arithmetic on one node only: nothing here knows queues.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/node.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/model/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* The first resource or property that a node lacks for a request. */
struct lack {
    enum reason_code code;
    resource_id resource;
    int64_t wanted;
    int64_t available;
};

/* May the node take starts: is it up and not draining? */
bool fit_usable(const struct node *node);

/* How many instances with this request fit together, at most `max`. Does not ask whether the node is usable. */
uint32_t fit_count(const struct space *place, const struct request *request, uint32_t max);

/* What one instance with this request would hold. fit_count() must have said 1 or more. */
void fit_grant(const struct space *place, const struct request *request, struct grant *ret);

/* Is everything free that `grant` names, with exactly these devices? */
bool fit_holds(const struct space *place, const struct request *request, const struct grant *grant);

/* The slots of one instance on this node. A request for parts of devices by memory takes more slots where
 * devices are smaller. */
int64_t fit_slots(const struct node *node, const struct request *request);

/* The amounts that one instance would hold on this node, without its devices. */
void fit_wants(const struct node *node, const struct request *request, struct grant *ret);

/* How often `wanted` goes into `free`, at most `max`. `free` below 0 means no bound. `wanted` of 0 gives
 * `max`. */
uint32_t fit_times(int64_t free, int64_t wanted, uint32_t max);

/* What the node lacks for one instance. False: nothing is missing. */
bool fit_lack(const struct space *place, const struct request *request, struct lack *ret);

/* The part of `total` (the node's cpu or memory) that belongs to `slots_milli` of the node's slots, rounded
 * down for each slot. */
int64_t fit_part(int64_t total, const struct node *node, int64_t slots_milli);

/* How many instances that get this grant stay within the amounts of slots, cpu and memory, at most `count`. */
uint32_t fit_within(const struct vector *amounts, const struct grant *grant, uint32_t count);
