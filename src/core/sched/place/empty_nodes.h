/* empty_nodes.h - nodes as if nothing ran on them: could a gang with a form ever be placed, and where would it wait?
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
    EMPTY_NODES_USABLE, /* those that may take work */
};

/* A ground of empty nodes in the arena. `at`: see struct ground; NULL: nothing has its place yet. */
struct nodeset *empty_nodes_new(const struct core *core, const struct pool *pool,
                                const struct form *form, const struct node **at,
                                enum empty_nodes_of of, struct arena *arena);

/* Nodes and domains are taken by how long one would wait for them: `age` says when the newest instance that would have to end on a
 * node began (0: none has to). */
typedef int64_t (*empty_nodes_age_fn)(void *context, const struct request *request,
                                      const struct node *node);
void empty_nodes_by_age(struct nodeset *empty_nodes, empty_nodes_age_fn age, void *context);
