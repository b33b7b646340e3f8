/* spec_limits.c - is a spec within limits.h? What passes here is what the codec reads back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/spec_limits.h"

#include "base/amount.h"
#include "base/buf.h"
#include "core/model/group_codec.h"
#include "core/model/limits.h"
#include "core/model/spec_codec.h"

#include <string.h>

/* One bound: a value, the highest and lowest it may have, and the name a refusal shows. */
struct bound {
    const char *limit;
    int64_t value;
    int64_t low;
    int64_t high;
};

static bool bounds_hold(const struct bound *bounds, size_t count, const char **ret_limit,
                        int64_t *ret_max)
{
    for (size_t i = 0; i < count; i++) {
        if (bounds[i].value < bounds[i].low || bounds[i].value > bounds[i].high) {
            *ret_limit = bounds[i].limit;
            *ret_max = bounds[i].value < bounds[i].low ? bounds[i].low : bounds[i].high;
            return false;
        }
    }
    return true;
}

#define BOUNDS_HOLD(...)                                                                           \
    bounds_hold((const struct bound[]){__VA_ARGS__},                                               \
                sizeof((const struct bound[]){__VA_ARGS__}) / sizeof(struct bound), ret_limit,     \
                ret_max)

static int64_t text_len(const char *text)
{
    return text != NULL ? (int64_t)strlen(text) : 0;
}

static int64_t texts_len_max(const char *const *texts, uint32_t count)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < count; i++) {
        longest = text_len(texts[i]) > longest ? text_len(texts[i]) : longest;
    }
    return longest;
}

static bool labels_in_limits(const struct label *labels, uint32_t count, const char **ret_limit,
                             int64_t *ret_max)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!BOUNDS_HOLD({"label length", text_len(labels[i].key), 1, TEXT_LEN_MAX},
                         {"label length", text_len(labels[i].value), 0, TEXT_LEN_MAX})) {
            return false;
        }
    }
    return true;
}

static bool amounts_in_limits(const struct named_amount *amounts, uint32_t count,
                              const char **ret_limit, int64_t *ret_max)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!BOUNDS_HOLD({"resource name length", text_len(amounts[i].name), 1, NAME_LEN_MAX},
                         {"resource amount", amounts[i].milli, 0, AMOUNT_MILLI_MAX})) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(amounts[i].name, amounts[j].name) == 0) {
                *ret_limit = "amounts of one resource";
                *ret_max = 1;
                return false;
            }
        }
    }
    return true;
}

/* All texts of a task together, as spec_codec_task_encode() writes them. */
static int64_t task_spec_bytes(const struct task_spec *spec)
{
    struct buf bytes;
    buf_init(&bytes, TASK_SPEC_BYTES_MAX + 1);
    spec_codec_task_encode(spec, &bytes);
    int64_t len = bytes.full ? (int64_t)TASK_SPEC_BYTES_MAX + 1 : (int64_t)bytes.len;
    buf_done(&bytes);
    return len;
}

/* What each instance asks for. */
static bool asks_in_limits(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    return BOUNDS_HOLD(
               {"slots", spec->slots_milli, ASK_NOTHING, AMOUNT_MILLI_MAX},
               {"cpu", spec->cpu_milli, ASK_NOTHING, AMOUNT_MILLI_MAX},
               {"memory", spec->memory_bytes, ASK_NOTHING, AMOUNT_BYTES_MAX},
               {"gpu memory", spec->gpu_memory_bytes, 0, AMOUNT_BYTES_MAX},
               {"devices", spec->gpu_devices, 0, NODE_DEVICES_MAX},
               {"named resources of a task", spec->resource_count, 0, TASK_RESOURCES_MAX}) &&
           amounts_in_limits(spec->resources, spec->resource_count, ret_limit, ret_max);
}

static bool topology_in_limits(const struct topology_spec *topology, const char **ret_limit,
                               int64_t *ret_max)
{
    return BOUNDS_HOLD({"topology level length", text_len(topology->required), 0, NAME_LEN_MAX},
                       {"topology level length", text_len(topology->preferred), 0, NAME_LEN_MAX});
}

static bool groups_in_limits(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    const bool grouped = spec->group_count > 0;
    const struct topology_spec *topology = &spec->topology;
    const bool close = text_len(topology->required) + text_len(topology->preferred) > 0;
    if (!topology_in_limits(topology, ret_limit, ret_max) ||
        !BOUNDS_HOLD(
            {"groups", spec->group_count, 0, TASK_GROUPS_MAX},
            {"instances beside a topology that are no gang",
             close && !spec->gang ? spec->instances : 1, 1, 1},
            {"groups of a task that is no gang", spec->gang ? 0 : spec->group_count, 0, 0},
            {"min_groups", spec->min_groups, 0, spec->group_count},
            {"min_instances of a task with groups", grouped ? spec->min_instances : 0, 0, 0})) {
        return false;
    }
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *group = &spec->groups[i];
        if (!BOUNDS_HOLD({"group name length", text_len(group->name), 1, NAME_LEN_MAX},
                         {"instances of a group", group->instances, 0, TASK_INSTANCES_MAX},
                         {"minimum of a group", group->min, 0, TASK_INSTANCES_MAX},
                         {"labels of its nodes", spec->node_label_count + group->node_label_count,
                          0, TASK_LABELS_MAX},
                         {"labels of a group of groups",
                          group->instances > 0 ? 0 : group->node_label_count, 0, 0}) ||
            !labels_in_limits(group->node_labels, group->node_label_count, ret_limit, ret_max) ||
            !topology_in_limits(&group->topology, ret_limit, ret_max) ||
            (group->asks != NULL && !asks_in_limits(group->asks, ret_limit, ret_max))) {
            return false;
        }
    }
    *ret_limit = "groups that add up to the instances";
    *ret_max = spec->instances;
    return group_codec_sound(spec);
}

bool spec_limits_task(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    if (!BOUNDS_HOLD({"arguments", spec->argv_count, 0, TASK_ARGS_MAX},
                     {"environment variables", spec->env_count, 0, TASK_ENV_MAX},
                     {"tags", spec->tag_count, 0, TASK_TAGS_MAX},
                     {"pools of a task", spec->pool_count, 0, TASK_POOLS_MAX},
                     {"dependencies", spec->depends_count, 0, TASK_DEPENDS_MAX},
                     {"nodes to avoid", spec->avoid_count, 0, TASK_AVOID_MAX},
                     {"labels of its nodes", spec->node_label_count, 0, TASK_LABELS_MAX},
                     {"instances", spec->instances, 1, TASK_INSTANCES_MAX},
                     {"min_instances", spec->min_instances, 0, spec->instances},
                     {"first array index", spec->array_first, 0, UINT32_MAX - TASK_INSTANCES_MAX},
                     {"priority", spec->priority, PRIORITY_MIN, PRIORITY_MAX},
                     {"retries", spec->max_retries, 0, RETRIES_MAX},
                     {"kind", spec->kind, 0, TASK_KIND_COUNT - 1})) {
        return false;
    }
    if (!BOUNDS_HOLD(
            {"time limit", spec->time_limit_ms, 0, AMOUNT_MS_MAX},
            {"grace time", spec->grace_ms, 0, AMOUNT_MS_MAX},
            {"stale grace", spec->stale_grace_ms, STALE_GRACE_NEVER, AMOUNT_MS_MAX},
            {"preemption delay", spec->preempt_delay_ms, 0, AMOUNT_MS_MAX},
            {"name length", text_len(spec->name), 0, TEXT_LEN_MAX},
            {"user length", text_len(spec->user), 0, TEXT_LEN_MAX},
            {"project length", text_len(spec->project), 0, NAME_LEN_MAX},
            {"tag length", texts_len_max(spec->tags, spec->tag_count), 0, TEXT_LEN_MAX},
            {"node name length", texts_len_max(spec->avoid, spec->avoid_count), 0, NAME_LEN_MAX},
            {"pool name length", texts_len_max(spec->pools, spec->pool_count), 0, NAME_LEN_MAX},
            {"task size in bytes", task_spec_bytes(spec), 0, TASK_SPEC_BYTES_MAX})) {
        return false;
    }
    return labels_in_limits(spec->node_labels, spec->node_label_count, ret_limit, ret_max) &&
           asks_in_limits(spec, ret_limit, ret_max) && groups_in_limits(spec, ret_limit, ret_max);
}

bool spec_limits_pool(const struct pool_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    *ret_limit = "times that a topology level is named";
    *ret_max = 1;
    return BOUNDS_HOLD({"pool name length", text_len(spec->name), 1, NAME_LEN_MAX},
                       {"title length", text_len(spec->title), 0, TEXT_LEN_MAX},
                       {"description length", text_len(spec->description), 0, TEXT_LEN_MAX},
                       {"patience", spec->patience_ms, 0, AMOUNT_MS_MAX},
                       {"kinds", spec->accepts, 0, (1 << TASK_KIND_COUNT) - 1},
                       {"zero-slot tasks", spec->aux_tasks, 0, AUX_TASKS_MAX},
                       {"policy", spec->policy, 0, POOL_POLICY_COUNT - 1},
                       {"placement", spec->placement, 0, POOL_PLACEMENT_COUNT - 1},
                       {"victims", spec->victims, 0, POOL_VICTIMS_COUNT - 1},
                       {"order", spec->order, 0, POOL_ORDER_COUNT - 1},
                       {"consolidation", spec->consolidation_max, 0, CONSOLIDATION_MAX},
                       {"stale grace", spec->stale_grace_ms, STALE_GRACE_NEVER, AMOUNT_MS_MAX},
                       {"minimum runtime", spec->preempt_min_runtime_ms, 0, AMOUNT_MS_MAX},
                       {"minimum runtime", spec->reclaim_min_runtime_ms, 0, AMOUNT_MS_MAX},
                       {"preemption delay", spec->preempt_delay_ms, 0, AMOUNT_MS_MAX},
                       {"half-life", spec->history_half_life_ms, 0, AMOUNT_MS_MAX},
                       {"window", spec->history_window_ms, 0, AMOUNT_MS_MAX},
                       {"history factor", spec->history_factor, 0, HISTORY_FACTOR_MAX},
                       {"slots of one user", spec->user_slots_max, 0, AMOUNT_MILLI_MAX},
                       {"topology levels", spec->topology_count, 0, TOPOLOGY_LEVELS_MAX},
                       {"topology level length",
                        texts_len_max(spec->topology, spec->topology_count), 0, NAME_LEN_MAX}) &&
           group_codec_levels_differ(spec);
}

bool spec_limits_account(const struct account_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    return BOUNDS_HOLD({"name length", text_len(spec->name), 1, NAME_LEN_MAX},
                       {"title length", text_len(spec->title), 0, TEXT_LEN_MAX},
                       {"description length", text_len(spec->description), 0, TEXT_LEN_MAX},
                       {"kind", spec->kind, 0, ACCOUNT_KIND_COUNT - 1});
}

bool spec_limits_node(const struct node_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    if (!BOUNDS_HOLD({"node name length", text_len(spec->name), 1, NAME_LEN_MAX},
                     {"pool name length", text_len(spec->pool), 0, NAME_LEN_MAX},
                     {"labels", spec->label_count, 0, NODE_LABELS_MAX},
                     {"slots", spec->slots_milli, 0, (int64_t)NODE_SLOTS_MAX * 1000},
                     {"cpu", spec->cpu_milli, 0, AMOUNT_MILLI_MAX},
                     {"memory", spec->memory_bytes, 0, AMOUNT_BYTES_MAX},
                     {"gpu memory", spec->gpu_memory_bytes, 0, AMOUNT_BYTES_MAX},
                     {"devices", spec->device_count, 0, NODE_DEVICES_MAX},
                     {"named resources of a node", spec->resource_count, 0, NODE_RESOURCES_MAX},
                     {"boot id length", text_len(spec->boot_id), 0, TEXT_LEN_MAX},
                     {"address length", text_len(spec->address), 0, TEXT_LEN_MAX},
                     {"version length", text_len(spec->version), 0, TEXT_LEN_MAX})) {
        return false;
    }
    return labels_in_limits(spec->labels, spec->label_count, ret_limit, ret_max) &&
           amounts_in_limits(spec->resources, spec->resource_count, ret_limit, ret_max);
}
