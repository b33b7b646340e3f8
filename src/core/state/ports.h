/* ports.h - the port at which the instances of a gang meet (MASTER_PORT). Instance 0 holds it on its node, from its allocation
 * until its end. No two allocations of a node hold the same port.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/task.h"
#include "core/state/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The range of each node lies below the ports of programs that people reach through the server (WEIR_PORT) and below those that
 * Linux gives to outgoing connections. */
enum {
    PORTS_MASTER_FIRST = 18000,
    PORTS_MASTER_COUNT = 2000,
    PORTS_MASTER_LAST = PORTS_MASTER_FIRST + PORTS_MASTER_COUNT - 1,
};

struct arena;
struct ports_entry;

/* Ports that were given to allocations which are not in the state yet: a hash table, so that many gangs of one pass cost no more each
 * than one gang. */
struct ports_given {
    struct ports_entry *at;
    size_t size; /* a power of two */
};

/* Does this instance hold the port of its task? */
bool ports_holder(const struct task *task, uint32_t index);

/* An empty table for at most `count` ports. The arena owns it. */
struct ports_given ports_given_make(struct arena *arena, size_t count);

void ports_given_add(struct ports_given *given, node_id node, uint32_t port);

/* The port for a task whose instance 0 gets a place on the node: by the task's number, else the next that neither an allocation
 * of the node nor `given` (NULL: none) holds. So tasks on nodes that are one machine differ as well, and a port that falls free is
 * not given again at once. 0: all are held. */
uint32_t ports_pick(const struct core *core, node_id node, task_id task,
                    const struct ports_given *given);

/* The port at which the instances of a gang meet. An allocation without a port (an older Weir made it, or all ports of its node
 * are held) meets at one above the range, by the task's number, as all did before. */
uint32_t ports_master(const struct core *core, const struct task *task);

/* Have only instances that may hold ports those of the node, and no two the same? */
bool ports_sound(const struct core *core, node_id node);
