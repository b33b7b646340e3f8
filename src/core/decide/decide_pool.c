/* decide_pool.c - decisions about pools: create, edit, delete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
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

/* Is there a selector on the pool `default`? It takes the nodes that no selector matches. */
static bool selector_out_of_place(const struct pool_spec *spec)
{
    return spec->selector_count > 0 && strcmp(spec->name, default_name) == 0;
}

enum verdict decide_pool_create(struct step *step)
{
    const struct core *core = step->core;
    struct pool_spec *spec =
        arena_dup(step->out->arena, step->in->pool.spec, sizeof *step->in->pool.spec);
    must(core->pool_count <= core->pools.last);
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
    const enum verdict named = decide_access_guests(step, NULL, spec);
    if (named != VERDICT_OK) {
        return named;
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

enum verdict decide_pool_edit(struct step *step)
{
    const struct core *core = step->core;
    const struct pool *pool = query_pool(core, step->in->pool.pool);
    if (pool == NULL) {
        return pool_missing(step);
    }
    must(!pool->deleted);
    struct pool_spec *spec = arena_new(step->out->arena, struct pool_spec, 1);
    *spec = *step->in->pool.spec;
    /* the name of a pool never changes */
    spec->name = arena_str(step->out->arena, query_pool_name(core, pool->id));
    const char *limit;
    int64_t max;
    if (!spec_limits_pool(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    if (selector_out_of_place(spec)) {
        return step_refuse_limit(step, "labels in the selector of pool 'default'", 0);
    }
    if (spec->provider != (enum pool_provider)pool->provider && pool->launch_count > 0) {
        return pool_in_use(step, pool, pool->launch_count);
    }
    struct pool_spec now;
    query_pool_spec(core, pool->id, step->out->arena, &now);
    const enum verdict named = decide_access_guests(step, &now, spec);
    if (named != VERDICT_OK) {
        return named;
    }
    task_id first = {0};
    const uint32_t away =
        step->in->pool.force ? 0 : decide_access_turned_away(core, pool, spec, &first);
    if (away > 0) {
        const enum verdict verdict = pool_in_use(step, pool, away);
        step->out->refusal.task = first;
        return verdict;
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
    must(pool->node_count <= step->core->node_count);
    if (strcmp(query_pool_name(step->core, pool->id), default_name) == 0) {
        step_refuse(step, REASON_WRONG_STATE, default_name)->pool = pool->id;
        return VERDICT_CONFLICT; /* the pool `default` always exists */
    }
    if (pool->node_count > 0) {
        return pool_in_use(step, pool, pool->node_count);
    }
    if (pool->launch_count > 0) {
        return pool_in_use(step, pool, pool->launch_count);
    }
    if (pool->task_count > 0 && !step->in->pool.force) {
        return pool_in_use(step, pool, pool->task_count);
    }
    step_fact(step, FACT_POOL_DELETED)->pool_deleted.pool = pool->id;
    return VERDICT_OK;
}

enum verdict decide_pool_defaults(struct step *step)
{
    const char *const *pools = step->in->defaults.pools;
    bool same = true;
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        if (query_pool_named(step->core, pools[i]) == NULL) {
            step_refuse(step, REASON_UNKNOWN_POOL, pools[i]);
            return VERDICT_NOT_FOUND;
        }
        same = same && strcmp(query_default_pool(step->core, (enum pool_default)i), pools[i]) == 0;
    }
    if (!same) {
        struct fact *fact = step_fact(step, FACT_DEFAULTS_SET);
        memcpy(fact->defaults_set.pools, pools, sizeof fact->defaults_set.pools);
    }
    return VERDICT_OK;
}
