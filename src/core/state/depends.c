/* depends.c - see depends.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/depends.h"

#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/state/key.h"
#include "core/state/state.h"

bool depends_twice(const struct task_spec *spec, uint32_t i)
{
    uint32_t first = 0;
    while (spec->depends_on[first] != spec->depends_on[i] ||
           (spec->depends_any >> first & 1) != (spec->depends_any >> i & 1)) {
        first++;
    }
    return first < i;
}

bool depends_first(const struct core *core, task_id dependency, struct okey *ret)
{
    return oindex_from(&core->orders[ORDER_DEPENDENT], (struct okey){{dependency.v}}, ret) &&
           ret->at[0] == dependency.v;
}

bool depends_freed(struct okey key, enum task_state state)
{
    return state == TASK_COMPLETED || key.at[1] == DEPENDS_ANY;
}
