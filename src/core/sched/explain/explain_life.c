/* explain_life.c - see explain_life.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain_life.h"

#include "core/state/access.h"

#include "base/str.h"
#include "core/model/names.h"
#include "core/state/life.h"

bool explain_life(const struct pool *pool, struct reason *ret)
{
    struct pool_standing now;
    if (pool->life.phase == PHASE_OPEN) {
        return false;
    }
    life_standing(pool, &now);
    *ret = (struct reason){.pool = pool->id, .smallest = -1};
    if (pool->life.phase == PHASE_DELETE) {
        ret->code = REASON_POOL_DELETED;
        return true;
    }
    ret->code = REASON_POOL_CLOSED;
    (void)str_copy(ret->text, sizeof ret->text, names_pool_state((enum pool_state)now.state));
    return true;
}

void explain_life_turned_away(const struct core *core, const struct task *task,
                              const struct pool *pool, struct reason *ret)
{
    if (access_admits(core, pool, (enum task_kind)task->kind, task->account, ret)) {
        ret->code = REASON_NOT_ADMITTED;
        ret->account = task->account;
    }
}
