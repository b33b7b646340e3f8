/* state_encode.c - the whole state as bytes (docs/dev/formats/facts.md, "The state").
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/length.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/typical.h"
#include "core/model/vector.h"
#include "core/state/fact_internal.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/state_codec.h"

#include <string.h>

static void head_put(const struct core *core, struct buf *out)
{
    bytes_put_text(out, STATE_MAGIC);
    bytes_put_u64(out, STATE_VERSION);
    bytes_put_u64(out, core->seq);
    bytes_put_u64(out, core->epoch);
    codec_put_16(out, core->uuid);
    bytes_put_i64(out, core->time_ms);
    bytes_put_u64(out, core->pools.last);
    bytes_put_u64(out, core->nodes.last);
    bytes_put_u64(out, core->tasks.last);
    bytes_put_u64(out, core->instances.last);
    bytes_put_u64(out, core->shapes.last);
    bytes_put_u64(out, core->keys.last);
    bytes_put_u64(out, core->accounts.last);
    for (unsigned state = 0; state < TASK_STATE_COUNT; state++) {
        if (task_state_ended((enum task_state)state)) {
            bytes_put_u64(out, core->task_counts[state]);
        }
    }
    bytes_put_u64(out, core->resource_count - RESOURCE_NAMED_FIRST);
    for (uint32_t i = RESOURCE_NAMED_FIRST; i < core->resource_count; i++) {
        bytes_put_text(out, query_resource_name(core, (resource_id){(uint16_t)i}));
    }
}

/* A row's blob without the name it begins with. */
static void text_put(const struct blob *text, struct buf *out)
{
    struct str bytes = blob_bytes(text);
    size_t skip = strlen(bytes.p) + 1;
    buf_add(out, bytes.p + skip, bytes.len - skip);
}

static void pools_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->pools.count);
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        bytes_put_u64(out, id);
        codec_put_bool(out, pool->deleted);
        bytes_put_i64(out, pool->created_ms);
        bytes_put_u64(out, pool->blocked_task.v);
        bytes_put_i64(out, pool->blocked_since_ms);
        bytes_put_i64(out, pool->blocked_more_ms);
        bytes_put_u64(out, pool->reserved_count);
        for (uint32_t i = 0; i < pool->reserved_count; i++) {
            bytes_put_u64(out, pool->reserved[i].task.v);
            bytes_put_i64(out, pool->reserved[i].until_ms);
        }
        bytes_put_i64(out, pool->wake_ms);
        text_put(pool->text, out);
    }
}

static void accounts_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->accounts.count);
    for (uint64_t id = table_next(&core->accounts, 0); id != 0;
         id = table_next(&core->accounts, id)) {
        const struct account *account = table_get(&core->accounts, id);
        bytes_put_u64(out, id);
        bytes_put_u64(out, account->parent.v);
        bytes_put_u64(out, account->kind);
        bytes_put_text(out, query_account_name(core, account->id));
        text_put(account->text, out);
    }
    bytes_put_u64(out, core->quotas.count);
    for (uint64_t key = table_next(&core->quotas, 0); key != 0;
         key = table_next(&core->quotas, key)) {
        bytes_put_u64(out, key);
        spec_codec_quota_encode(table_get(&core->quotas, key), out);
    }
}

static void nodes_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->nodes.count);
    for (uint64_t id = table_next(&core->nodes, 0); id != 0; id = table_next(&core->nodes, id)) {
        const struct node *node = table_get(&core->nodes, id);
        bytes_put_u64(out, id);
        bytes_put_u64(out, node->pool.v);
        bytes_put_u64(out, node->incarnation);
        bytes_put_u64(out, node->state);
        codec_put_bool(out, node->draining);
        text_put(node->text, out);
    }
}

static void shapes_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->shapes.count);
    for (uint64_t id = table_next(&core->shapes, 0); id != 0; id = table_next(&core->shapes, id)) {
        const struct shape *shape = table_get(&core->shapes, id);
        bytes_put_u64(out, id);
        bytes_put_u64(out, shape->pool.v);
        bytes_put_u64(out, shape->gang_size);
        codec_put_request(out, &shape->request);
        codec_put_bool(out, shape->form != NULL);
        if (shape->form != NULL) {
            form_encode(shape_form(shape), out);
        }
    }
}

static void instance_put(const struct instance *instance, struct buf *out)
{
    if (instance->state == INSTANCE_WAITING && instance->attempt == 0) {
        bytes_put_u64(out, INSTANCE_FRESH);
        return;
    }
    bytes_put_u64(out, INSTANCE_STATE_FIRST + (uint64_t)instance->state);
    bytes_put_u64(out, instance->attempt);
    bytes_put_u64(out, instance->node.v);
    bytes_put_u64(out, instance->incarnation);
    bytes_put_u64(out, instance->devices);
    bytes_put_i64(out, instance->slots_milli);
    bytes_put_i64(out, instance->cpu_milli);
    bytes_put_i64(out, instance->memory_bytes);
    bytes_put_i64(out, instance->allocated_ms);
    bytes_put_i64(out, instance->started_ms);
    bytes_put_i64(out, instance->ended_ms);
    bytes_put_i64(out, instance->stop_deadline_ms);
    bytes_put_u64(out, instance->retries);
    bytes_put_i64(out, instance->exit_code);
    bytes_put_u64(out, instance->cause);
    codec_put_bool(out, instance->workdir_missed != 0);
    bytes_put_i64(out, instance->checkpoint_ms);
}

static void task_put(const struct core *core, const struct task *task, struct buf *out)
{
    bool stored = task->state == TASK_STAGED || task->pause_asked || task_state_ended(task->state);
    bool pausing = task->pause_asked && !task_state_ended(task->state);
    bytes_put_u64(out, task->id.v);
    bytes_put_str(out, blob_bytes(task->spec));
    bytes_put_u64(out, task->instance_first);
    bytes_put_u64(out, task->pool.v);
    bytes_put_u64(out, task->account.v);
    bytes_put_u64(out, task->shape.v);
    bytes_put_u64(out, task->priority);
    bytes_put_u64(out, task->max_retries);
    bytes_put_i64(out, task->rank);
    bytes_put_i64(out, task->submitted_ms);
    bytes_put_i64(out, task->queued_ms);
    bytes_put_i64(out, task->started_ms);
    bytes_put_i64(out, task->ended_ms);
    bytes_put_i64(out, task->evicted_ms);
    bytes_put_i64(out, task->stale_ms);
    bytes_put_i64(out, task->running_ms);
    bytes_put_i64(out, task->ran_ms);
    bytes_put_i64(out, task->time_limit_ms);
    bytes_put_i64(out, task->grace_ms);
    bytes_put_i64(out, task->expect_ms);
    bytes_put_u64(out, task->expect_from);
    bytes_put_u64(out, task->retries);
    bytes_put_u64(out, task->lost_count);
    bytes_put_u64(out, task->preempted_count);
    bytes_put_i64(out, task->exit_code);
    bytes_put_u64(out, task->kill_asked);
    bytes_put_u64(out, stored ? STATE_FIRST + (uint64_t)(pausing ? TASK_PAUSED : task->state)
                              : STATE_DERIVED);
    bytes_put_u64(out, task->cause);
    bytes_put_u64(out, task->pool_next.v);
    bytes_put_u64(out, task->depends_met);
    for (uint32_t i = 0; i < task->instance_count; i++) {
        instance_put(query_instance_row(core, task->instance_first + i), out);
    }
}

static void tasks_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->tasks.count);
    for (uint64_t id = table_next(&core->tasks, 0); id != 0; id = table_next(&core->tasks, id)) {
        task_put(core, table_get(&core->tasks, id), out);
    }
}

static void keys_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->keys.count);
    for (uint64_t row = table_next(&core->keys, 0); row != 0; row = table_next(&core->keys, row)) {
        const struct submit_key *key = table_get(&core->keys, row);
        bytes_put_u64(out, row);
        codec_put_16(out, key->key);
        codec_put_16(out, key->body_hash);
        bytes_put_u64(out, key->first.v);
        bytes_put_u64(out, key->count);
        bytes_put_i64(out, key->time_ms);
    }
}

static void outcomes_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->outcomes.count);
    for (uint64_t row = table_next(&core->outcomes, 0); row != 0;
         row = table_next(&core->outcomes, row)) {
        bytes_put_u64(out, row);
        bytes_put_u64(out, ((const struct outcome_row *)table_get(&core->outcomes, row))->bits);
    }
}

static void claims_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->claims.count);
    for (uint64_t row = table_next(&core->claims, 0); row != 0;
         row = table_next(&core->claims, row)) {
        const struct claim *claim = table_get(&core->claims, row);
        bytes_put_u64(out, row);
        bytes_put_u64(out, claim->node.v);
        bytes_put_u64(out, claim->devices);
        bytes_put_i64(out, claim->slots_milli);
        bytes_put_i64(out, claim->cpu_milli);
        bytes_put_i64(out, claim->memory_bytes);
    }
}

static void means_put(const struct sum *means, struct buf *out)
{
    for (uint32_t dim = 0; dim < HISTORY_DIMS; dim++) {
        bytes_put_u64(out, (uint64_t)means[dim].high);
        bytes_put_u64(out, means[dim].low);
    }
}

static void histories_put(const struct core *core, struct buf *out)
{
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        if (pool->history_at_ms == 0) {
            continue;
        }
        bytes_put_u64(out, id);
        bytes_put_i64(out, pool->history_at_ms);
        bytes_put_i64(out, pool->history_next_ms);
        means_put(pool->history_whole, out);
        uint64_t key = ACCOUNT_KEY(pool->id, (account_id){0});
        while ((key = table_next(&core->histories, key)) != 0 && key >> 32 == id) {
            bytes_put_u64(out, (uint32_t)key);
            means_put(((const struct history_row *)table_get(&core->histories, key))->mean, out);
        }
        bytes_put_u64(out, 0);
    }
    bytes_put_u64(out, 0);
}

static void evictions_put(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->evictions.count);
    for (uint64_t row = table_next(&core->evictions, 0); row != 0;
         row = table_next(&core->evictions, row)) {
        const struct eviction_note *note = table_get(&core->evictions, row);
        bytes_put_u64(out, row);
        bytes_put_i64(out, note->at_ms);
        bytes_put_u64(out, note->index);
        fact_sched_eviction_put(&note->why, out);
        bytes_put_i64(out, note->slots_lost);
        bytes_put_i64(out, note->cpu_lost);
    }
}

static void typical_rows_put(const struct core *core, uint64_t first_key, uint32_t count,
                             struct buf *out)
{
    bytes_put_u64(out, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct typical *row = table_get(&core->typicals, first_key + i);
        bytes_put_u64(out, row->count);
        codec_put_request(out, &row->request);
    }
}

static void typicals_put(const struct core *core, struct buf *out)
{
    uint64_t count = 0;
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        count += ((const struct pool *)table_get(&core->pools, id))->typical_counted > 0;
    }
    bytes_put_u64(out, count);
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        if (pool->typical_counted > 0) {
            bytes_put_u64(out, id);
            bytes_put_u64(out, pool->typical_since);
            typical_rows_put(core, TYPICAL_KEY(pool->id, 0), pool->typical_counted, out);
            typical_rows_put(core, TYPICAL_WEIGHED_KEY(pool->id, 0), pool->typical_weighed, out);
        }
    }
}

/* By age, so that it does not matter in which order they came. */
static void lengths_put_all(const struct core *core, struct buf *out)
{
    bytes_put_u64(out, core->lengths.count);
    struct okey key = {{0}};
    bool more = oindex_from(&core->orders[ORDER_LENGTH_AGE], key, &key);
    while (more) {
        const struct length_group *group = table_get(&core->lengths, key.at[2]);
        bytes_put_u64(out, group->hash);
        bytes_put_i64(out, group->day);
        bytes_put_u64(out, group->count);
        bytes_put_i64(out, group->total_ms);
        bytes_put_u64(out, group->limited_count);
        bytes_put_i64(out, group->share_total);
        more = oindex_next(&core->orders[ORDER_LENGTH_AGE], key, &key);
    }
}

void state_encode(const struct core *core, struct buf *out)
{
    head_put(core, out);
    pools_put(core, out);
    accounts_put(core, out);
    nodes_put(core, out);
    shapes_put(core, out);
    tasks_put(core, out);
    keys_put(core, out);
    outcomes_put(core, out);
    claims_put(core, out);
    histories_put(core, out);
    evictions_put(core, out);
    typicals_put(core, out);
    lengths_put_all(core, out);
}
