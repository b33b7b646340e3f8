/* spec_limits.c - is a spec within limits.h? The codec reads back every spec that passes here.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/spec_limits.h"

#include "base/amount.h"
#include "core/model/object.h"
#include "core/model/task_parts.h"
#include "core/model/form.h"
#include "core/model/limits.h"
#include "core/model/pool_zones.h"

#include <string.h>

/* One bound: a value, the lowest and the highest number allowed, and the name that a refusal shows. */
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

/* Has a task's spec, as spec_codec_task_encode() writes it, too many bytes? */
static bool task_spec_too_large(const struct task_spec *spec)
{
    return !object_fits(&task_object, spec, TASK_SPEC_BYTES_MAX);
}

/* Is the request of each instance within its limits? */
static bool asks_in_limits(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    return BOUNDS_HOLD({"gpu_devices", spec->gpu_devices, 0, NODE_DEVICES_MAX}) &&
           record_table_bounded(&task_parts_asks, spec, ret_limit, ret_max) &&
           amounts_in_limits(spec->resources, spec->resource_count, ret_limit, ret_max);
}

static bool groups_in_limits(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    const bool grouped = spec->group_count > 0;
    const bool close =
        form_level_said(spec->topology.required) || form_level_said(spec->topology.preferred);
    if (!task_parts_groups_bounded(spec, ret_limit, ret_max) ||
        !BOUNDS_HOLD(
            {"instances beside a topology that are no gang",
             close && !spec->gang ? spec->instances : 1, 1, 1},
            {"groups of a task that is no gang", spec->gang ? 0 : spec->group_count, 0, 0},
            {"min_groups", spec->min_groups, 0, spec->group_count},
            {"min_instances of a task with groups", grouped ? spec->min_instances : 0, 0, 0})) {
        return false;
    }
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct group_spec *group = &spec->groups[i];
        if (!BOUNDS_HOLD({"labels of its nodes", spec->node_label_count + group->node_label_count,
                          0, TASK_LABELS_MAX},
                         {"labels of a group of groups",
                          group->instances > 0 ? 0 : group->node_label_count, 0, 0}) ||
            !labels_in_limits(group->node_labels, group->node_label_count, ret_limit, ret_max) ||
            (group->asks != NULL && !asks_in_limits(group->asks, ret_limit, ret_max))) {
            return false;
        }
    }
    *ret_limit = "groups that add up to the instances";
    *ret_max = spec->instances;
    return task_parts_groups_sound(spec);
}

bool spec_limits_task(const struct task_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    return object_bounded(&task_object, spec, ret_limit, ret_max) &&
           BOUNDS_HOLD({"dependencies", spec->depends_count, 0, TASK_DEPENDS_MAX},
                       {"min_instances", spec->min_instances, 0, spec->instances}) &&
           BOUNDS_HOLD({"task size in bytes",
                        task_spec_too_large(spec) ? (int64_t)TASK_SPEC_BYTES_MAX + 1 : 0, 0,
                        TASK_SPEC_BYTES_MAX}) &&
           labels_in_limits(spec->node_labels, spec->node_label_count, ret_limit, ret_max) &&
           asks_in_limits(spec, ret_limit, ret_max) &&
           record_table_bounded(&task_parts_fallback, spec, ret_limit, ret_max) &&
           groups_in_limits(spec, ret_limit, ret_max);
}

bool spec_limits_levels_differ(const struct pool_spec *spec)
{
    for (uint32_t i = 0; i < spec->topology_count; i++) {
        if (!form_level_said(spec->topology[i])) {
            return false;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(spec->topology[i], spec->topology[j]) == 0) {
                return false;
            }
        }
    }
    return true;
}

bool spec_limits_pool(const struct pool_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    if (!object_bounded(&pool_object, spec, ret_limit, ret_max)) {
        return false;
    }
    if (spec->nodes_min > spec->nodes_max) {
        *ret_limit = "min";
        *ret_max = spec->nodes_max;
        return false;
    }
    *ret_limit = "nodes in all zones together";
    *ret_max = spec->nodes_fixed;
    if (spec->idle_after_ms > 0 && spec->idle_warn_ms >= spec->idle_after_ms) {
        *ret_limit = "idle_warn, which must be below idle_after";
        *ret_max = spec->idle_after_ms;
        return false;
    }
    if (!pool_zones_sound(spec)) {
        return false;
    }
    *ret_limit = "times that a topology level is named";
    *ret_max = 1;
    return spec_limits_levels_differ(spec) &&
           labels_in_limits(spec->selector, spec->selector_count, ret_limit, ret_max);
}

bool spec_limits_flavor(const struct flavor_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    if (!object_bounded(&flavor_object, spec, ret_limit, ret_max)) {
        return false;
    }
    *ret_limit = "times that a zone is named";
    *ret_max = 1;
    for (uint32_t i = 0; i < spec->zone_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(spec->zones[i], spec->zones[j]) == 0) {
                return false;
            }
        }
    }
    return true;
}

bool spec_limits_network(const struct network_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    struct network_range range;
    if (!object_bounded(&network_object, spec, ret_limit, ret_max)) {
        return false;
    }
    *ret_limit = "bits of a range like 10.77.0.0/24, with the first address in front";
    *ret_max = NETWORK_RANGE_BITS_MAX;
    return network_range_read(spec->range, &range);
}

const char *spec_limits_account_idle(const struct account_spec *spec, const char **ret_field)
{
    const bool stops =
        spec->idle_action == ACCOUNT_IDLE_PAUSE || spec->idle_action == ACCOUNT_IDLE_END;
    *ret_field = "idle_after";
    if (spec->idle_action == ACCOUNT_IDLE_NONE && spec->idle_after_ms > 0) {
        return "must be 0 with the idle_action none, which pauses and ends no task";
    }
    if (stops && spec->idle_after_ms == 0) {
        return "must be above 0 with the idle_action pause or end";
    }
    if (spec->idle_action == ACCOUNT_IDLE_INHERIT && spec->idle_after_ms > 0) {
        return "must be 0 with the idle_action inherit; say pause or end";
    }
    *ret_field = "idle_warn";
    if (spec->idle_action == ACCOUNT_IDLE_INHERIT && spec->idle_warn_ms > 0) {
        return "must be 0 with the idle_action inherit; say none, pause or end";
    }
    if (stops && spec->idle_warn_ms >= spec->idle_after_ms) {
        return "must be below idle_after";
    }
    return NULL;
}

bool spec_limits_account(const struct account_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    *ret_max = spec->idle_after_ms;
    return object_bounded(&account_object, spec, ret_limit, ret_max) &&
           spec_limits_account_idle(spec, ret_limit) == NULL;
}

bool spec_limits_node(const struct node_spec *spec, const char **ret_limit, int64_t *ret_max)
{
    return object_bounded(&node_object, spec, ret_limit, ret_max) &&
           labels_in_limits(spec->labels, spec->label_count, ret_limit, ret_max) &&
           amounts_in_limits(spec->resources, spec->resource_count, ret_limit, ret_max);
}
