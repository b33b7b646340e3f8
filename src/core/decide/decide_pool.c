/* decide_pool.c - decisions about pools: create, edit, defaults.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/str.h"
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
#include "core/state/fallback.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static const char default_name[] = POOL_DEFAULT_NAME;

/* Does the spec give the pool `default` a selector? The pool `default` takes the nodes that no selector matches, so it may have
 * none. */
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
    const struct pool *pool = query_pool_named(core, spec->name);
    if (pool != NULL && pool->life.phase == PHASE_DELETE) {
        const enum verdict verdict = decide_life_refuse(step, pool);
        (void)str_copy(step->out->refusal.text, sizeof step->out->refusal.text, spec->name);
        return verdict;
    }
    if (pool != NULL) {
        step_refuse(step, REASON_EXISTS, spec->name);
        return VERDICT_CONFLICT;
    }
    if (core->pool_count >= POOLS_MAX || core->pools.last >= UINT32_MAX) {
        return step_refuse_limit(step, "pools", POOLS_MAX);
    }
    enum verdict verdict = decide_flavor_pool(step, NULL, spec);
    if (verdict == VERDICT_OK) {
        verdict = decide_network_named(step, spec->network);
    }
    if (verdict == VERDICT_OK) {
        verdict = decide_access_guests(step, NULL, 0, &spec->guests, &spec->guest_count);
    }
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    struct fact *fact = step_fact(step, FACT_POOL_SET);
    fact->pool_set.pool.v = (uint32_t)core->pools.last + 1;
    fact->pool_set.spec = spec;
    return VERDICT_OK;
}

enum verdict decide_pool_missing(struct step *step)
{
    step_refuse(step, REASON_UNKNOWN_OBJECT, "pool")->pool = step->in->pool.pool;
    return VERDICT_NOT_FOUND;
}

enum verdict decide_pool_in_use(struct step *step, const struct pool *pool, uint32_t count)
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
        return decide_pool_missing(step);
    }
    must(!pool->deleted);
    if (pool->life.phase == PHASE_DELETE) {
        return decide_life_refuse(step, pool);
    }
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
        return decide_pool_in_use(step, pool, pool->launch_count);
    }
    const enum verdict allowed = decide_flavor_pool(step, pool, spec);
    if (allowed != VERDICT_OK) {
        return allowed;
    }
    struct pool_spec now;
    query_pool_spec(core, pool->id, step->out->arena, &now);
    if (pool->provider == POOL_EC2 && pool->launch_count > 0 &&
        (strcmp(now.ec2_region, spec->ec2_region) != 0 ||
         strcmp(now.ec2_endpoint, spec->ec2_endpoint) != 0)) {
        return decide_pool_in_use(step, pool, pool->launch_count); /* the machines are there */
    }
    enum verdict named =
        decide_access_guests(step, now.guests, now.guest_count, &spec->guests, &spec->guest_count);
    if (named == VERDICT_OK) {
        named = decide_network_named(step, spec->network);
    }
    if (named != VERDICT_OK) {
        return named;
    }
    task_id first = {0};
    const uint32_t away =
        step->in->pool.force ? 0 : decide_access_turned_away(core, pool, spec, &first);
    if (away > 0) {
        const enum verdict verdict = decide_pool_in_use(step, pool, away);
        step->out->refusal.task = first;
        return verdict;
    }
    struct fact *fact = step_fact(step, FACT_POOL_SET);
    const pool_id id = pool->id;
    fact->pool_set.pool = id;
    fact->pool_set.spec = spec;
    return spec->zone_count > 0 ? decide_scale_zones(step, id) : VERDICT_OK;
}

enum verdict decide_pool_defaults(struct step *step)
{
    const char *const *pools = step->in->defaults.pools;
    bool same = true;
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        const struct pool *pool = query_pool_named(step->core, pools[i]);
        if (pool == NULL) {
            step_refuse(step, REASON_UNKNOWN_POOL, pools[i]);
            return VERDICT_NOT_FOUND;
        }
        if (pool->life.phase == PHASE_DELETE) {
            return decide_life_refuse(step, pool);
        }
        same = same && strcmp(query_default_pool(step->core, (enum pool_default)i), pools[i]) == 0;
    }
    if (!same) {
        struct fact *fact = step_fact(step, FACT_DEFAULTS_SET);
        memcpy(fact->defaults_set.pools, pools, sizeof fact->defaults_set.pools);
    }
    return VERDICT_OK;
}
