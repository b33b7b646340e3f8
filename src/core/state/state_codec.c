/* state_codec.c - the sections of a stored state, and what their files share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/resource.h"
#include "core/state/state_codec.h"

#include <string.h>

#define ROWS(rows, numbered)                                                                       \
    .table_at = offsetof(struct core, rows), .last_at = offsetof(struct core, numbered.last)

const struct state_section state_codec_sections[] = {
    {"pools", ROWS(pools, pools), .put = state_codec_pool_put, .get = state_codec_pool_get},
    {"accounts", STATE_VERSION_ACCOUNTS, ROWS(accounts, accounts), .put = state_codec_account_put,
     .get = state_codec_account_get, .begin = state_codec_account_begin,
     .end = state_codec_account_end},
    {"accounts", STATE_VERSION_ACCOUNTS, .table_at = offsetof(struct core, quotas),
     .put = state_codec_account_quota_put, .get = state_codec_account_quota_get},
    {"nodes", ROWS(nodes, nodes), .put = state_codec_node_put, .get = state_codec_node_get},
    {"shapes", ROWS(shapes, shapes), .put = state_codec_node_shape_put,
     .get = state_codec_node_shape_get},
    {"tasks", ROWS(tasks, tasks), .put = state_codec_task_put, .get = state_codec_task_get,
     .end = state_codec_task_end},
    {"submission keys", ROWS(keys, keys), .fields = &state_codec_task_key_fields,
     .get = state_codec_task_key_get},
    {"outcomes", .table_at = offsetof(struct core, outcomes),
     .fields = &state_codec_task_outcome_fields, .get = state_codec_task_outcome_get},
    {"claims", STATE_VERSION_ACCOUNTS, ROWS(claims, instances), .fields = &state_codec_claim_fields,
     .get = state_codec_claim_get},
    {"history", STATE_VERSION_HISTORY, .put_all = state_codec_pool_histories_put,
     .end = state_codec_pool_histories_get},
    {"evictions", STATE_VERSION_STALE, ROWS(evictions, tasks),
     .fields = &state_codec_claim_eviction_fields, .get = state_codec_claim_eviction_get},
    {"typical requests", STATE_VERSION_TYPICAL, ROWS(pools, pools),
     .has = state_codec_pool_has_typicals, .put = state_codec_pool_typicals_put,
     .get = state_codec_pool_typicals_get},
    {"run lengths", STATE_VERSION_LENGTHS, .put_all = state_codec_task_lengths_put,
     .end = state_codec_task_lengths_get},
    {"default pools", STATE_VERSION_GROWTH, .put_all = state_codec_launch_defaults_put,
     .end = state_codec_launch_defaults_get},
    {"launches", STATE_VERSION_GROWTH, ROWS(launches, launches), .put = state_codec_launch_put,
     .get = state_codec_launch_get},
    {"blocked tasks", .end = state_codec_pool_blocked_sound},
};
const uint32_t state_codec_section_count =
    sizeof state_codec_sections / sizeof state_codec_sections[0];

#define NUMBER(member, most, ...) STATE_FIELD(struct core, UINT, member, 0, most, __VA_ARGS__)

static const struct record_field head[] = {
    NUMBER(seq, STATE_ROW_MAX),
    NUMBER(epoch, STATE_ROW_MAX),
    STATE_FIELD(struct core, ID16, uuid, 0, 0),
    STATE_TIME(struct core, time_ms),
};
const struct record_table state_codec_head = RECORD_TABLE(struct core, head);

static const struct record_field numbers[] = {
    NUMBER(pools.last, UINT32_MAX),
    NUMBER(nodes.last, UINT32_MAX),
    NUMBER(tasks.last, STATE_ROW_MAX),
    NUMBER(instances.last, STATE_ROW_MAX),
    NUMBER(shapes.last, UINT32_MAX),
    NUMBER(keys.last, STATE_ROW_MAX),
    NUMBER(accounts.last, UINT32_MAX, .since = STATE_VERSION_ACCOUNTS,
           .before = ACCOUNT_DEFAULT_PROJECT_NUMBER),
    NUMBER(task_counts[TASK_COMPLETED], STATE_ROW_MAX),
    NUMBER(task_counts[TASK_FAILED], STATE_ROW_MAX),
    NUMBER(task_counts[TASK_KILLED], STATE_ROW_MAX),
    NUMBER(task_counts[TASK_UNKNOWN], STATE_ROW_MAX),
    NUMBER(launches.last, STATE_ROW_MAX, .since = STATE_VERSION_GROWTH),
};
const struct record_table state_codec_numbers = RECORD_TABLE(struct core, numbers);

void state_codec_read(struct state_reader *r, const struct record_table *fields, void *ret)
{
    record_read(fields,
                &(struct record_source){
                    .in = &r->in, .arena = &r->arena, .version = r->version, .bounds = &r->head},
                ret);
}

void state_codec_put_text(const struct blob *text, struct buf *out)
{
    struct str bytes = blob_bytes(text);
    size_t skip = strlen(bytes.p) + 1;
    buf_add(out, bytes.p + skip, bytes.len - skip);
}

bool state_codec_request_sound(const struct request *request)
{
    const int64_t chosen = __builtin_popcountll(request->device_mask);
    const int64_t shared = request->share_devices;
    if (shared > 0) {
        const int64_t each = request->slots_milli / shared;
        return request->needs_gpu && (chosen == 0 || chosen == shared) &&
               (request->slots_milli == 0
                    ? request->gpu_memory_bytes > 0
                    : each * shared == request->slots_milli && each < SLOT_MILLI);
    }
    return (chosen == 0 || chosen * SLOT_MILLI == request->slots_milli) &&
           (request->slots_milli <= SLOT_MILLI || request->slots_milli % SLOT_MILLI == 0);
}
