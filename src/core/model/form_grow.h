/* form_grow.h - how a gang whose groups need not have all of theirs comes and goes.
 *
 *   below its minimum ─▶ all that is missing of it, together
 *   whole ─▶ a group more, whole ─▶ … ─▶ an instance more of the group that has least above its minimum ─▶ …
 *   and back: an instance of the group that has most above its minimum, then a group that is not needed, then the gang
 *
 * Pure arithmetic on how many instances of each leaf there are.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* Orders in which groups of which not all are needed are tried for the minimum of a gang. */
enum { FORM_CHOICES_MAX = 16 };

/* Instances by leaf (the number of its group). */
struct form_have {
    uint32_t at[TASK_GROUPS_MAX + 1];
};

/* Are there groups of which not all is needed? */
bool form_grow_elastic(const struct form *form);

/* Is the minimum met? */
bool form_grow_whole(const struct form *form, const struct form_have *have);

/* The next group behind `after` (group_count: the first) that lacks something while some of it stay; those within it are passed by.
 * The first of all (0): the gang itself is broken. group_count: none is. */
uint32_t form_grow_broken(const struct form *form, const struct form_have *have,
                          const struct form_have *stays, uint32_t after);

/* What may come next, the first choice (0), the second and so on: how many more of each leaf, all together. False: there is no such
 * choice. */
bool form_grow_next(const struct form *form, const struct form_have *have, uint32_t choice,
                    struct form_have *ret);

/* What of a whole gang goes first: so many of each leaf, at most those of `stays`, all of one group (`*ret_group`). False: nothing is
 * above the minimum. */
bool form_grow_shrink(const struct form *form, const struct form_have *have,
                      const struct form_have *stays, struct form_have *ret, uint32_t *ret_group);
