/* decide_network.c - decisions about networks: create, edit, delete; and which network a pool or a task may name.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/label.h"
#include "core/model/network.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/table.h"
#include "core/model/verdict.h"
#include "core/state/access.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static enum verdict network_missing(struct step *step)
{
    step_refuse(step, REASON_UNKNOWN_OBJECT, "network");
    return VERDICT_NOT_FOUND;
}

static enum verdict new_check(struct step *step, const struct network_spec *spec)
{
    const struct core *core = step->core;
    if (network_built_in(spec->name) || query_network_named(core, spec->name) != NULL) {
        step_refuse(step, REASON_EXISTS, spec->name);
        return VERDICT_CONFLICT;
    }
    if (core->networks.count >= NETWORKS_MAX || core->networks.last >= NETWORK_ROW_LAST) {
        return step_refuse_limit(step, "networks", NETWORKS_MAX);
    }
    return VERDICT_OK;
}

/* On a node the ranges of all networks stand side by side. */
static enum verdict range_check(struct step *step, network_id id, const struct network_spec *spec)
{
    const struct core *core = step->core;
    struct network_range range;
    must(network_range_read(spec->range, &range));
    for (const struct network *network = query_network_next(core, (network_id){0}); network != NULL;
         network = query_network_next(core, network->id)) {
        struct network_spec other;
        struct network_range taken;
        query_network_spec(core, network->id, step->out->arena, &other);
        must(network_range_read(other.range, &taken));
        if (network->id.v != id.v && network_ranges_meet(&range, &taken)) {
            step_refuse(step, REASON_NETWORK_RANGE, other.name);
            return VERDICT_CONFLICT;
        }
    }
    return VERDICT_OK;
}

static enum verdict used_check(struct step *step, network_id id)
{
    pool_id pool;
    task_id task;
    const uint32_t uses = query_network_uses(step->core, id, &pool, &task);
    if (uses == 0) {
        return VERDICT_OK;
    }
    struct reason *reason =
        step_refuse(step, pool.v != 0 ? REASON_NETWORK_OF_POOLS : REASON_NETWORK_OF_TASKS,
                    query_network_name(step->core, id));
    reason->pool = pool;
    reason->task = task;
    reason->need = uses;
    return VERDICT_CONFLICT;
}

/* What a network is does not change while somebody uses it: nodes have built it. */
static enum verdict edit_check(struct step *step, network_id id, const struct network_spec *now,
                               const struct network_spec *spec)
{
    return strcmp(now->range, spec->range) == 0 && now->outbound == spec->outbound
               ? VERDICT_OK
               : used_check(step, id);
}

enum verdict decide_network_set(struct step *step)
{
    const struct core *core = step->core;
    const network_id id = step->in->network.network;
    struct network_spec now = {.guest_count = 0};
    if (id.v != 0 && query_network(core, id) == NULL) {
        return network_missing(step);
    }
    struct network_spec *spec = arena_new(step->out->arena, struct network_spec, 1);
    *spec = *step->in->network.spec;
    if (id.v != 0) { /* the name of a network never changes */
        query_network_spec(core, id, step->out->arena, &now);
        spec->name = now.name;
    }
    const char *limit;
    int64_t max;
    if (!spec_limits_network(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    enum verdict verdict = id.v == 0 ? new_check(step, spec) : edit_check(step, id, &now, spec);
    if (verdict == VERDICT_OK) {
        verdict = range_check(step, id, spec);
    }
    if (verdict == VERDICT_OK) {
        verdict = decide_access_guests(step, now.guests, now.guest_count, &spec->guests,
                                       &spec->guest_count);
    }
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    struct fact *fact = step_fact(step, FACT_NETWORK_SET);
    fact->network_set.network = id.v != 0 ? id : (network_id){(uint32_t)core->networks.last + 1};
    fact->network_set.spec = spec;
    return VERDICT_OK;
}

enum verdict decide_network_delete(struct step *step)
{
    const network_id id = step->in->network.network;
    if (query_network(step->core, id) == NULL) {
        return network_missing(step);
    }
    const enum verdict verdict = used_check(step, id);
    if (verdict == VERDICT_OK) {
        step_fact(step, FACT_NETWORK_DELETED)->network_deleted.network = id;
    }
    return verdict;
}

enum verdict decide_network_named(struct step *step, const char *name)
{
    if (name == NULL || name[0] == '\0' || network_built_in(name) ||
        query_network_named(step->core, name) != NULL) {
        return VERDICT_OK;
    }
    step_refuse(step, REASON_UNKNOWN_NETWORK, name);
    return VERDICT_REFUSED;
}

/* May tasks of the project use the network? */
static enum verdict guest_check(struct step *step, network_id id, account_id project)
{
    if (query_network(step->core, id) == NULL) {
        return VERDICT_OK;
    }
    struct network_spec spec;
    query_network_spec(step->core, id, step->out->arena, &spec);
    bool found = spec.guest_count == 0;
    for (uint32_t i = 0; i < spec.guest_count; i++) {
        found |= access_guest_is(step->core, spec.guests[i], project);
    }
    if (!found) {
        step_refuse(step, REASON_NETWORK_GUEST, spec.name)->account = project;
        return VERDICT_REFUSED;
    }
    return VERDICT_OK;
}

/* The network in which tasks of the spec would run in the pool. */
static enum verdict network_in(struct step *step, const struct pool *pool, const char *name,
                               network_id *ret)
{
    *ret = query_network_said(step->core, name);
    if (pool->network.v == 0) {
        *ret = ret->v != 0 ? *ret : NETWORK_ID_HOST;
        return VERDICT_OK;
    }
    if (ret->v != 0 && ret->v != pool->network.v) {
        step_refuse(step, REASON_NETWORK_OF_POOL, query_network_name(step->core, pool->network))
            ->pool = pool->id;
        return VERDICT_REFUSED;
    }
    *ret = pool->network;
    return VERDICT_OK;
}

enum verdict decide_network_task(struct step *step, const struct task_spec *spec,
                                 account_id project, const struct pool *pool, uint32_t *needs)
{
    enum verdict verdict = decide_network_named(step, spec->network);
    for (uint32_t i = 0; verdict == VERDICT_OK && (i == 0 || i < spec->pool_count); i++) {
        network_id network;
        const struct pool *in =
            spec->pool_count > 0 ? query_pool_named(step->core, spec->pools[i]) : pool;
        if (in == NULL) { /* deleted since the task was submitted: nothing starts there */
            continue;
        }
        verdict = network_in(step, in, spec->network, &network);
        if (verdict == VERDICT_OK) {
            verdict = guest_check(step, network, project);
        }
        if (verdict == VERDICT_OK && network.v != NETWORK_ID_HOST.v) {
            *needs |= LABEL_OWN_NETWORK;
            struct network_spec named = {.outbound = false};
            if (query_network(step->core, network) != NULL) {
                query_network_spec(step->core, network, step->out->arena, &named);
            }
            *needs |= named.outbound ? LABEL_OWN_OUTBOUND : 0;
        }
    }
    return verdict;
}

enum verdict decide_network_request(struct step *step, const struct task_spec *spec,
                                    account_id account, const struct pool *pool,
                                    struct request *ret)
{
    uint32_t needs = 0;
    enum verdict verdict = decide_network_task(step, spec, account, pool, &needs);
    if (verdict == VERDICT_OK) {
        verdict = decide_submit_request(step, spec, ret);
    }
    if (verdict == VERDICT_OK && !label_marks_own_add(ret, needs)) {
        return step_refuse_limit(step, "node_labels", TASK_LABELS_MAX - LABEL_OWN_COUNT);
    }
    return verdict;
}
