/* decide_pool.c - pools.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/limits.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static const char default_name[] = POOL_DEFAULT_NAME;

enum verdict decide_pool_create(struct step *step)
{
    const struct core *core = step->core;
    const struct pool_spec *spec = step->in->pool.spec;
    const char *limit;
    int64_t max;
    if (!spec_limits_pool(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    if (query_pool_named(core, spec->name) != NULL) {
        step_refuse(step, REASON_EXISTS, spec->name);
        return VERDICT_CONFLICT;
    }
    if (core->pool_count >= POOLS_MAX || core->pools.last >= UINT32_MAX) {
        return step_refuse_limit(step, "pools", POOLS_MAX);
    }
    struct fact *fact = step_fact(step, FACT_POOL_SET);
    fact->pool_set.pool.v = (uint32_t)core->pools.last + 1;
    fact->pool_set.spec = spec;
    return VERDICT_OK;
}

static enum verdict pool_missing(struct step *step)
{
    step_refuse(step, REASON_UNKNOWN_OBJECT, "pool")->pool = step->in->pool.pool;
    return VERDICT_NOT_FOUND;
}

static enum verdict pool_in_use(struct step *step, const struct pool *pool, uint32_t count)
{
    struct reason *reason = step_refuse(step, REASON_IN_USE, query_pool_name(step->core, pool->id));
    reason->pool = pool->id;
    reason->need = count;
    return VERDICT_CONFLICT;
}

/* Tasks of a pool whose kind is not among `accepts`. A look at every task, for a rare edit. */
static uint32_t tasks_turned_away(const struct core *core, pool_id pool, uint32_t accepts)
{
    uint32_t count = 0;
    if (accepts == 0) {
        return 0;
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        count += task->pool.v == pool.v && (accepts >> task->kind & 1) == 0;
    }
    return count;
}

enum verdict decide_pool_edit(struct step *step)
{
    const struct core *core = step->core;
    const struct pool *pool = query_pool(core, step->in->pool.pool);
    if (pool == NULL) {
        return pool_missing(step);
    }
    struct pool_spec *spec = arena_new(step->out->arena, struct pool_spec, 1);
    *spec = *step->in->pool.spec;
    spec->name = arena_str(step->out->arena, query_pool_name(core, pool->id)); /* never renamed */
    const char *limit;
    int64_t max;
    if (!spec_limits_pool(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    uint32_t away = spec->accepts != pool->accepts && !step->in->pool.force
                        ? tasks_turned_away(core, pool->id, spec->accepts)
                        : 0;
    if (away > 0) {
        return pool_in_use(step, pool, away);
    }
    struct fact *fact = step_fact(step, FACT_POOL_SET);
    fact->pool_set.pool = pool->id;
    fact->pool_set.spec = spec;
    return VERDICT_OK;
}

enum verdict decide_pool_delete(struct step *step)
{
    const struct pool *pool = query_pool(step->core, step->in->pool.pool);
    if (pool == NULL) {
        return pool_missing(step);
    }
    if (strcmp(query_pool_name(step->core, pool->id), default_name) == 0) {
        step_refuse(step, REASON_WRONG_STATE, default_name)->pool = pool->id;
        return VERDICT_CONFLICT; /* it always exists */
    }
    if (pool->node_count > 0) {
        return pool_in_use(step, pool, pool->node_count);
    }
    if (pool->task_count > 0 && !step->in->pool.force) {
        return pool_in_use(step, pool, pool->task_count);
    }
    step_fact(step, FACT_POOL_DELETED)->pool_deleted.pool = pool->id;
    return VERDICT_OK;
}
