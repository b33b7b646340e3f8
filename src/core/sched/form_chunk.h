/* form_chunk.h - which instances of a gang with a form are to be placed next: all that are missing of its minimum, of all groups
 * together; then one more.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core_internal.h"

/* Where each instance of a task is or will be, as far as the state says; NULL: nowhere. */
const struct node **form_at(const struct core *core, const struct task *task, struct arena *arena);

/* Those instances, ascending, into `ret` (room for all of the task); returns how many, 0: none is missing. `at` says which have a
 * place (place_known). */
uint32_t form_chunk(const struct core *core, const struct task *task, const struct node *const *at,
                    uint32_t *ret);

/* What the next instances of any task ask for; of one without a form: `count` of them. */
void form_next_amounts(const struct core *core, const struct task *task, uint32_t count,
                       enum slots_bound bound, struct vector *ret);

/* All that these instances ask for. */
void form_amounts(const struct core *core, const struct task *task, const uint32_t *indices,
                  uint32_t count, enum slots_bound bound, struct vector *ret);
