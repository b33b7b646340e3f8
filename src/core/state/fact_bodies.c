/* fact_bodies.c - the body of each type of fact. The order of the fields is the format.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/amount.h"
#include "core/model/account.h"
#include "core/model/codec.h"
#include "core/model/form.h"
#include "core/model/input.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/spec_codec.h"
#include "core/model/task.h"
#include "core/state/fact_internal.h"

static void put_server_started(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->server_started.epoch);
    codec_put_16(out, fact->server_started.server_uuid);
}

static void get_server_started(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->server_started.epoch = bytes_get_u64(in);
    codec_get_16(in, ret->server_started.server_uuid);
}

static void put_resource_defined(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->resource_defined.resource.v);
    bytes_put_text(out, fact->resource_defined.name);
}

static void get_resource_defined(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->resource_defined.resource.v = (uint16_t)bytes_get_max(in, RESOURCES_MAX - 1);
    ret->resource_defined.name = bytes_get_text(in, arena, NAME_LEN_MAX);
}

static void put_pool_set(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->pool_set.pool.v);
    spec_codec_pool_encode(fact->pool_set.spec, out);
}

static void get_pool_set(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->pool_set.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    struct pool_spec *spec = arena_new(arena, struct pool_spec, 1);
    spec_codec_pool_decode(in, arena, spec);
    ret->pool_set.spec = spec;
}

static void get_pool_set_v1(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->pool_set.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    struct pool_spec *spec = arena_new(arena, struct pool_spec, 1);
    spec_codec_pool_decode_v1(in, arena, spec);
    ret->pool_set.spec = spec;
}

static void put_pool_deleted(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->pool_deleted.pool.v);
}

static void get_pool_deleted(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->pool_deleted.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
}

static void put_node_set(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->node_set.node.v);
    bytes_put_u64(out, fact->node_set.pool.v);
    bytes_put_u64(out, fact->node_set.incarnation);
    spec_codec_node_encode(fact->node_set.spec, out);
}

static void get_node_set(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->node_set.node.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->node_set.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->node_set.incarnation = (uint32_t)bytes_get_max(in, UINT32_MAX);
    struct node_spec *spec = arena_new(arena, struct node_spec, 1);
    spec_codec_node_decode(in, arena, spec);
    ret->node_set.spec = spec;
}

static void put_node_state(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->node_state.node.v);
    bytes_put_u64(out, fact->node_state.state);
}

static void get_node_state(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->node_state.node.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->node_state.state = (enum node_state)bytes_get_max(in, NODE_STATE_COUNT - 1);
}

/* Only the fields that the edit sets are written. */
static void put_node_edited(const struct fact *fact, struct buf *out)
{
    const struct node_edit *edit = &fact->node_edited.edit;
    bytes_put_u64(out, fact->node_edited.node.v);
    bytes_put_u64(out, edit->fields);
    if (edit->fields & NODE_EDIT_DRAIN) {
        codec_put_bool(out, edit->drain);
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        spec_codec_labels_put(out, edit->labels, edit->label_count);
    }
}

static void get_node_edited(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    struct node_edit *edit = &ret->node_edited.edit;
    ret->node_edited.node.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    edit->fields = (uint32_t)bytes_get_max(in, NODE_EDIT_DRAIN | NODE_EDIT_LABELS);
    if (edit->fields & NODE_EDIT_DRAIN) {
        edit->drain = codec_get_bool(in);
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        edit->labels = spec_codec_labels_get(in, arena, &edit->label_count);
    }
}

static void put_task_submitted(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->task_submitted.task.v);
    bytes_put_u64(out, fact->task_submitted.pool.v);
    bytes_put_u64(out, fact->task_submitted.account.v);
    codec_put_request(out, fact->task_submitted.request);
    codec_put_bool(out, fact->task_submitted.form != NULL);
    if (fact->task_submitted.form != NULL) {
        form_encode(fact->task_submitted.form, out);
    }
    spec_codec_task_encode(fact->task_submitted.spec, out);
}

static void submitted_get(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    struct request *request = arena_new(arena, struct request, 1);
    codec_get_request(in, RESOURCES_MAX, request);
    ret->task_submitted.request = request;
    const bool has_form = ret->version > 3 && codec_get_bool(in);
    ret->task_submitted.form = has_form ? form_decode(in, arena, RESOURCES_MAX) : NULL;
    struct task_spec *spec = arena_new(arena, struct task_spec, 1);
    spec_codec_task_decode(in, arena, spec);
    ret->task_submitted.spec = spec;
    if (!in->bad && !form_fits(ret->task_submitted.form, spec)) {
        codec_bad(in);
    }
}

static void get_task_submitted(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->task_submitted.task.v = bytes_get_u64(in);
    ret->task_submitted.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->task_submitted.account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    submitted_get(in, arena, ret);
}

/* There was one project. */
static void get_task_submitted_v1(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->task_submitted.task.v = bytes_get_u64(in);
    ret->task_submitted.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->task_submitted.account = ACCOUNT_DEFAULT_PROJECT;
    submitted_get(in, arena, ret);
}

static void put_submit_key(const struct fact *fact, struct buf *out)
{
    codec_put_16(out, fact->submit_key.key);
    codec_put_16(out, fact->submit_key.body_hash);
    bytes_put_u64(out, fact->submit_key.first.v);
    bytes_put_u64(out, fact->submit_key.count);
}

static void get_submit_key(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    codec_get_16(in, ret->submit_key.key);
    codec_get_16(in, ret->submit_key.body_hash);
    ret->submit_key.first.v = bytes_get_u64(in);
    ret->submit_key.count = (uint32_t)bytes_get_max(in, SUBMIT_TASKS_MAX);
}

static void put_task(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->task.task.v);
}

static void get_task(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->task.task.v = bytes_get_u64(in);
}

static void put_pass(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->pass.pool.v);
    bytes_put_u64(out, fact->pass.work);
    bytes_put_u64(out, fact->pass.placed);
    codec_put_bool(out, fact->pass.complete);
}

static void get_pass(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->pass.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->pass.work = bytes_get_u64(in);
    ret->pass.placed = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->pass.complete = codec_get_bool(in);
}

static void put_allocated(const struct fact *fact, struct buf *out)
{
    fact_put_key(out, fact->allocated.key);
    bytes_put_u64(out, fact->allocated.node.v);
    bytes_put_u64(out, fact->allocated.incarnation);
    bytes_put_u64(out, fact->allocated.devices);
    bytes_put_i64(out, fact->allocated.slots_milli);
    bytes_put_i64(out, fact->allocated.cpu_milli);
    bytes_put_i64(out, fact->allocated.memory_bytes);
}

static void get_allocated(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->allocated.key = fact_get_key(in);
    ret->allocated.node.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->allocated.incarnation = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->allocated.devices = bytes_get_u64(in);
    ret->allocated.slots_milli = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
    ret->allocated.cpu_milli = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
    ret->allocated.memory_bytes = codec_get_range(in, 0, AMOUNT_BYTES_MAX);
}

static void put_head(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->head.pool.v);
    bytes_put_u64(out, fact->head.task.v);
}

static void get_head(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->head.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->head.task.v = bytes_get_u64(in);
}

static void put_reserved(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->reserved.pool.v);
    bytes_put_u64(out, fact->reserved.count);
    for (uint32_t i = 0; i < fact->reserved.count; i++) {
        bytes_put_u64(out, fact->reserved.at[i].task.v);
        bytes_put_i64(out, fact->reserved.at[i].until_ms);
    }
}

static void get_reserved(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->reserved.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->reserved.count = codec_get_count(in, RESERVATIONS_MAX);
    struct reservation *list = arena_new(arena, struct reservation, ret->reserved.count);
    for (uint32_t i = 0; i < ret->reserved.count; i++) {
        list[i].task.v = bytes_get_u64(in);
        list[i].until_ms = codec_get_range(in, 0, TIME_MS_MAX);
    }
    ret->reserved.at = list;
}

/* There was one at most, and nobody knew until when. */
static void get_reserved_v1(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->reserved.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    struct reservation *list = arena_new(arena, struct reservation, 1);
    list->task.v = bytes_get_u64(in);
    ret->reserved.count = list->task.v != 0;
    ret->reserved.at = list;
}

static void put_attempt_started(const struct fact *fact, struct buf *out)
{
    fact_put_key(out, fact->attempt_started.key);
    bytes_put_i64(out, fact->attempt_started.at_ms);
    codec_put_bool(out, fact->attempt_started.workdir_missed);
}

/* It was not told where the task ran. */
static void get_attempt_started_v1(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->attempt_started.key = fact_get_key(in);
    ret->attempt_started.at_ms = codec_get_range(in, 0, TIME_MS_MAX);
}

static void get_attempt_started(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    get_attempt_started_v1(in, arena, ret);
    ret->attempt_started.workdir_missed = codec_get_bool(in);
}

static void put_attempt_stopping(const struct fact *fact, struct buf *out)
{
    fact_put_key(out, fact->attempt_stopping.key);
    bytes_put_u64(out, fact->attempt_stopping.cause);
    bytes_put_i64(out, fact->attempt_stopping.deadline_ms);
}

static void get_attempt_stopping(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->attempt_stopping.key = fact_get_key(in);
    ret->attempt_stopping.cause = (enum end_cause)bytes_get_max(in, END_CAUSE_COUNT - 1);
    ret->attempt_stopping.deadline_ms = codec_get_range(in, 0, TIME_MS_MAX);
}

static void put_attempt_ended(const struct fact *fact, struct buf *out)
{
    const struct report *report = &fact->attempt_ended.report;
    bytes_put_u64(out, report->type);
    fact_put_key(out, report->key);
    bytes_put_u64(out, report->incarnation);
    bytes_put_i64(out, report->at_ms);
    bytes_put_i64(out, report->exit_code);
    bytes_put_u64(out, report->out_bytes);
    bytes_put_u64(out, report->err_bytes);
    bytes_put_i64(out, report->cpu_ms);
    bytes_put_i64(out, report->memory_peak_bytes);
    bytes_put_u64(out, fact->attempt_ended.cause);
    codec_put_bool(out, fact->attempt_ended.again);
}

static void attempt_ended_get(struct bytes_reader *in, struct fact *ret)
{
    struct report *report = &ret->attempt_ended.report;
    report->type = (enum report_type)bytes_get_max(in, REPORT_UNKNOWN);
    report->key = fact_get_key(in);
    report->incarnation = (uint32_t)bytes_get_max(in, UINT32_MAX);
    report->at_ms = bytes_get_i64(in);
    report->exit_code = (int32_t)codec_get_range(in, INT32_MIN, INT32_MAX);
    report->out_bytes = bytes_get_u64(in);
    report->err_bytes = bytes_get_u64(in);
    report->cpu_ms = bytes_get_i64(in);
    report->memory_peak_bytes = bytes_get_i64(in);
    ret->attempt_ended.cause = (enum end_cause)bytes_get_max(in, END_CAUSE_COUNT - 1);
    ret->attempt_ended.again = codec_get_bool(in);
}

static void get_attempt_ended(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    attempt_ended_get(in, ret);
    if (ret->attempt_ended.report.at_ms < 0 || ret->attempt_ended.report.at_ms > TIME_MS_MAX) {
        codec_bad(in);
    }
}

/* Version 1 had the agent's word unchecked, and its end was when the server heard of it. */
static void get_attempt_ended_v1(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    attempt_ended_get(in, ret);
    ret->attempt_ended.report.at_ms = ret->time_ms;
}

static void put_task_ended(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->task_ended.task.v);
    bytes_put_u64(out, fact->task_ended.state);
    bytes_put_u64(out, fact->task_ended.cause);
    bytes_put_i64(out, fact->task_ended.exit_code);
    bytes_put_u64(out, fact->task_ended.released);
}

/* All that waited for it went free with it. */
static void get_task_ended_v1(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->task_ended.released = UINT32_MAX;
    ret->task_ended.task.v = bytes_get_u64(in);
    ret->task_ended.state = (enum task_state)bytes_get_max(in, TASK_STATE_COUNT - 1);
    ret->task_ended.cause = (enum end_cause)bytes_get_max(in, END_CAUSE_COUNT - 1);
    ret->task_ended.exit_code = (int32_t)codec_get_range(in, INT32_MIN, INT32_MAX);
}

static void get_task_ended(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    get_task_ended_v1(in, arena, ret);
    ret->task_ended.released = (uint32_t)bytes_get_max(in, UINT32_MAX);
}

static void put_keys_expired(const struct fact *fact, struct buf *out)
{
    bytes_put_i64(out, fact->keys_expired.before_ms);
}

static void get_keys_expired(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->keys_expired.before_ms = codec_get_range(in, 0, TIME_MS_MAX);
}

static void put_account_set(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->account_set.account.v);
    bytes_put_u64(out, fact->account_set.parent.v);
    spec_codec_account_encode(fact->account_set.spec, out);
}

static void get_account_set(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->account_set.account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->account_set.parent.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    struct account_spec *spec = arena_new(arena, struct account_spec, 1);
    spec_codec_account_decode(in, arena, spec);
    ret->account_set.spec = spec;
}

static void put_account_deleted(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->account_deleted.account.v);
}

static void get_account_deleted(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    (void)arena;
    ret->account_deleted.account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
}

static void put_quota_set(const struct fact *fact, struct buf *out)
{
    bytes_put_u64(out, fact->quota_set.account.v);
    bytes_put_u64(out, fact->quota_set.pool.v);
    spec_codec_quota_encode(fact->quota_set.row, out);
}

static void get_quota_set(struct bytes_reader *in, struct arena *arena, struct fact *ret)
{
    ret->quota_set.account.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    ret->quota_set.pool.v = (uint32_t)bytes_get_max(in, UINT32_MAX);
    struct quota_row *row = arena_new(arena, struct quota_row, 1);
    spec_codec_quota_decode(in, RESOURCES_MAX, row);
    ret->quota_set.row = row;
}

const struct fact_codec fact_codecs[FACT_TYPE_MAX + 1] = {
    [FACT_SERVER_STARTED] = {put_server_started, get_server_started, NULL, 0, 0},
    [FACT_RESOURCE_DEFINED] = {put_resource_defined, get_resource_defined, NULL, 0, 0},
    [FACT_POOL_SET] = {put_pool_set, get_pool_set, get_pool_set_v1, 3, 0},
    [FACT_POOL_DELETED] = {put_pool_deleted, get_pool_deleted, NULL, 0, 0},
    [FACT_NODE_SET] = {put_node_set, get_node_set, NULL, 0, 0},
    [FACT_NODE_STATE] = {put_node_state, get_node_state, NULL, 0, 0},
    [FACT_NODE_EDITED] = {put_node_edited, get_node_edited, NULL, 0, 0},
    [FACT_TASK_SUBMITTED] = {put_task_submitted, get_task_submitted, get_task_submitted_v1, 3, 4},
    [FACT_SUBMIT_KEY] = {put_submit_key, get_submit_key, NULL, 0, 0},
    [FACT_TASK_QUEUED] = {put_task, get_task, NULL, 0, 0},
    [FACT_TASK_PAUSED] = {put_task, get_task, NULL, 0, 0},
    [FACT_TASK_EDITED] = {fact_edit_task_put, fact_edit_task_get, NULL, 2, 3},
    [FACT_TASK_KILL_ASKED] = {put_task, get_task, NULL, 0, 0},
    [FACT_PASS] = {put_pass, get_pass, NULL, 0, 0},
    [FACT_ALLOCATED] = {put_allocated, get_allocated, NULL, 0, 0},
    [FACT_HEAD_BLOCKED] = {put_head, get_head, NULL, 0, 0},
    [FACT_RESERVED] = {put_reserved, get_reserved, get_reserved_v1, 0, 0},
    [FACT_ATTEMPT_STARTED] = {put_attempt_started, get_attempt_started, get_attempt_started_v1, 0,
                              0},
    [FACT_ATTEMPT_STOPPING] = {put_attempt_stopping, get_attempt_stopping, NULL, 0, 0},
    [FACT_ATTEMPT_ENDED] = {put_attempt_ended, get_attempt_ended, get_attempt_ended_v1, 0, 0},
    [FACT_TASK_ENDED] = {put_task_ended, get_task_ended, get_task_ended_v1, 0, 0},
    [FACT_TASK_ARCHIVED] = {put_task, get_task, NULL, 0, 0},
    [FACT_SUBMIT_KEYS_EXPIRED] = {put_keys_expired, get_keys_expired, NULL, 0, 0},
    [FACT_ACCOUNT_SET] = {put_account_set, get_account_set, NULL, 0, 0},
    [FACT_ACCOUNT_DELETED] = {put_account_deleted, get_account_deleted, NULL, 0, 0},
    [FACT_QUOTA_SET] = {put_quota_set, get_quota_set, NULL, 0, 0},
    [FACT_CLAIMED] = {put_allocated, get_allocated, NULL, 0, 0},
    [FACT_CLAIM_DROPPED] = {fact_sched_claim_dropped_put, fact_sched_claim_dropped_get, NULL, 0, 0},
    [FACT_EVICTED] = {fact_sched_evicted_put, fact_sched_evicted_get, NULL, 0, 0},
    [FACT_POOL_WAKE] = {fact_sched_wake_put, fact_sched_wake_get, NULL, 0, 0},
    [FACT_HISTORY_TICKED] = {fact_sched_history_put, fact_sched_history_get, NULL, 0, 0},
    [FACT_ATTEMPT_CHECKPOINT] = {fact_sched_checkpoint_put, fact_sched_checkpoint_get, NULL, 0, 0},
    [FACT_TASK_MOVED] = {fact_edit_moved_put, fact_edit_moved_get, NULL, 0, 0},
    [FACT_DEPENDENTS_RELEASED] = {fact_edit_released_put, fact_edit_released_get, NULL, 0, 0},
};
