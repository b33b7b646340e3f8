/* decide_fallback.c - tasks that name several pools: where such a task is considered first, and when time or a loss opens
 * its next pool. sched/open.c opens pools after a pass.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/fallback.h"
#include "core/model/form.h"
#include "core/model/task.h"
#include "core/model/task_parts.h"
#include "core/sched/explain/explain.h"
#include "core/state/access.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/query.h"

#include <string.h>

/* Could the task ever run in the pool? */
static bool runs_in(struct step *step, const struct pool *pool, const struct task_spec *spec,
                    account_id account, const struct request *request)
{
    struct request own = *request;
    struct reason reason = {.smallest = -1};
    const struct form *form = NULL;
    uint32_t group;
    if (!access_open(step->core, pool, spec->kind, account)) {
        return false;
    }
    spec = decide_spread(step, pool, spec, &own);
    if (task_parts_groups_said(spec)) {
        /* What cannot be resolved is refused for any pool. */
        return decide_form_resolve(step, spec, &own, &form) != VERDICT_OK || form == NULL ||
               explain_form_possible(step->core, pool, form, &reason, &group);
    }
    return explain_possible(step->core, pool, &own, decide_submit_gang_size(spec), &reason);
}

const struct pool *decide_fallback_first(struct step *step, const struct task_spec *spec,
                                         account_id account, const struct request *request)
{
    const struct pool *first = query_pool_named(step->core, spec->pools[0]);
    must(first != NULL);
    for (uint32_t i = 0; i < spec->pool_count; i++) {
        const struct pool *pool = query_pool_named(step->core, spec->pools[i]);
        must(pool != NULL);
        if (runs_in(step, pool, spec, account, request)) {
            return pool;
        }
    }
    return first;
}

static void opened(struct step *step, const struct core *core, const struct task *task,
                   enum fallback_why why)
{
    const struct fallback *list = fallback_of(core, task);
    const uint32_t next = fallback_next(core, list);
    if (next < list->count) {
        const pool_id pool = list->pools[next];
        struct fact *fact = step_fact(step, FACT_POOL_OPENED);
        fact->pool_opened.task = task->id;
        fact->pool_opened.pool = pool;
        fact->pool_opened.why = why;
    }
}

void decide_fallback_waited(struct step *step, const struct core *core, task_id id)
{
    const struct task *task = query_task(core, id);
    must(task != NULL);
    must(task->listed);
    opened(step, core, task, FALLBACK_AFTER);
}

void decide_fallback_lost(struct step *step, const struct core *core, const struct task *task)
{
    const struct fallback *list = fallback_of(core, task);
    if (list != NULL && (list->on & FALLBACK_ON_LOST) != 0 && task->pool_next.v == 0 &&
        list->pools[list->opened - 1].v == task->pool.v) {
        opened(step, core, task, FALLBACK_LOST);
    }
}
