/* decide_node.c - nodes join, fall silent, are lost, edited and removed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/input.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static void node_state(struct step *step, node_id node, enum node_state state)
{
    struct fact *fact = step_fact(step, FACT_NODE_STATE);
    fact->node_state.node = node;
    fact->node_state.state = state;
}

/* ---- join ---- */

/* Names with a meaning of their own cannot be defined. */
static bool name_reserved(const struct core *core, const char *name)
{
    resource_id id;
    return strcmp(name, "gpu") == 0 || strcmp(name, "gpu_memory") == 0 ||
           strcmp(name, "gpu_devices") == 0 ||
           (query_resource_named(core, name, &id) && id.v < RESOURCE_NAMED_FIRST);
}

static enum verdict resources_define(struct step *step, const struct node_spec *spec)
{
    uint32_t next = step->core->resource_count;
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        const char *name = spec->resources[i].name;
        resource_id id;
        if (name_reserved(step->core, name)) {
            step_refuse(step, REASON_EXISTS, name);
            return VERDICT_REFUSED;
        }
        if (query_resource_named(step->core, name, &id)) {
            continue;
        }
        if (next >= RESOURCES_MAX) {
            return step_refuse_limit(step, "resource names", RESOURCES_MAX);
        }
        struct fact *fact = step_fact(step, FACT_RESOURCE_DEFINED);
        fact->resource_defined.resource.v = (uint16_t)next++;
        fact->resource_defined.name = name;
    }
    return VERDICT_OK;
}

static bool label_named(const struct label *labels, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(labels[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* What the agent says, and below it what users have set on the node before. */
static void labels_merge(struct step *step, node_id node, struct node_spec *spec)
{
    struct arena *arena = step->out->arena;
    struct node_spec old;
    query_node_spec(step->core, node, arena, &old);
    struct label *labels = arena_new(arena, struct label, NODE_LABELS_MAX);
    uint32_t count = spec->label_count;
    if (count > 0) {
        memcpy(labels, spec->labels, count * sizeof *labels);
    }
    for (uint32_t i = 0; i < old.label_count && count < NODE_LABELS_MAX; i++) {
        if (!label_named(labels, count, old.labels[i].key)) {
            labels[count++] = old.labels[i];
        }
    }
    spec->labels = labels;
    spec->label_count = count;
}

static const struct pool *join_pool(struct step *step, const struct node *known,
                                    const struct node_spec *spec)
{
    bool named = spec->pool != NULL && spec->pool[0] != '\0';
    if (known != NULL && (!named || known->instance_count > 0)) {
        /* With work on it a node stays where it is; it moves when it joins empty. */
        return query_pool(step->core, known->pool);
    }
    return query_pool_named(step->core, named ? spec->pool : POOL_DEFAULT_NAME);
}

static void node_set(struct step *step, const struct node *known, const struct pool *pool,
                     const struct node_spec *spec)
{
    bool same = known != NULL && memcmp(known->supervisor, spec->supervisor, 16) == 0;
    struct fact *fact = step_fact(step, FACT_NODE_SET);
    fact->node_set.node.v = known != NULL ? known->id.v : (uint32_t)(step->core->nodes.last + 1);
    fact->node_set.pool = pool->id;
    fact->node_set.incarnation = known == NULL ? 1 : known->incarnation + (same ? 0 : 1);
    fact->node_set.spec = spec;
}

/* A hello brings the node up; one that only closes a dead supervisor's books keeps it from starts,
 * which nobody would follow. */
static void join_state(struct step *step, node_id node, enum node_state now)
{
    enum node_state next = !step->in->node.closing ? NODE_UP : now == NODE_UP ? NODE_SILENT : now;
    if (next != now) {
        node_state(step, node, next);
    }
}

enum verdict decide_node_join(struct step *step)
{
    struct node_spec *spec = arena_new(step->out->arena, struct node_spec, 1);
    *spec = *step->in->node.spec;
    if (spec->device_count > 0) {
        spec->slots_milli = (int64_t)spec->device_count * SLOT_MILLI;
    }
    const char *limit;
    int64_t max;
    if (!spec_limits_node(spec, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    const struct node *known = query_node_named(step->core, spec->name);
    if (known == NULL && step->core->node_count >= NODES_MAX) {
        return step_refuse_limit(step, "nodes", NODES_MAX);
    }
    const struct pool *pool = join_pool(step, known, spec);
    if (pool == NULL) {
        step_refuse(step, REASON_UNKNOWN_POOL, spec->pool);
        return VERDICT_REFUSED;
    }
    spec->pool = arena_str(step->out->arena, query_pool_name(step->core, pool->id));
    if (known != NULL) {
        labels_merge(step, known->id, spec);
    }
    enum verdict verdict = resources_define(step, spec);
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    if (known != NULL && memcmp(known->supervisor, spec->supervisor, 16) != 0) {
        settle_node(step, known->id); /* another supervisor: what the old one ran is gone */
    }
    node_id id = {known != NULL ? known->id.v : (uint32_t)(step->core->nodes.last + 1)};
    node_set(step, known, pool, spec);
    join_state(step, id, known == NULL ? NODE_SILENT : known->state);
    return VERDICT_OK;
}

/* ---- the others name a node that is there ---- */

static const struct node *node_of(struct step *step)
{
    const struct node *node = query_node(step->core, step->in->node.node);
    if (node == NULL || node->state == NODE_REMOVED) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "node")->node = step->in->node.node;
        return NULL;
    }
    return node;
}

enum verdict decide_node_silent(struct step *step)
{
    const struct node *node = node_of(step);
    if (node == NULL) {
        return VERDICT_NOT_FOUND;
    }
    if (node->state == NODE_UP) {
        node_state(step, node->id, NODE_SILENT);
    }
    return VERDICT_OK;
}

enum verdict decide_node_lost(struct step *step)
{
    const struct node *node = node_of(step);
    if (node == NULL) {
        return VERDICT_NOT_FOUND;
    }
    if (node->state == NODE_SILENT) { /* one that has come back is not lost any more */
        node_state(step, node->id, NODE_LOST);
        settle_node(step, node->id);
    }
    return VERDICT_OK;
}

enum verdict decide_node_edit(struct step *step)
{
    const struct node *node = node_of(step);
    if (node == NULL) {
        return VERDICT_NOT_FOUND;
    }
    const struct node_edit *edit = step->in->node.edit;
    const char *limit;
    int64_t max;
    struct node_spec labels = {.name = "n", .labels = edit->labels};
    labels.label_count = edit->fields & NODE_EDIT_LABELS ? edit->label_count : 0;
    if (!spec_limits_node(&labels, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    struct fact *fact = step_fact(step, FACT_NODE_EDITED);
    fact->node_edited.node = node->id;
    fact->node_edited.edit = *edit;
    return VERDICT_OK;
}

enum verdict decide_node_remove(struct step *step)
{
    const struct node *node = node_of(step);
    if (node == NULL) {
        return VERDICT_NOT_FOUND;
    }
    if (node->instance_count > 0) { /* a lost one has none */
        struct reason *reason =
            step_refuse(step, REASON_IN_USE, query_node_name(step->core, node->id));
        reason->node = node->id;
        reason->need = node->instance_count;
        return VERDICT_CONFLICT;
    }
    node_state(step, node->id, NODE_REMOVED);
    return VERDICT_OK;
}
