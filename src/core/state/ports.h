/* ports.h - the ports at which the instances of gangs meet (MASTER_PORT). Instance 0 of a gang
 * holds the gang's port on its node from its allocation until its end. No two allocations of a node
 * hold the same port. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The range of ports on each node. The ports of programs that people reach through the server
 * (WEIR_PORT), and the ports that Linux gives to outgoing connections, are higher. */
enum {
    PORTS_MASTER_FIRST = 18000,
    PORTS_MASTER_COUNT = 2000,
    PORTS_MASTER_LAST = PORTS_MASTER_FIRST + PORTS_MASTER_COUNT - 1,
};

struct arena;
struct ports_entry;

/* Ports given to allocations that are not in the state yet. The hash table keeps the cost of one
 * more gang the same, however many gangs one pass starts. */
struct ports_given {
    struct ports_entry *at;
    size_t size; /* a power of two */
};

/* Returns whether this instance of the task holds the port of its gang. */
bool ports_holder(const struct task *task, uint32_t index);

/* Makes an empty table for at most `count` ports, in the arena. */
struct ports_given ports_given_make(struct arena *arena, size_t count);

void ports_given_add(struct ports_given *given, node_id node, uint32_t port);

/* Chooses the port of a gang whose instance 0 gets a place on the node. The search begins at the
 * port of the task's number and takes the first port that no allocation of the node and no entry of
 * `given` (NULL: no entry) holds. So gangs on nodes that share one machine get different ports, and
 * a port that becomes free is not given again at once. Returns 0 if all ports are held. */
uint32_t ports_pick(const struct core *core, node_id node, task_id task,
                    const struct ports_given *given);

/* Returns the port at which the instances of a gang meet. A gang without a port, because an older
 * Weir started it or all ports of its node were held, meets at a port above the range, by the
 * task's number. */
uint32_t ports_master(const struct core *core, const struct task *task);

/* Returns whether only instances that may hold ports of the node hold them, each port at most once. */
bool ports_sound(const struct core *core, node_id node);
