/* fit.h - does an instance with this request fit this node, now or ever, and what would it hold
 * there? Plain arithmetic on one node; knows nothing of queues.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/reason.h"

#include <stdbool.h>

/* What is free on a node, as far as a step has come. The arrays are the node's own or a step's
 * copies: `named_free` has node->named_count elements, `device_free` node->device_count. */
struct space {
    const struct node *node;
    int64_t slots_free;
    int64_t cpu_free;
    int64_t memory_free;
    uint32_t aux_used;
    const int64_t *named_free;
    const uint16_t *device_free;
};

/* Arrays for a place that is not the node's own state. */
struct space_room {
    int64_t named_free[NODE_RESOURCES_MAX];
    uint16_t device_free[NODE_DEVICES_MAX];
};

/* What an instance holds beside the named amounts of its request. */
struct grant {
    uint64_t devices;
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

/* The first thing that is missing. */
struct lack {
    enum reason_code code;
    resource_id resource;
    int64_t wanted;
    int64_t available;
};

/* The node as the state has it; borrows its arrays. */
void space_now(const struct node *node, struct space *ret);

/* The node as if nothing ran on it. */
void space_empty(const struct node *node, struct space_room *room, struct space *ret);

/* A copy of `from` whose arrays are in `room`, so that it can be taken from. */
void space_copy(const struct space *from, struct space_room *room, struct space *ret);

/* An instance takes what it was granted, or gives it back. `room` holds the arrays of `place`. */
void space_take(struct space *place, struct space_room *room, const struct request *request,
                const struct grant *grant);
void space_give(struct space *place, struct space_room *room, const struct request *request,
                const struct grant *grant);

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
