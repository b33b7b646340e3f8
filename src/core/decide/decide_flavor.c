/* decide_flavor.c - decisions about flavors: create, edit, delete; and whether a pool may have a flavor.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/ec2_subnet.h"
#include "core/model/flavor.h"
#include "core/model/object.h"
#include "core/model/pool_zones.h"
#include "core/model/reason.h"
#include "core/model/spec_limits.h"
#include "core/model/table.h"
#include "core/model/verdict.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static enum verdict flavor_missing(struct step *step)
{
    step_refuse(step, REASON_UNKNOWN_OBJECT, "flavor");
    return VERDICT_NOT_FOUND;
}

static enum verdict new_check(struct step *step, const struct flavor_spec *spec)
{
    const struct core *core = step->core;
    if (query_flavor_named(core, spec->name) != NULL) {
        step_refuse(step, REASON_EXISTS, spec->name);
        return VERDICT_CONFLICT;
    }
    if (core->flavors.count >= FLAVORS_MAX || core->flavors.last >= UINT32_MAX) {
        return step_refuse_limit(step, "flavors", FLAVORS_MAX);
    }
    return VERDICT_OK;
}

/* What a node is does not change while such nodes exist or are on their way. */
static enum verdict edit_check(struct step *step, const struct flavor *flavor,
                               const struct flavor_spec *spec)
{
    struct flavor_spec now;
    query_flavor_spec(step->core, flavor->id, step->out->arena, &now);
    if (now.provider == spec->provider && now.slots == spec->slots && now.gpus == spec->gpus &&
        now.cpu_milli == spec->cpu_milli && now.memory_bytes == spec->memory_bytes &&
        now.spot == spec->spot && strcmp(now.native, spec->native) == 0) {
        return VERDICT_OK;
    }
    for (const struct pool *pool = query_flavor_pool_next(step->core, flavor->id, (pool_id){0});
         pool != NULL; pool = query_flavor_pool_next(step->core, flavor->id, pool->id)) {
        if (pool->launch_count > 0) {
            struct reason *reason = step_refuse(step, REASON_FLAVOR_FIXED, now.name);
            reason->pool = pool->id;
            reason->need = pool->launch_count;
            return VERDICT_CONFLICT;
        }
        if (spec->provider != (enum pool_provider)pool->provider) {
            step_refuse(step, REASON_FLAVOR_PROVIDER, now.name)->pool = pool->id;
            return VERDICT_CONFLICT;
        }
    }
    return VERDICT_OK;
}

/* Does the pool name a subnet for each zone of the flavor? A pool without subnets does, too: each zone has a default subnet. */
static bool subnets_fit(const struct flavor_spec *flavor, const struct pool_spec *pool)
{
    for (uint32_t i = 0; pool->ec2_subnet_count > 0 && i < flavor->zone_count; i++) {
        if (flavor->zones[i][0] != '\0' && ec2_subnet_in(pool, flavor->zones[i]) == NULL) {
            return false;
        }
    }
    return true;
}

/* Has the flavor each zone in which the pool has nodes? */
static enum verdict zones_check(struct step *step, const struct flavor_spec *flavor,
                                const struct pool_spec *pool, pool_id id)
{
    char zone[NAME_LEN_MAX + 1];
    uint32_t count;
    for (uint32_t i = 0; i < pool->zone_count; i++) {
        bool known = false;
        must(pool_zones_read(pool->zones[i], zone, &count));
        for (uint32_t j = 0; flavor != NULL && j < flavor->zone_count; j++) {
            known |= strcmp(flavor->zones[j], zone) == 0;
        }
        if (!known) {
            step_refuse(step, REASON_UNKNOWN_ZONE, zone)->pool = id;
            return id.v != 0 ? VERDICT_CONFLICT : VERDICT_REFUSED;
        }
    }
    return VERDICT_OK;
}

/* The new zones of a flavor must suit its pools: each zone with a number of nodes stays, and each zone has a subnet. */
static enum verdict pools_check(struct step *step, const struct flavor *flavor,
                                const struct flavor_spec *spec)
{
    const struct core *core = step->core;
    for (const struct pool *pool = query_flavor_pool_next(core, flavor->id, (pool_id){0});
         pool != NULL; pool = query_flavor_pool_next(core, flavor->id, pool->id)) {
        struct pool_spec of;
        query_pool_spec(core, pool->id, step->out->arena, &of);
        if (spec->provider == POOL_EC2 && !subnets_fit(spec, &of)) {
            step_refuse(step, REASON_FLAVOR_SUBNETS, spec->name)->pool = pool->id;
            return VERDICT_CONFLICT;
        }
        const enum verdict verdict = zones_check(step, spec, &of, pool->id);
        if (verdict != VERDICT_OK) {
            return verdict;
        }
    }
    return VERDICT_OK;
}

enum verdict decide_flavor_set(struct step *step)
{
    const struct core *core = step->core;
    const flavor_id id = step->in->flavor.flavor;
    const struct flavor *flavor = query_flavor(core, id);
    if (id.v != 0 && flavor == NULL) {
        return flavor_missing(step);
    }
    struct flavor_spec *spec = arena_new(step->out->arena, struct flavor_spec, 1);
    *spec = *step->in->flavor.spec;
    if (flavor != NULL) { /* the name of a flavor never changes */
        spec->name = arena_str(step->out->arena, query_flavor_name(core, id));
    }
    const char *limit;
    int64_t max;
    if (!spec_limits_flavor(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    enum verdict verdict = flavor == NULL ? new_check(step, spec) : edit_check(step, flavor, spec);
    if (verdict == VERDICT_OK && flavor != NULL) {
        verdict = pools_check(step, flavor, spec);
    }
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    struct fact *fact = step_fact(step, FACT_FLAVOR_SET);
    fact->flavor_set.flavor = flavor != NULL ? id : (flavor_id){(uint32_t)core->flavors.last + 1};
    fact->flavor_set.spec = spec;
    return VERDICT_OK;
}

enum verdict decide_flavor_delete(struct step *step)
{
    const struct flavor *flavor = query_flavor(step->core, step->in->flavor.flavor);
    if (flavor == NULL) {
        return flavor_missing(step);
    }
    if (flavor->pool_count > 0) {
        struct reason *reason =
            step_refuse(step, REASON_FLAVOR_USED, query_flavor_name(step->core, flavor->id));
        reason->pool = query_flavor_pool_next(step->core, flavor->id, (pool_id){0})->id;
        reason->need = flavor->pool_count;
        return VERDICT_CONFLICT;
    }
    step_fact(step, FACT_FLAVOR_DELETED)->flavor_deleted.flavor = flavor->id;
    return VERDICT_OK;
}

/* One memory of sold-out zones serves all pools of a flavor, so the pools must be in one region. */
static enum verdict ec2_check(struct step *step, const struct pool *pool,
                              const struct flavor *flavor, const struct pool_spec *spec)
{
    const struct core *core = step->core;
    struct flavor_spec of;
    query_flavor_spec(core, flavor->id, step->out->arena, &of);
    if (!subnets_fit(&of, spec)) {
        step_refuse(step, REASON_FLAVOR_SUBNETS, of.name);
        return VERDICT_REFUSED;
    }
    for (const struct pool *at = query_flavor_pool_next(core, flavor->id, (pool_id){0}); at != NULL;
         at = query_flavor_pool_next(core, flavor->id, at->id)) {
        struct pool_spec other;
        if (pool != NULL && at->id.v == pool->id.v) {
            continue;
        }
        query_pool_spec(core, at->id, step->out->arena, &other);
        if (strcmp(other.ec2_region, spec->ec2_region) != 0 ||
            strcmp(other.ec2_endpoint, spec->ec2_endpoint) != 0) {
            step_refuse(step, REASON_FLAVOR_REGION, of.name)->pool = at->id;
            return VERDICT_REFUSED;
        }
    }
    return VERDICT_OK;
}

enum verdict decide_flavor_pool(struct step *step, const struct pool *pool,
                                const struct pool_spec *spec)
{
    const char *name = spec->flavor != NULL ? spec->flavor : "";
    const struct flavor *flavor = name[0] != '\0' ? query_flavor_named(step->core, name) : NULL;
    if (name[0] != '\0' && flavor == NULL) {
        step_refuse(step, REASON_UNKNOWN_FLAVOR, name);
        return VERDICT_REFUSED;
    }
    if (flavor != NULL && flavor->provider != spec->provider) {
        step_refuse(step, REASON_FLAVOR_PROVIDER, name);
        return VERDICT_REFUSED;
    }
    const flavor_id id = flavor != NULL ? flavor->id : (flavor_id){0};
    if (pool != NULL && pool->flavor.v != id.v && pool->launch_count > 0) {
        struct reason *reason = step_refuse(step, REASON_FLAVOR_FIXED, name);
        reason->pool = pool->id;
        reason->need = pool->launch_count;
        return VERDICT_CONFLICT;
    }
    struct flavor_spec of;
    if (flavor != NULL) {
        query_flavor_spec(step->core, flavor->id, step->out->arena, &of);
    }
    const enum verdict verdict = zones_check(step, flavor != NULL ? &of : NULL, spec, (pool_id){0});
    return verdict == VERDICT_OK && flavor != NULL && spec->provider == POOL_EC2
               ? ec2_check(step, pool, flavor, spec)
               : verdict;
}
