/* state_decode_claim.c - the claims of a stored state (places promised to waiting instances), and why tasks were evicted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/instance.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fact_internal.h"
#include "core/state/query.h"
#include "core/state/space_later.h"
#include "core/state/state.h"
#include "core/state/state_codec.h"
#include "core/state/state_decode.h"

static bool claim_get(struct decode *d, uint64_t row)
{
    struct core *core = d->core;
    struct claim claim = {.node = {(uint32_t)bytes_get_max(&d->in, core->nodes.last)}};
    claim.devices = bytes_get_u64(&d->in);
    claim.slots_milli = codec_get_range(&d->in, 0, AMOUNT_MILLI_MAX);
    claim.cpu_milli = codec_get_range(&d->in, 0, AMOUNT_MILLI_MAX);
    claim.memory_bytes = codec_get_range(&d->in, 0, AMOUNT_BYTES_MAX);
    const struct instance *instance = table_get(&core->instances, row);
    const struct node *node = query_node(core, claim.node);
    if (d->in.bad || instance == NULL || !instance_may_claim(instance) || node == NULL) {
        return false;
    }
    struct task *task = table_edit(&core->tasks, instance->task.v);
    if (!task_keeps_claims(task) || node->pool.v != task->pool.v || !node_takes_work(node)) {
        return false;
    }
    change_claim_put(core, task, instance->index, &claim);
    return space_later_claims_fit(core, query_node(core, claim.node));
}

bool state_decode_claim(struct decode *d, const struct lasts *lasts)
{
    uint64_t row = 0;
    if (d->version == STATE_VERSION_FIRST) {
        return true;
    }
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        row = state_decode_row(d, row, lasts->instances);
        if (d->in.bad || !claim_get(d, row)) {
            return false;
        }
    }
    return !d->in.bad;
}

bool state_decode_claim_evictions(struct decode *d, const struct lasts *lasts)
{
    uint64_t row = 0;
    if (d->version < STATE_VERSION_STALE) {
        return true;
    }
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        row = state_decode_row(d, row, lasts->tasks);
        struct eviction_note note = {.at_ms = state_decode_time(d)};
        note.index = (uint32_t)bytes_get_max(&d->in, TASK_INSTANCES_MAX - 1);
        fact_sched_eviction_get(&d->in, &note.why);
        if (d->version >= STATE_VERSION_CHECKPOINT) {
            note.slots_lost = codec_get_range(&d->in, 0, INT64_MAX);
            note.cpu_lost = codec_get_range(&d->in, 0, INT64_MAX);
        }
        const struct task *task = query_task(d->core, (task_id){row});
        if (d->in.bad || task == NULL || note.index >= task->instance_count) {
            return false;
        }
        *(struct eviction_note *)table_put(&d->core->evictions, row) = note;
    }
    return !d->in.bad;
}
