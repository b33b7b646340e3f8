/* space.h - what is free on one node while a step places and frees instances.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/resource.h"

#include <stdint.h>

/* What is free on a node, as far as the step has come. The arrays are the node's own arrays or copies of the
 * step. `named_free` has node->named_count elements, `device_free` has node->device_count. */
struct space {
    const struct node *node;
    int64_t slots_free;
    int64_t cpu_free;
    int64_t memory_free;
    uint32_t aux_used;
    uint64_t out; /* devices that are out of service, so that nothing of them is free */
    const int64_t *named_free;
    const uint16_t *device_free;
};

/* Arrays for a space that differs from the node's row. */
struct space_room {
    int64_t named_free[NODE_RESOURCES_MAX];
    uint16_t device_free[NODE_DEVICES_MAX];
};

/* What an instance holds on a node. An instance also holds the named amounts of its request, which are not
 * repeated here. */
struct grant {
    uint64_t devices;
    int64_t slots_milli;
    int64_t cpu_milli;
    int64_t memory_bytes;
};

/* The space of a node as the state has it. The space borrows the arrays of the node's row. */
void space_now(const struct node *node, struct space *ret);

/* The space of a node as if nothing ran there. The arrays are in `room`. space_empty() leaves out
 * devices that are out of service. space_whole() counts them, too, because such devices may come
 * back. */
void space_empty(const struct node *node, struct space_room *room, struct space *ret);
void space_whole(const struct node *node, struct space_room *room, struct space *ret);

/* A copy of `from` whose arrays are in `room`, so that space_take() may change them. */
void space_copy(const struct space *from, struct space_room *room, struct space *ret);

/* Takes the amounts of one instance from a space, or gives them back. `room` must have the arrays of `place`. */
void space_take(struct space *place, struct space_room *room, const struct request *request,
                const struct grant *grant);
void space_give(struct space *place, struct space_room *room, const struct request *request,
                const struct grant *grant);

/* The index of a named resource in the node's arrays; named_count: the node does not have the resource. */
uint32_t space_named_index(const struct node *node, resource_id resource);
