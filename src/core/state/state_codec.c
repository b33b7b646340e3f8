/* state_codec.c - the sections of a stored state, and what their files share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/account.h"
#include "core/model/network.h"
#include "core/state/state_codec.h"

const struct state_section *const state_codec_sections[STATE_SECTION_COUNT] = {
    &state_codec_network,          &state_codec_flavor,        &state_codec_pool,
    &state_codec_account,          &state_codec_account_quota, &state_codec_node,
    &state_codec_node_shape,       &state_codec_task,          &state_codec_task_key,
    &state_codec_task_outcome,     &state_codec_claim,         &state_codec_pool_history,
    &state_codec_claim_eviction,   &state_codec_pool_typical,  &state_codec_task_length,
    &state_codec_launch_defaults,  &state_codec_launch,        &state_codec_fallback,
    &state_codec_fallback_surplus, &state_codec_pool_reserved, &state_codec_rollout,
};

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
    NUMBER(flavors.last, UINT32_MAX, .since = STATE_VERSION_POOLS),
    NUMBER(networks.last, NETWORK_ROW_LAST, .since = STATE_VERSION_NETWORKS),
};
const struct record_table state_codec_numbers = RECORD_TABLE(struct core, numbers);

void state_codec_read(struct state_reader *r, const struct record_table *fields, void *ret)
{
    record_read(fields,
                &(struct record_source){
                    .in = &r->in, .arena = &r->arena, .version = r->version, .bounds = &r->head},
                ret);
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

bool state_codec_shapes_used(struct state_reader *r)
{
    for (uint64_t shape = table_next(&r->core->shapes, 0); shape != 0;
         shape = table_next(&r->core->shapes, shape)) {
        if (query_task_shape(r->core, (shape_id){(uint32_t)shape})->task_count == 0) {
            return false;
        }
    }
    return true;
}
