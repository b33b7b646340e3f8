/* state_codec.c - the sections of a stored state, and what their files share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/state_codec.h"

const struct state_section *const state_codec_sections[] = {
    &state_codec_pool,           &state_codec_account,         &state_codec_account_quotas,
    &state_codec_node,           &state_codec_node_shapes,     &state_codec_task,
    &state_codec_task_keys,      &state_codec_task_outcomes,   &state_codec_claim,
    &state_codec_pool_histories, &state_codec_claim_evictions, &state_codec_pool_typicals,
    &state_codec_task_lengths,   &state_codec_pool_blocked,
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
