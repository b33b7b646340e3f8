/* empty_nodes.h - a nodeset of nodes as if nothing ran on them. The nodeset tells whether a gang with a form could ever be placed, and
 * for which nodes the gang should wait.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/form.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/sched/place/nodeset.h"
#include "core/state/state.h"

#include <stdint.h>

enum empty_nodes_of {
    EMPTY_NODES_JOINED, /* every node that joined and was not removed */
    EMPTY_NODES_USABLE, /* only nodes that may take work */
};

/* Makes a nodeset of empty nodes in the arena. `at` has the node of each instance, as in struct nodeset. NULL: no instance has a place. */
struct nodeset *empty_nodes_new(const struct core *core, const struct pool *pool,
                                const struct form *form, const struct node **at,
                                enum empty_nodes_of of, struct arena *arena);

/* Orders nodes and domains by how long a task would wait for them. `age` says when the newest running instance began that must end on
 * a node before the request fits there. An age of 0 means that no instance must end. */
typedef int64_t (*empty_nodes_age_fn)(void *context, const struct request *request,
                                      const struct node *node);
void empty_nodes_by_age(struct nodeset *empty_nodes, empty_nodes_age_fn age, void *context);
