/* spec_codec.c - specs as bytes. The order of fields here is the format (docs/dev/formats/facts.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/spec_codec.h"

#include "base/amount.h"
#include "core/model/codec.h"
#include "core/model/group_codec.h"
#include "core/model/limits.h"
#include "core/model/resource.h"
#include "core/model/vector.h"

#include <string.h>

static void amounts_put(struct buf *out, const struct named_amount *amounts, uint32_t count)
{
    bytes_put_u64(out, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes_put_text(out, amounts[i].name);
        bytes_put_i64(out, amounts[i].milli);
    }
}

static const struct named_amount *amounts_get(struct bytes_reader *in, struct arena *arena,
                                              uint32_t max, uint32_t *ret_count)
{
    uint32_t count = codec_get_count(in, max);
    struct named_amount *amounts = arena_new(arena, struct named_amount, count);
    for (uint32_t i = 0; i < count; i++) {
        amounts[i].name = bytes_get_text(in, arena, NAME_LEN_MAX);
        amounts[i].milli = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
    }
    *ret_count = count;
    return amounts;
}

void spec_codec_labels_put(struct buf *out, const struct label *labels, uint32_t count)
{
    bytes_put_u64(out, count);
    for (uint32_t i = 0; i < count; i++) {
        bytes_put_text(out, labels[i].key);
        bytes_put_text(out, labels[i].value);
    }
}

const struct label *spec_codec_labels_get(struct bytes_reader *in, struct arena *arena,
                                          uint32_t *ret_count)
{
    uint32_t count = codec_get_count(in, NODE_LABELS_MAX);
    struct label *labels = arena_new(arena, struct label, count);
    for (uint32_t i = 0; i < count; i++) {
        labels[i].key = bytes_get_text(in, arena, TEXT_LEN_MAX);
        labels[i].value = bytes_get_text(in, arena, TEXT_LEN_MAX);
    }
    *ret_count = count;
    return labels;
}

/* 0: no gang, 1: all or nothing, above: that and one less than this many is enough. */
static uint64_t gang_form(const struct task_spec *spec)
{
    if (!spec->gang) {
        return 0;
    }
    const bool whole = spec->min_instances == 0 || spec->min_instances >= spec->instances;
    return whole ? 1 : (uint64_t)spec->min_instances + 1;
}

void spec_codec_asks_encode(const struct task_spec *spec, struct buf *out)
{
    bytes_put_i64(out, spec->slots_milli);
    bytes_put_i64(out, spec->cpu_milli);
    bytes_put_i64(out, spec->memory_bytes);
    bytes_put_i64(out, spec->gpu_memory_bytes);
    bytes_put_u64(out, spec->device_mask);
    bytes_put_u64(out, spec->needs_gpu | (uint64_t)spec->gpu_devices << 1);
    amounts_put(out, spec->resources, spec->resource_count);
}

static void task_rest_put(const struct task_spec *spec, struct buf *out)
{
    bytes_put_u64(out, spec->instances);
    bytes_put_u64(out, spec->array_first);
    bytes_put_u64(out, gang_form(spec));
    codec_put_bool(out, spec->preemptible);
    codec_put_bool(out, spec->repeatable);
    codec_put_bool(out, spec->stage);
    bytes_put_u64(out, spec->priority);
    bytes_put_u64(out, spec->max_retries);
    bytes_put_i64(out, spec->time_limit_ms);
    bytes_put_i64(out, spec->grace_ms);
}

void spec_codec_asks_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret)
{
    ret->slots_milli = codec_get_range(in, ASK_NOTHING, AMOUNT_MILLI_MAX);
    ret->cpu_milli = codec_get_range(in, ASK_NOTHING, AMOUNT_MILLI_MAX);
    ret->memory_bytes = codec_get_range(in, ASK_NOTHING, AMOUNT_BYTES_MAX);
    ret->gpu_memory_bytes = codec_get_range(in, 0, AMOUNT_BYTES_MAX);
    ret->device_mask = bytes_get_u64(in);
    const uint64_t gpu = bytes_get_max(in, (uint64_t)NODE_DEVICES_MAX << 1 | 1);
    ret->needs_gpu = (gpu & 1) != 0;
    ret->gpu_devices = (uint32_t)(gpu >> 1);
    ret->resources = amounts_get(in, arena, TASK_RESOURCES_MAX, &ret->resource_count);
}

void spec_codec_asks_copy(struct task_spec *to, const struct task_spec *from)
{
    to->slots_milli = from->slots_milli;
    to->cpu_milli = from->cpu_milli;
    to->memory_bytes = from->memory_bytes;
    to->gpu_memory_bytes = from->gpu_memory_bytes;
    to->device_mask = from->device_mask;
    to->needs_gpu = from->needs_gpu;
    to->gpu_devices = from->gpu_devices;
    to->resources = from->resources;
    to->resource_count = from->resource_count;
}

static void task_rest_get(struct bytes_reader *in, struct task_spec *ret)
{
    ret->instances = (uint32_t)bytes_get_max(in, TASK_INSTANCES_MAX);
    ret->array_first = (uint32_t)bytes_get_max(in, UINT32_MAX - TASK_INSTANCES_MAX);
    const uint64_t gang = bytes_get_max(in, (uint64_t)ret->instances);
    ret->gang = gang > 0;
    ret->min_instances = gang > 1 ? (uint32_t)gang - 1 : 0;
    ret->preemptible = codec_get_bool(in);
    ret->repeatable = codec_get_bool(in);
    ret->stage = codec_get_bool(in);
    ret->priority = (uint32_t)bytes_get_max(in, PRIORITY_MAX);
    ret->max_retries = (uint32_t)bytes_get_max(in, RETRIES_MAX);
    ret->time_limit_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    ret->grace_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    if (ret->instances == 0 || ret->priority < PRIORITY_MIN) {
        codec_bad(in);
    }
}

/* Tags of a task. */
enum {
    TASK_AVOID = 1,
    TASK_GROUPS = 2,
    TASK_NODE_LABELS = 3,
    TASK_STALE_GRACE = 4,
    TASK_PREEMPT_DELAY = 5,
    TASK_GROUP_LABELS = 6, /* behind TASK_GROUPS */
    TASK_TAG_MAX = TASK_GROUP_LABELS,
};

static void task_later_put(const struct task_spec *spec, struct buf *out)
{
    if (spec->avoid_count > 0) {
        codec_put_tag(out, TASK_AVOID);
        codec_put_texts(out, spec->avoid, spec->avoid_count);
    }
    if (group_codec_said(spec)) {
        codec_put_tag(out, TASK_GROUPS);
        group_codec_encode(spec, out);
    }
    if (spec->node_label_count > 0) {
        codec_put_tag(out, TASK_NODE_LABELS);
        spec_codec_labels_put(out, spec->node_labels, spec->node_label_count);
    }
    if (spec->own_stale_grace) {
        codec_put_tag(out, TASK_STALE_GRACE);
        bytes_put_i64(out, spec->stale_grace_ms);
    }
    if (spec->own_preempt_delay) {
        codec_put_tag(out, TASK_PREEMPT_DELAY);
        bytes_put_i64(out, spec->preempt_delay_ms);
    }
    if (group_codec_labels_said(spec)) {
        codec_put_tag(out, TASK_GROUP_LABELS);
        group_codec_labels_encode(spec, out);
    }
    codec_put_tags_end(out);
}

static void task_later_get(struct bytes_reader *in, struct arena *arena, struct task_spec *ret)
{
    uint64_t tag = 0;
    ret->topology = (struct topology_spec){"", ""};
    while (codec_get_tag(in, TASK_TAG_MAX, &tag)) {
        switch (tag) {
        case TASK_AVOID:
            ret->avoid =
                codec_get_texts(in, arena, TASK_AVOID_MAX, NAME_LEN_MAX, &ret->avoid_count);
            if (ret->avoid_count == 0) {
                codec_bad(in);
            }
            break;
        case TASK_GROUPS:
            group_codec_decode(in, arena, ret);
            break;
        case TASK_NODE_LABELS:
            ret->node_labels = spec_codec_labels_get(in, arena, &ret->node_label_count);
            if (ret->node_label_count == 0 || ret->node_label_count > TASK_LABELS_MAX) {
                codec_bad(in);
            }
            break;
        case TASK_STALE_GRACE:
            ret->own_stale_grace = true;
            ret->stale_grace_ms = codec_get_range(in, STALE_GRACE_NEVER, AMOUNT_MS_MAX);
            break;
        case TASK_PREEMPT_DELAY:
            ret->own_preempt_delay = true;
            ret->preempt_delay_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
            break;
        case TASK_GROUP_LABELS:
            group_codec_labels_decode(in, arena, ret);
            break;
        default:
            codec_bad(in); /* a tag that was never used */
        }
    }
}

/* A dependency that any end will do for has this bit in its number. */
enum { DEPENDS_ANY_BIT = 63 };

void spec_codec_task_encode(const struct task_spec *spec, struct buf *out)
{
    bytes_put_u64(out, spec->kind);
    bytes_put_text(out, spec->name);
    bytes_put_text(out, spec->user);
    bytes_put_text(out, spec->project);
    bytes_put_text(out, spec->image);
    bytes_put_text(out, spec->workdir);
    codec_put_texts(out, spec->argv, spec->argv_count);
    codec_put_texts(out, spec->env, spec->env_count);
    codec_put_texts(out, spec->tags, spec->tag_count);
    codec_put_texts(out, spec->pools, spec->pool_count);
    bytes_put_u64(out, spec->depends_count);
    for (uint32_t i = 0; i < spec->depends_count; i++) {
        bytes_put_u64(out, spec->depends_on[i] | (spec->depends_any >> i & 1) << DEPENDS_ANY_BIT);
    }
    spec_codec_asks_encode(spec, out);
    task_rest_put(spec, out);
    task_later_put(spec, out);
}

void spec_codec_task_decode(struct bytes_reader *in, struct arena *arena, struct task_spec *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->kind = (enum task_kind)bytes_get_max(in, TASK_KIND_COUNT - 1);
    ret->name = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->user = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->project = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->image = bytes_get_text(in, arena, TASK_SPEC_BYTES_MAX);
    ret->workdir = bytes_get_text(in, arena, TASK_SPEC_BYTES_MAX);
    ret->argv = codec_get_texts(in, arena, TASK_ARGS_MAX, TASK_SPEC_BYTES_MAX, &ret->argv_count);
    ret->env = codec_get_texts(in, arena, TASK_ENV_MAX, TASK_SPEC_BYTES_MAX, &ret->env_count);
    ret->tags = codec_get_texts(in, arena, TASK_TAGS_MAX, TEXT_LEN_MAX, &ret->tag_count);
    ret->pools = codec_get_texts(in, arena, TASK_POOLS_MAX, NAME_LEN_MAX, &ret->pool_count);
    ret->depends_count = codec_get_count(in, TASK_DEPENDS_MAX);
    uint64_t *depends = arena_new(arena, uint64_t, ret->depends_count);
    for (uint32_t i = 0; i < ret->depends_count; i++) {
        uint64_t id = bytes_get_u64(in);
        depends[i] = id & (((uint64_t)1 << DEPENDS_ANY_BIT) - 1);
        ret->depends_any |= (id >> DEPENDS_ANY_BIT) << i;
    }
    ret->depends_on = depends;
    spec_codec_asks_decode(in, arena, ret);
    task_rest_get(in, ret);
    task_later_get(in, arena, ret);
}

/* Tags of a pool. */
enum {
    POOL_UNEVEN_OFF = 1,
    POOL_HALF_LIFE = 2,
    POOL_WINDOW = 3,
    POOL_FACTOR = 4,
    POOL_TOPOLOGY = 5,
    POOL_ORDER = 6,
    POOL_TAG_MAX = POOL_ORDER
};

static void pool_later_put(const struct pool_spec *spec, struct buf *out)
{
    if (spec->uneven_off) {
        codec_put_tag(out, POOL_UNEVEN_OFF);
    }
    if (spec->history_half_life_ms > 0) {
        codec_put_tag(out, POOL_HALF_LIFE);
        bytes_put_i64(out, spec->history_half_life_ms);
    }
    if (spec->history_window_ms > 0) {
        codec_put_tag(out, POOL_WINDOW);
        bytes_put_i64(out, spec->history_window_ms);
    }
    if (spec->history_factor != HISTORY_FACTOR_DEFAULT) {
        codec_put_tag(out, POOL_FACTOR);
        bytes_put_u64(out, spec->history_factor);
    }
    if (spec->topology_count > 0) {
        codec_put_tag(out, POOL_TOPOLOGY);
        codec_put_texts(out, spec->topology, spec->topology_count);
    }
    if (spec->order != QUEUE_SUBMISSION) {
        codec_put_tag(out, POOL_ORDER);
        bytes_put_u64(out, spec->order);
    }
    codec_put_tags_end(out);
}

static void pool_later_get(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret)
{
    uint64_t tag = 0;
    while (codec_get_tag(in, POOL_TAG_MAX, &tag)) {
        if (tag == POOL_UNEVEN_OFF) {
            ret->uneven_off = true;
        } else if (tag == POOL_HALF_LIFE) {
            ret->history_half_life_ms = codec_get_range(in, 1, AMOUNT_MS_MAX);
        } else if (tag == POOL_WINDOW) {
            ret->history_window_ms = codec_get_range(in, 1, AMOUNT_MS_MAX);
        } else if (tag == POOL_ORDER) {
            ret->order = (enum pool_order)bytes_get_max(in, POOL_ORDER_COUNT - 1);
            if (ret->order == QUEUE_SUBMISSION) {
                codec_bad(in); /* a default is left out */
            }
        } else if (tag == POOL_TOPOLOGY) {
            ret->topology =
                codec_get_texts(in, arena, TOPOLOGY_LEVELS_MAX, NAME_LEN_MAX, &ret->topology_count);
            if (ret->topology_count == 0 || !group_codec_levels_differ(ret)) {
                codec_bad(in);
            }
        } else {
            ret->history_factor = (uint32_t)bytes_get_max(in, HISTORY_FACTOR_MAX);
            if (ret->history_factor == HISTORY_FACTOR_DEFAULT) {
                codec_bad(in);
            }
        }
    }
}

void spec_codec_pool_encode(const struct pool_spec *spec, struct buf *out)
{
    bytes_put_text(out, spec->name);
    bytes_put_text(out, spec->title);
    bytes_put_text(out, spec->description);
    bytes_put_i64(out, spec->patience_ms);
    bytes_put_u64(out, spec->accepts);
    codec_put_bool(out, spec->paused);
    bytes_put_u64(out, spec->aux_tasks);
    bytes_put_u64(out, spec->policy);
    bytes_put_u64(out, spec->placement);
    bytes_put_u64(out, spec->victims);
    codec_put_bool(out, spec->preemption_off);
    bytes_put_u64(out, spec->consolidation_max);
    bytes_put_i64(out, spec->stale_grace_ms);
    bytes_put_i64(out, spec->preempt_min_runtime_ms);
    bytes_put_i64(out, spec->reclaim_min_runtime_ms);
    bytes_put_i64(out, spec->preempt_delay_ms);
    bytes_put_i64(out, spec->user_slots_max);
    pool_later_put(spec, out);
}

void spec_codec_pool_decode(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret)
{
    spec_codec_pool_decode_v1(in, arena, ret);
    ret->policy = (enum pool_policy)bytes_get_max(in, POOL_POLICY_COUNT - 1);
    ret->placement = (enum pool_placement)bytes_get_max(in, POOL_PLACEMENT_COUNT - 1);
    ret->victims = (enum pool_victims)bytes_get_max(in, POOL_VICTIMS_COUNT - 1);
    ret->preemption_off = codec_get_bool(in);
    ret->consolidation_max = (uint32_t)bytes_get_max(in, CONSOLIDATION_MAX);
    ret->stale_grace_ms = codec_get_range(in, STALE_GRACE_NEVER, AMOUNT_MS_MAX);
    ret->preempt_min_runtime_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    ret->reclaim_min_runtime_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    ret->preempt_delay_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    ret->user_slots_max = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
    pool_later_get(in, arena, ret);
}

void spec_codec_pool_decode_v1(struct bytes_reader *in, struct arena *arena, struct pool_spec *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->name = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->title = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->description = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->patience_ms = codec_get_range(in, 0, AMOUNT_MS_MAX);
    ret->accepts = (uint32_t)bytes_get_max(in, (1U << TASK_KIND_COUNT) - 1);
    ret->paused = codec_get_bool(in);
    ret->aux_tasks = (uint32_t)bytes_get_max(in, AUX_TASKS_MAX);
    ret->consolidation_max = CONSOLIDATION_DEFAULT;
    ret->stale_grace_ms = STALE_GRACE_MS_DEFAULT;
    ret->history_factor = HISTORY_FACTOR_DEFAULT;
    if (ret->name[0] == '\0') {
        codec_bad(in);
    }
}

void spec_codec_node_encode(const struct node_spec *spec, struct buf *out)
{
    bytes_put_text(out, spec->name);
    bytes_put_text(out, spec->pool);
    spec_codec_labels_put(out, spec->labels, spec->label_count);
    bytes_put_i64(out, spec->slots_milli);
    bytes_put_i64(out, spec->cpu_milli);
    bytes_put_i64(out, spec->memory_bytes);
    bytes_put_i64(out, spec->gpu_memory_bytes);
    bytes_put_u64(out, spec->device_count);
    amounts_put(out, spec->resources, spec->resource_count);
    codec_put_16(out, spec->supervisor);
    bytes_put_text(out, spec->boot_id);
    bytes_put_text(out, spec->address);
    bytes_put_text(out, spec->version);
}

void spec_codec_node_decode(struct bytes_reader *in, struct arena *arena, struct node_spec *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->name = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->pool = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->labels = spec_codec_labels_get(in, arena, &ret->label_count);
    ret->slots_milli = codec_get_range(in, 0, (int64_t)NODE_SLOTS_MAX * 1000);
    ret->cpu_milli = codec_get_range(in, 0, AMOUNT_MILLI_MAX);
    ret->memory_bytes = codec_get_range(in, 0, AMOUNT_BYTES_MAX);
    ret->gpu_memory_bytes = codec_get_range(in, 0, AMOUNT_BYTES_MAX);
    ret->device_count = (uint32_t)bytes_get_max(in, NODE_DEVICES_MAX);
    ret->resources = amounts_get(in, arena, NODE_RESOURCES_MAX, &ret->resource_count);
    codec_get_16(in, ret->supervisor);
    ret->boot_id = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->address = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->version = bytes_get_text(in, arena, TEXT_LEN_MAX);
    if (ret->name[0] == '\0') {
        codec_bad(in);
    }
    if (ret->device_count > 0 && ret->slots_milli != (int64_t)ret->device_count * 1000) {
        codec_bad(in);
    }
}

void spec_codec_account_encode(const struct account_spec *spec, struct buf *out)
{
    bytes_put_u64(out, spec->kind);
    bytes_put_text(out, spec->name);
    bytes_put_text(out, spec->title);
    bytes_put_text(out, spec->description);
}

void spec_codec_account_decode(struct bytes_reader *in, struct arena *arena,
                               struct account_spec *ret)
{
    ret->kind = (enum account_kind)bytes_get_max(in, ACCOUNT_KIND_COUNT - 1);
    ret->name = bytes_get_text(in, arena, NAME_LEN_MAX);
    ret->parent = "";
    ret->title = bytes_get_text(in, arena, TEXT_LEN_MAX);
    ret->description = bytes_get_text(in, arena, TEXT_LEN_MAX);
    if (ret->name[0] == '\0') {
        codec_bad(in);
    }
}

void spec_codec_quota_encode(const struct quota_row *row, struct buf *out)
{
    bytes_put_u64(out, row->rank);
    bytes_put_i64(out, row->preempt_min_runtime_ms);
    bytes_put_i64(out, row->reclaim_min_runtime_ms);
    bytes_put_u64(out, row->term_count);
    for (uint32_t i = 0; i < row->term_count; i++) {
        bytes_put_u64(out, row->terms[i].resource.v);
        bytes_put_i64(out, row->terms[i].guaranteed);
        bytes_put_i64(out, row->terms[i].limit);
        bytes_put_u64(out, row->terms[i].weight);
    }
}

void spec_codec_quota_decode(struct bytes_reader *in, uint32_t resource_count,
                             struct quota_row *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->rank = (uint32_t)bytes_get_max(in, QUOTA_RANK_MAX);
    ret->preempt_min_runtime_ms = codec_get_range(in, QUOTA_INHERIT, AMOUNT_MS_MAX);
    ret->reclaim_min_runtime_ms = codec_get_range(in, QUOTA_INHERIT, AMOUNT_MS_MAX);
    ret->term_count = codec_get_count(in, QUOTA_DIMS_MAX);
    for (uint32_t i = 0; i < ret->term_count; i++) {
        struct quota_term *term = &ret->terms[i];
        term->resource.v = (uint16_t)bytes_get_max(in, resource_count - 1);
        int64_t max = term->resource.v == RESOURCE_MEMORY ? AMOUNT_BYTES_MAX : AMOUNT_MILLI_MAX;
        term->guaranteed = codec_get_range(in, QUOTA_UNSET, max);
        term->limit = codec_get_range(in, QUOTA_UNLIMITED, max);
        term->weight = (uint32_t)bytes_get_max(in, QUOTA_WEIGHT_MAX);
        if (quota_term_default(term) ||
            (i > 0 && term->resource.v <= ret->terms[i - 1].resource.v)) {
            codec_bad(in);
        }
    }
}
