/* space.h - what is free on a node, as a step changes it.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/resource.h"

#include <stdint.h>

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

/* Where the node keeps this named resource; its named_count: nowhere. */
uint32_t space_named_index(const struct node *node, resource_id resource);
