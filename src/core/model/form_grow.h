/* form_grow.h - how an elastic gang grows and shrinks, group by group and instance by instance.
 *
 *   below the minimum ─▶ everything that the minimum lacks, together
 *   growing: one more group with its minimum, then one more … then one more instance of the least filled group …
 *   shrinking: one instance of the fullest group … then a group that is not needed … then the whole gang
 *
 * All functions compute from the number of instances that each leaf has.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* The most orders in which groups are tried to reach a gang's minimum, where not all groups are needed. */
enum { FORM_CHOICES_MAX = 16 };

/* How many instances each leaf has, by the leaf's group number. */
struct form_have {
    uint32_t at[TASK_GROUPS_MAX + 1];
};

/* Does a group of the form need fewer than all of its instances or groups? Always false for a form without
 * groups. */
bool form_grow_elastic(const struct form *form);

/* Does the gang have its minimum? */
bool form_grow_whole(const struct form *form, const struct form_have *have);

/* The next broken group behind `after` (group_count: the first one). A broken group is below its minimum
 * while some of its instances stay. Groups inside a broken group are skipped. Result 0: the gang itself is
 * broken. Result group_count: no group is broken. */
uint32_t form_grow_broken(const struct form *form, const struct form_have *have,
                          const struct form_have *stays, uint32_t after);

/* How the gang may grow next: `ret` has the instances to add to each leaf, all at once. `choice` 0 is the
 * best choice, 1 the second and so on. False: there is no such choice. */
bool form_grow_next(const struct form *form, const struct form_have *have, uint32_t choice,
                    struct form_have *ret);

/* What a gang that has its minimum gives up first: `ret` has the instances of each leaf, at most as many as
 * in `stays`, all from the group `*ret_group`. False: nothing is above the minimum. */
bool form_grow_shrink(const struct form *form, const struct form_have *have,
                      const struct form_have *stays, struct form_have *ret, uint32_t *ret_group);
