/* lower.c - lowers one amount of a request until the request fits. A request that fits also fits with a smaller amount, so the
 * largest amount that fits is found by halving. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/lower.h"

#include "base/must.h"
#include "core/model/reason.h"

uint32_t lower_count(const struct request *request)
{
    return LOWER_NAMED + request->named_count;
}

struct lower lower_at(uint32_t number)
{
    if (number < LOWER_NAMED) {
        return (struct lower){(enum lower_kind)number, 0};
    }
    return (struct lower){LOWER_NAMED, number - LOWER_NAMED};
}

bool lower_for(const struct request *request, const struct lack *lack, struct lower *ret)
{
    if (lack->code == REASON_AUX_FULL || lack->code == REASON_DEVICES_BUSY ||
        lack->code == REASON_NO_DEVICES || lack->code == REASON_AVOIDED) {
        return false;
    }
    for (uint32_t i = 0; i < lower_count(request); i++) {
        const struct lower what = lower_at(i);
        const bool none = what.kind == LOWER_SLOTS && request_by_memory(request);
        if (!none && lower_resource(request, what).v == lack->resource.v) {
            *ret = what;
            return true;
        }
    }
    return false;
}

/* How many devices the request shares. The parts of several devices are equal and are lowered together. */
static int64_t devices_asked(const struct request *request)
{
    return request->share_devices > 0 ? request->share_devices : 1;
}

int64_t lower_asked(const struct request *request, struct lower what)
{
    switch (what.kind) {
    case LOWER_SLOTS:
        return request->slots_milli / devices_asked(request);
    case LOWER_CPU:
        return request->cpu_milli;
    case LOWER_MEMORY:
        return request->memory_bytes;
    case LOWER_GPU_MEMORY:
        return request->gpu_memory_bytes;
    case LOWER_NAMED:
        return request->named[what.named].milli;
    }
    must(false);
    return 0;
}

resource_id lower_resource(const struct request *request, struct lower what)
{
    switch (what.kind) {
    case LOWER_SLOTS:
        return (resource_id){RESOURCE_SLOTS};
    case LOWER_GPU_MEMORY:
        return (resource_id){RESOURCE_GPU_MEMORY};
    case LOWER_CPU:
        return (resource_id){RESOURCE_CPU};
    case LOWER_MEMORY:
        return (resource_id){RESOURCE_MEMORY};
    case LOWER_NAMED:
        return request->named[what.named].resource;
    }
    must(false);
    return (resource_id){0};
}

void lower_apply(struct request *request, struct lower what, int64_t amount)
{
    switch (what.kind) {
    case LOWER_SLOTS:
        request->slots_milli = amount * devices_asked(request);
        return;
    case LOWER_CPU:
        request->cpu_milli = amount;
        return;
    case LOWER_MEMORY:
        request->memory_bytes = amount;
        return;
    case LOWER_GPU_MEMORY:
        request->gpu_memory_bytes = amount;
        return;
    case LOWER_NAMED:
        request->named[what.named].milli = amount;
        return;
    }
}

static bool fits_with(const struct space *place, const struct request *request, struct lower what,
                      int64_t amount)
{
    struct request changed = *request;
    lower_apply(&changed, what, amount);
    return fit_count(place, &changed, 1) == 1;
}

int64_t lower_largest(const struct space *place, const struct request *request, struct lower what,
                      int64_t asked, int64_t least)
{
    const bool slots = what.kind == LOWER_SLOTS;
    must(least >= -1);
    /* A task with 0 slots is an aux task, and a request for chosen devices has as many slots as devices: neither is lowered. */
    if (slots && (request->slots_milli == 0 || request->device_mask != 0)) {
        return least;
    }
    const bool whole = slots && request->share_devices == 0 && request->slots_milli >= SLOT_MILLI;
    const int64_t step = whole ? SLOT_MILLI : 1;
    int64_t low = slots || (what.kind == LOWER_GPU_MEMORY && request_by_memory(request)) ? 1 : 0;
    if (least >= 0 && least / step + 1 > low) {
        low = least / step + 1;
    }
    int64_t high = (asked - 1) / step;
    if (asked <= 0 || low > high || !fits_with(place, request, what, low * step)) {
        return least;
    }
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (fits_with(place, request, what, middle * step)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low * step;
}
