/* decide_node.c - decisions about nodes: join, silent, lost, edit, remove.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/decide_leave.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/blob.h"
#include "core/model/input.h"
#include "core/model/label.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_limits.h"
#include "core/model/verdict.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"
#include "core/state/membership.h"
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

/* Is the name of a resource reserved? Names with a built-in meaning cannot be named resources. */
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
    must(next <= RESOURCES_MAX);
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

/* Adds the node's present labels to the labels that the agent reports. A label of the agent wins over a
 * present label with the same key. */
static void labels_merge(struct step *step, node_id node, struct node_spec *spec)
{
    struct arena *arena = step->out->arena;
    struct node_spec old;
    query_node_spec(step->core, node, arena, &old);
    struct label *labels = arena_new(arena, struct label, NODE_LABELS_MAX);
    uint32_t count = spec->label_count;
    must(count <= NODE_LABELS_MAX);
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
        /* A node with instances stays in its pool. A node without instances moves to the pool that the agent
         * names. */
        return query_pool(step->core, known->pool);
    }
    if (named) {
        return query_pool_named(step->core, spec->pool);
    }
    struct blob *marks = label_marks_blob(spec->labels, spec->label_count);
    uint32_t matches;
    const struct pool *pool = membership_pool(step->core, marks, &matches);
    blob_unref(marks);
    return pool;
}

/* Did nobody name the pool? A node that a provider brought up has its pool's name in its own name. */
static bool follows_labels(const struct step *step, const struct node_spec *spec,
                           const struct pool *pool)
{
    uint64_t number;
    return (spec->pool == NULL || spec->pool[0] == '\0') &&
           !(elastic_pool(pool) &&
             elastic_node_number(query_pool_name(step->core, pool->id), spec->name, &number));
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

/* A hello brings the node up. A hello that only ends the attempts of a dead supervisor (`closing`) leaves the
 * node silent: no process would follow an order to start. */
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
    if ((known == NULL || known->state == NODE_REMOVED) &&
        decide_launch_over(step->core, pool, spec->name)) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "launch: it has ended");
        return VERDICT_REFUSED;
    }
    spec->follows_labels = follows_labels(step, spec, pool);
    spec->pool = arena_str(step->out->arena, query_pool_name(step->core, pool->id));
    if (known != NULL) {
        labels_merge(step, known->id, spec);
    }
    enum verdict verdict = resources_define(step, spec);
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    if (known != NULL && memcmp(known->supervisor, spec->supervisor, 16) != 0) {
        /* another supervisor: the attempts of the old supervisor are gone */
        settle_node(step, known->id);
    }
    must(known != NULL || step->core->nodes.last < UINT32_MAX);
    node_id id = {known != NULL ? known->id.v : (uint32_t)(step->core->nodes.last + 1)};
    node_set(step, known, pool, spec);
    const bool worked =
        known != NULL && known->state != NODE_LOST && !known->troubled && !known->spare;
    join_state(step, id, known == NULL ? NODE_SILENT : known->state);
    if (worked && spec->trouble != NULL && spec->trouble[0] != '\0') {
        decide_leave_spare(step, pool->id, "another node is out of service");
    }
    decide_leave_devices(step, id, spec->devices_lost & spec->devices_out);
    decide_launch_node(step, pool, id, spec->name);
    return VERDICT_OK;
}

/* ---- decisions about a node that exists ---- */

static const struct node *node_of(struct step *step)
{
    const struct node *node = query_node(step->core, step->in->node.node);
    if (node == NULL || node->state == NODE_REMOVED) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "node")->node = step->in->node.node;
        return NULL;
    }
    return node;
}

/* The machine of a node that is lost or removed ends, where a provider brought the machine up. */
static void launch_give_up(struct step *step, launch_id id)
{
    if (id.v != 0) {
        const struct launch *launch = query_launch(step_state(step), id);
        must(launch != NULL);
        decide_launch_end(step, launch, "its node is lost or was removed");
    }
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
    must(node->state != NODE_REMOVED);
    if (node->state == NODE_SILENT) { /* a node that has come back in the meantime is not lost */
        const launch_id launch = node->launch;
        const pool_id pool = node->pool;
        const bool spare = node->spare;
        node_state(step, node->id, NODE_LOST);
        settle_node(step, node->id);
        launch_give_up(step, launch);
        if (!spare) {
            decide_leave_spare(step, pool, "another node is lost");
        }
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
    must(node->state != NODE_REMOVED);
    const char *limit;
    int64_t max;
    struct node_spec labels = {.name = "n", .labels = edit->labels};
    labels.label_count = edit->fields & NODE_EDIT_LABELS ? edit->label_count : 0;
    if (!spec_limits_node(&labels, &limit, &max)) {
        return step_refuse_limit(step, limit, max);
    }
    const struct launch *launch = query_launch(step->core, node->launch);
    if (edit->fields & NODE_EDIT_DRAIN && !edit->drain && launch != NULL &&
        launch->state == LAUNCH_ENDING) {
        step_refuse(step, REASON_WRONG_STATE, "leaving: its provider ends the machine")->node =
            node->id;
        return VERDICT_CONFLICT;
    }
    if (edit->fields & NODE_EDIT_LOCK && edit->locked && launch != NULL &&
        query_pool(step->core, launch->pool)->life.phase != PHASE_OPEN) {
        step_refuse(step, REASON_WRONG_STATE, "leaving: its pool was closed or deleted")->node =
            node->id;
        return VERDICT_CONFLICT;
    }
    const bool drains =
        edit->fields & NODE_EDIT_BUSY && edit->fields & NODE_EDIT_DRAIN && edit->drain;
    if (drains && decide_leave_refused(step, node, edit->busy)) {
        return VERDICT_CONFLICT;
    }
    if ((edit->fields & NODE_EDIT_STORED) != 0) {
        const enum verdict verdict = decide_member_edit(step, node, edit);
        if (verdict != VERDICT_OK) {
            return verdict;
        }
    }
    if (drains) {
        const int64_t by_ms = edit->within_ms > 0 ? step->in->now_ms + edit->within_ms : 0;
        decide_leave_node(step, node->id,
                          &(struct leaving){.busy = edit->busy,
                                            .by_ms = by_ms,
                                            .words = "a user drains the node"});
    }
    if (edit->fields & NODE_EDIT_LOCK && node->locked != edit->locked) {
        struct fact *fact = step_fact(step, FACT_NODE_LOCKED);
        fact->node_locked.node = node->id;
        fact->node_locked.locked = edit->locked;
    }
    return VERDICT_OK;
}

enum verdict decide_node_remove(struct step *step)
{
    const struct node *node = node_of(step);
    if (node == NULL) {
        return VERDICT_NOT_FOUND;
    }
    must(node->state != NODE_LOST || node->instance_count == 0);
    if (node->instance_count > 0) {
        struct reason *reason =
            step_refuse(step, REASON_IN_USE, query_node_name(step->core, node->id));
        reason->node = node->id;
        reason->need = node->instance_count;
        return VERDICT_CONFLICT;
    }
    const launch_id launch = node->launch;
    node_state(step, node->id, NODE_REMOVED);
    launch_give_up(step, launch);
    return VERDICT_OK;
}
