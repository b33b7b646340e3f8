/* apply_fallback.c - the fact that a further pool of a task is open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/apply.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"

void apply_fallback_opened(struct core *core, const struct fact *fact)
{
    struct task_mark mark;
    struct task *task = change_task_open(core, fact->pool_opened.task, &mark);
    fallback_open(core, task, fact->pool_opened.pool, fact->pool_opened.why);
    change_task_close(core, task, &mark);
}
