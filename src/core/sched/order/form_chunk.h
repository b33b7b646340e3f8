/* form_chunk.h - the instances of a gang with a form that are placed next. A gang below its minimum needs all missing instances of the
 * minimum together. A gang with its minimum grows by a group or by one instance (form_grow.h). Where several choices exist, the
 * scheduler tries one after the other until a choice finds its places.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/node.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <stdint.h>

/* The node of each instance of a task by the state: the node of its claim, or the node on which the instance runs and stays. NULL: the
 * instance has no such node. The array is in the arena. */
const struct node **form_chunk_at(const struct core *core, const struct task *task,
                                  struct arena *arena);

/* Writes the indices of the next instances, ascending, to `ret`, which has room for all instances of the task. `choice` counts from 0.
 * `at`, made by place_form_known(), has the node of each instance that has a place. Returns the number of indices. The result 0 means
 * that there is no such choice. A choice for which too few instances wait, because others are still leaving, does not count. */
uint32_t form_chunk(const struct core *core, const struct task *task, const struct node *const *at,
                    uint32_t choice, uint32_t *ret);

/* What the next instances of a task request. A task with groups takes the first choice of form_chunk(). A task without groups takes
 * `count` instances. form_chunk_later_amounts() answers for the moment when `added` more instances have their places. */
void form_chunk_next_amounts(const struct core *core, const struct task *task, uint32_t count,
                             enum slots_bound bound, struct vector *ret);
void form_chunk_later_amounts(const struct core *core, const struct task *task, uint32_t added,
                              uint32_t count, enum slots_bound bound, struct vector *ret);

/* The sum of the requests of these instances. */
void form_chunk_amounts(const struct core *core, const struct task *task, const uint32_t *indices,
                        uint32_t count, enum slots_bound bound, struct vector *ret);
