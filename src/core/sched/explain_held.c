/* explain_held.c - quota that is kept for one ahead in the same project.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain_internal.h"
#include "core/sched/bound_above.h"
#include "core/sched/first_bound.h"
#include "core/sched/form_chunk.h"
#include "core/sched/rights.h"

void look_held(struct look *look)
{
    const struct okey key = key_account_queue(look->task);
    struct vector amounts;
    bool any;
    form_next_amounts(look->core, look->task, look->count, SLOTS_LEAST, &amounts);
    look->held = first_bound_ahead(&look->trial, look->task, &amounts, &any);
    look->held =
        look->held != NULL ? look->held : rights_held(&look->trial, look->task, &key, &amounts);
    const struct bounds_above *above = bounds_above_find(&look->trial, INT64_MAX);
    look->held = look->held != NULL
                     ? look->held
                     : bounds_above_holder(&look->trial, above, look->task, VIEW_NOW, &amounts);
    look->behind |= any || bounds_above_any(&look->trial, above, look->task);
}
