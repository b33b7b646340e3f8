/* form_chunk.h - which instances of a gang with a form are to be placed next: all that are missing of its minimum, of all groups
 * together; then a group more, or one more (form_grow.h). There may be several choices: each is tried until one finds its places.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "core/model/node.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <stdint.h>

/* Where each instance of a task is or will be, as far as the state says; NULL: nowhere. */
const struct node **form_chunk_at(const struct core *core, const struct task *task,
                                  struct arena *arena);

/* Those instances, ascending, into `ret` (room for all of the task), for the first choice (0), the second and so on; returns how many,
 * 0: there is no such choice. `at` says which have a place (place_form_known). */
uint32_t form_chunk(const struct core *core, const struct task *task, const struct node *const *at,
                    uint32_t choice, uint32_t *ret);

/* What the next instances of any task ask for, by the first choice; of one without groups: `count` of them. The same once `added` of
 * it have got their places. */
void form_chunk_next_amounts(const struct core *core, const struct task *task, uint32_t count,
                             enum slots_bound bound, struct vector *ret);
void form_chunk_later_amounts(const struct core *core, const struct task *task, uint32_t added,
                              uint32_t count, enum slots_bound bound, struct vector *ret);

/* All that these instances ask for. */
void form_chunk_amounts(const struct core *core, const struct task *task, const uint32_t *indices,
                        uint32_t count, enum slots_bound bound, struct vector *ret);
