/* typical_use.c - see typical_use.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/typical_use.h"

#include "core/model/fit.h"
#include "core/model/label.h"
#include "core/model/space.h"

void typical_use_of(const struct request *request, uint64_t weight, struct typical_use *ret)
{
    *ret = (struct typical_use){
        .request = request,
        .weight = weight,
        .slots_milli = request->slots_milli,
        .cpu_milli = request->cpu_milli,
        .memory_bytes = request->memory_bytes,
        .picky =
            request->label_count > 0 || request->named_count > 0 || request->gpu_memory_bytes > 0,
    };
    if (request->slots_milli > 0 && request->slots_milli < SLOT_MILLI) {
        ret->of_device = (uint32_t)(SLOT_MILLI / request->slots_milli);
    }
    ret->plain = request->slots_milli > 0 && request->cpu_milli >= 0 &&
                 request->memory_bytes >= 0 && request->gpu_memory_bytes == 0 &&
                 request->device_mask == 0 && request->named_count == 0 &&
                 request->share_devices == 0 && request->avoid_count == 0;
}

void typical_use_idle(const struct space *place, struct idle *ret)
{
    ret->place = place;
    ret->whole = 0;
    ret->part_count = 0;
    for (uint32_t i = 0; i < place->node->device_count; i++) {
        const uint16_t free = place->device_free[i];
        ret->whole += free == SLOT_MILLI;
        if (free > 0 && free < SLOT_MILLI) {
            ret->parts[ret->part_count++] = free;
        }
    }
}

/* As often as the devices have the slots. */
static uint32_t devices_fit(const struct typical_use *use, const struct idle *idle)
{
    const uint32_t slots = (uint32_t)use->slots_milli;
    if (use->of_device == 0) {
        return idle->whole * SLOT_MILLI / slots;
    }
    uint32_t count = idle->whole * use->of_device;
    for (uint32_t i = 0; i < idle->part_count; i++) {
        count += idle->parts[i] / slots;
    }
    return count;
}

/* How often, at most `max`; most often there is enough, and no need to divide. What is free may be below 0: overhang. */
static uint32_t times(int64_t free, int64_t wanted, uint32_t max)
{
    int64_t all;
    if (wanted <= 0 || (!__builtin_mul_overflow(wanted, (int64_t)max, &all) && all <= free)) {
        return max;
    }
    return free < wanted ? 0 : (uint32_t)(free / wanted);
}

static bool has_named(const struct node *node, const struct amount *wanted)
{
    uint32_t at = 0;
    while (at < node->named_count && node->named[at].resource.v < wanted->resource.v) {
        at++;
    }
    return at < node->named_count && node->named[at].resource.v == wanted->resource.v &&
           node->named[at].milli >= wanted->milli;
}

/* Is the node of the kind that is asked for, however little of it is free? */
bool typical_use_suits(const struct typical_use *use, const struct node *node)
{
    const struct request *request = use->request;
    if (!use->picky) {
        return true;
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (!has_named(node, &request->named[i])) {
            return false;
        }
    }
    return request->gpu_memory_bytes <= node->gpu_memory_bytes &&
           label_marks_cover(node->labels, request);
}

uint32_t typical_use_fits(const struct typical_use *use, const struct idle *idle)
{
    const struct space *place = idle->place;
    if (!use->plain || place->node->device_count == 0) {
        return fit_count(place, use->request, UINT32_MAX);
    }
    if (place->slots_free < use->slots_milli || !typical_use_suits(use, place->node)) {
        return 0;
    }
    uint32_t count = devices_fit(use, idle);
    count = times(place->slots_free, use->slots_milli, count);
    count = times(place->cpu_free, use->cpu_milli, count);
    return times(place->memory_free, use->memory_bytes, count);
}

uint64_t typical_use_root(uint64_t value)
{
    uint64_t root = 0;
    const int highest = 63 - __builtin_clzll(value | 1);
    for (uint64_t bit = (uint64_t)1 << highest / 2; bit > 0; bit >>= 1) {
        if ((root + bit) * (root + bit) <= value) {
            root += bit;
        }
    }
    return root;
}
