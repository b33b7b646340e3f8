/* fact_sched.c - bodies of the facts about claims, evictions and checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/codec.h"
#include "core/model/limits.h"
#include "core/state/fact_internal.h"

void fact_sched_claim_dropped_put(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->claim_dropped.task.v);
    bytes_put_u64(out, fact->claim_dropped.index);
}

void fact_sched_claim_dropped_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->claim_dropped.task.v = bytes_get_u64(in);
    ret->claim_dropped.index = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX - 1);
}

static void put_side(struct buf *out, const struct eviction_side *side)
{
    bytes_put_u64(out, side->account.v);
    bytes_put_i64(out, side->allocated);
    bytes_put_i64(out, side->guaranteed);
    bytes_put_i64(out, side->share);
}

static void get_side(struct bytes_reader *in, struct eviction_side *ret)
{
    ret->account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->allocated = bytes_get_i64(in);
    ret->guaranteed = bytes_get_i64(in);
    ret->share = bytes_get_i64(in);
}

void fact_sched_eviction_put(const struct eviction *why, struct buf *out)
{
    bytes_put_u64(out, why->rule);
    bytes_put_u64(out, why->claimant.v);
    bytes_put_u64(out, why->resource.v);
    put_side(out, &why->victim);
    put_side(out, &why->taker);
}

void fact_sched_evicted_put(const struct fact *fact, struct buf *out)
{
    fact_put_key(out, fact->evicted.key);
    bytes_put_i64(out, fact->evicted.deadline_ms);
    fact_sched_eviction_put(&fact->evicted.why, out);
}

void fact_sched_eviction_get(struct bytes_reader *in, struct eviction *why)
{
    why->rule = (enum eviction_rule)bytes_get_max(in, EVICTION_RULE_COUNT - 1);
    why->claimant.v = bytes_get_u64(in);
    why->resource.v = (uint16_t)bytes_get_max(in, RESOURCES_MAX - 1);
    get_side(in, &why->victim);
    get_side(in, &why->taker);
}

void fact_sched_evicted_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->evicted.key = fact_get_key(in);
    ret->evicted.deadline_ms = codec_get_range(in, 0, TIME_MS_MAX);
    fact_sched_eviction_get(in, &ret->evicted.why);
}

void fact_sched_wake_put(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->pool_wake.pool.v);
    bytes_put_i64(out, fact->pool_wake.at_ms);
}

void fact_sched_wake_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->pool_wake.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->pool_wake.at_ms = codec_get_range(in, 0, TIME_MS_MAX);
}

void fact_sched_history_put(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->history_ticked.pool.v);
}

void fact_sched_history_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->history_ticked.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
}

void fact_sched_checkpoint_put(const struct fact *fact, struct buf *out)
{
    fact_put_key(out, fact->attempt_checkpoint.key);
    bytes_put_i64(out, fact->attempt_checkpoint.at_ms);
}

void fact_sched_checkpoint_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->attempt_checkpoint.key = fact_get_key(in);
    ret->attempt_checkpoint.at_ms = codec_get_range(in, 0, TIME_MS_MAX);
}
