/* fit.c - one request against one node.
 *
 * Each function takes the minimum over the requested resources: how often does the request go into what is
 * free? Surprising: on a node with devices a whole slot takes a wholly free device. So free slots that are
 * spread over half-used devices cannot take a request for a whole slot. Keeps S1 of sched/README.md: nothing
 * is placed beyond what is free.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/fit.h"

#include "base/checked.h"
#include "base/must.h"
#include "core/model/devices.h"
#include "core/model/label.h"
#include "core/model/limits.h"

#include <string.h>

bool fit_usable(const struct node *node)
{
    return node_takes_work(node);
}

int64_t fit_part(int64_t total, const struct node *node, int64_t slots_milli)
{
    must(slots_milli >= 0);
    if (node->slots_milli <= 0 || total <= 0) {
        return 0;
    }
    const int64_t part = i64_mul_div(total, SLOT_MILLI, node->slots_milli);
    return i64_mul_div(part, slots_milli, SLOT_MILLI);
}

int64_t fit_slots(const struct node *node, const struct request *request)
{
    return request_by_memory(request)
               ? (int64_t)request->share_devices *
                     resource_gpu_share(request->gpu_memory_bytes, node->gpu_memory_bytes)
               : request->slots_milli;
}

static int64_t cpu_wanted(const struct node *node, const struct request *request)
{
    return request->cpu_milli >= 0 ? request->cpu_milli
                                   : fit_part(node->cpu_milli, node, fit_slots(node, request));
}

static int64_t memory_wanted(const struct node *node, const struct request *request)
{
    return request->memory_bytes >= 0
               ? request->memory_bytes
               : fit_part(node->memory_bytes, node, fit_slots(node, request));
}

/* How often `wanted` goes into `free`, at most `max`. `wanted` of 0 gives `max`. */
static uint32_t times(int64_t free, int64_t wanted, uint32_t max)
{
    if (wanted <= 0) {
        return max;
    }
    if (free < wanted) {
        return 0;
    }
    const int64_t count = free / wanted;
    return count < (int64_t)max ? (uint32_t)count : max;
}

/* Does the request say that the instance must not run on this node? */
static bool avoided(const struct node *node, const struct request *request)
{
    for (uint32_t i = 0; i < request->avoid_count; i++) {
        if (request->avoid[i].v == node->id.v) {
            return true;
        }
    }
    return false;
}

/* Must the instance have a whole node, of another number of slots than this node has? */
static bool other_size(const struct node *node, const struct request *request)
{
    return request->wide == WIDE_NODES && node->slots_milli != request->slots_milli;
}

uint32_t fit_count(const struct space *place, const struct request *request, uint32_t max)
{
    const struct node *node = place->node;
    uint32_t count = times(place->slots_free, fit_slots(node, request), max);
    if (count == 0 || other_size(node, request) || avoided(node, request) ||
        !label_marks_cover(node->labels, request)) {
        return 0;
    }
    if (!request_has_slots(request)) {
        const int64_t aux_free = (int64_t)node->aux_max - (int64_t)place->aux_used;
        count = times(aux_free, 1, count);
    }
    count = times(place->cpu_free, cpu_wanted(node, request), count);
    count = times(place->memory_free, memory_wanted(node, request), count);
    if (request->gpu_memory_bytes > node->gpu_memory_bytes) {
        return 0;
    }
    for (uint32_t i = 0; i < request->named_count && count > 0; i++) {
        const uint32_t at = space_named_index(node, request->named[i].resource);
        const int64_t free = at < node->named_count ? place->named_free[at] : 0;
        count = times(free, request->named[i].milli, count);
    }
    return count == 0 ? 0 : devices_count(place, request, count);
}

void fit_wants(const struct node *node, const struct request *request, struct grant *ret)
{
    *ret = (struct grant){
        .slots_milli = fit_slots(node, request),
        .cpu_milli = cpu_wanted(node, request),
        .memory_bytes = memory_wanted(node, request),
    };
}

uint32_t fit_times(int64_t free, int64_t wanted, uint32_t max)
{
    return free < 0 ? max : times(free, wanted, max);
}

void fit_grant(const struct space *place, const struct request *request, struct grant *ret)
{
    const struct node *node = place->node;
    fit_wants(node, request, ret);
    if (devices_held(node, request)) {
        ret->devices = devices_choose(place, request);
    }
}

static bool lacks_amount(struct lack *ret, uint16_t resource, int64_t wanted, int64_t free)
{
    if (wanted <= 0 || free >= wanted) {
        return false;
    }
    *ret = (struct lack){
        .code = REASON_NO_ROOM,
        .resource = {resource},
        .wanted = wanted,
        .available = free > 0 ? free : 0,
    };
    return true;
}

/* Turns a lack of parts of a device into a lack of GPU memory. */
static void memory_lack(const struct node *node, const struct request *request, int64_t free_milli,
                        struct lack *ret)
{
    ret->resource.v = RESOURCE_GPU_MEMORY;
    ret->wanted = request->gpu_memory_bytes;
    ret->available = i64_mul_div(node->gpu_memory_bytes, free_milli, SLOT_MILLI);
}

static bool lacks_devices(const struct space *place, const struct request *request,
                          struct lack *ret)
{
    const struct node *node = place->node;
    if (devices_exist(node, request) && devices_count(place, request, 1) > 0) {
        return false;
    }
    *ret = (struct lack){
        .code = REASON_NO_DEVICES,
        .resource = {RESOURCE_SLOTS},
        .wanted = fit_slots(node, request),
        .available = (int64_t)node->device_count * SLOT_MILLI,
    };
    if (!devices_exist(node, request)) {
        return true;
    }
    ret->code = request->device_mask != 0 ? REASON_DEVICES_BUSY : REASON_NO_ROOM;
    ret->available = devices_available(place, request);
    if (request_by_memory(request)) {
        memory_lack(node, request, ret->available, ret);
    } else if (request->share_devices > 0) {
        ret->wanted = request->slots_milli / request->share_devices; /* the part of each device */
    }
    return true;
}

bool fit_lack(const struct space *place, const struct request *request, struct lack *ret)
{
    const struct node *node = place->node;
    if (avoided(node, request)) {
        *ret = (struct lack){.code = REASON_AVOIDED};
        return true;
    }
    if (!label_marks_cover(node->labels, request)) {
        *ret = (struct lack){.code = REASON_OTHER_LABELS};
        return true;
    }
    if (!devices_exist(node, request)) {
        return lacks_devices(place, request, ret);
    }
    if (other_size(node, request)) {
        *ret = (struct lack){.code = REASON_NO_ROOM,
                             .resource = {RESOURCE_SLOTS},
                             .wanted = request->slots_milli,
                             .available = node->slots_milli};
        return true;
    }
    if (request->gpu_memory_bytes > node->gpu_memory_bytes) {
        *ret = (struct lack){.code = REASON_NO_ROOM,
                             .resource = {RESOURCE_GPU_MEMORY},
                             .wanted = request->gpu_memory_bytes,
                             .available = node->gpu_memory_bytes};
        return true;
    }
    if ((request->share_devices == 0 &&
         lacks_amount(ret, RESOURCE_SLOTS, request->slots_milli, place->slots_free)) ||
        lacks_devices(place, request, ret) ||
        lacks_amount(ret, RESOURCE_SLOTS, fit_slots(node, request), place->slots_free) ||
        lacks_amount(ret, RESOURCE_CPU, cpu_wanted(node, request), place->cpu_free) ||
        lacks_amount(ret, RESOURCE_MEMORY, memory_wanted(node, request), place->memory_free)) {
        return true;
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        const uint32_t at = space_named_index(node, request->named[i].resource);
        const int64_t free = at < node->named_count ? place->named_free[at] : 0;
        if (lacks_amount(ret, request->named[i].resource.v, request->named[i].milli, free)) {
            return true;
        }
    }
    if (!request_has_slots(request) && place->aux_used >= node->aux_max) {
        *ret = (struct lack){.code = REASON_AUX_FULL, .wanted = 1, .available = 0};
        return true;
    }
    return false;
}

bool fit_holds(const struct space *place, const struct request *request, const struct grant *grant)
{
    const struct node *node = place->node;
    const int64_t each = device_share(grant->slots_milli, grant->devices);
    bool fits = grant->slots_milli <= place->slots_free || grant->slots_milli == 0;
    fits = fits && (grant->cpu_milli <= place->cpu_free || grant->cpu_milli == 0);
    fits = fits && (grant->memory_bytes <= place->memory_free || grant->memory_bytes == 0);
    fits = fits && (grant->slots_milli > 0 || place->aux_used < node->aux_max);
    for (uint32_t i = 0; i < NODE_DEVICES_MAX && fits; i++) {
        const bool held = (grant->devices >> i & 1) != 0;
        fits = !held || (i < node->device_count && place->device_free[i] >= each);
    }
    for (uint32_t i = 0; i < request->named_count && fits; i++) {
        uint32_t at = 0;
        while (at < node->named_count &&
               node->named[at].resource.v != request->named[i].resource.v) {
            at++;
        }
        fits = request->named[i].milli == 0 ||
               (at < node->named_count && place->named_free[at] >= request->named[i].milli);
    }
    return fits;
}

uint32_t fit_within(const struct vector *amounts, const struct grant *grant, uint32_t count)
{
    /* Slots are bounded here, too: a part of a device by memory may be more slots on this node than the gates counted. */
    count = fit_times(amounts->at[DIM_SLOTS], grant->slots_milli, count);
    count = fit_times(amounts->at[DIM_CPU], grant->cpu_milli, count);
    return fit_times(amounts->at[DIM_MEMORY], grant->memory_bytes, count);
}
