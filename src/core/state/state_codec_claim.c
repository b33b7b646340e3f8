/* state_codec_claim.c - the claims and the evictions of a stored state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/claim.h"
#include "core/model/instance.h"
#include "core/model/node.h"
#include "core/state/change.h"
#include "core/state/fact_internal.h"
#include "core/state/space_later.h"
#include "core/state/state_codec.h"

static const struct record_field claim_fields[] = {
    STATE_BELOW(struct claim, node, nodes),
    STATE_ANY(struct claim, devices),
    STATE_FIELD(struct claim, MILLI, slots_milli, 0, AMOUNT_MILLI_MAX),
    STATE_FIELD(struct claim, MILLI, cpu_milli, 0, AMOUNT_MILLI_MAX),
    STATE_FIELD(struct claim, MEMORY, memory_bytes, 0, AMOUNT_BYTES_MAX),
};

static bool claim_get(struct state_reader *r, uint64_t row, const void *read)
{
    struct core *core = r->core;
    const struct claim *claim = read;
    const struct instance *instance = table_get(&core->instances, row);
    const struct node *node = query_node(core, claim->node);
    if (instance == NULL || !instance_may_claim(instance) || node == NULL) {
        return false;
    }
    struct task *task = table_edit(&core->tasks, instance->task.v);
    if (!task_keeps_claims(task) || node->pool.v != task->pool.v || !node_takes_work(node)) {
        return false;
    }
    change_claim_put(core, task, instance->index, claim);
    return space_later_claims_fit(core, query_node(core, claim->node));
}

const struct state_section state_codec_claim = {
    "claims", STATE_VERSION_ACCOUNTS, STATE_ROWS(claims, instances),
    STATE_FIELDS(struct claim, claim_fields), .get = claim_get};

static const struct record_field eviction_fields[] = {
    STATE_TIME(struct eviction_note, at_ms),
    STATE_FIELD(struct eviction_note, UINT, index, 0, TASK_INSTANCES_MAX - 1),
    STATE_FIELD(struct eviction_note, PART, why, 0, 0, .part = &fact_bodies_eviction),
    STATE_FIELD(struct eviction_note, INT, slots_lost, 0, INT64_MAX,
                .since = STATE_VERSION_CHECKPOINT),
    STATE_FIELD(struct eviction_note, INT, cpu_lost, 0, INT64_MAX,
                .since = STATE_VERSION_CHECKPOINT),
};

static bool eviction_get(struct state_reader *r, uint64_t id, const void *read)
{
    const struct eviction_note *note = read;
    const struct task *task = query_task(r->core, (task_id){id});
    if (task == NULL || note->index >= task->instance_count) {
        return false;
    }
    *(struct eviction_note *)table_put(&r->core->evictions, id) = *note;
    return true;
}

const struct state_section state_codec_claim_eviction = {
    "evictions", STATE_VERSION_STALE, STATE_ROWS(evictions, tasks),
    STATE_FIELDS(struct eviction_note, eviction_fields), .get = eviction_get};
