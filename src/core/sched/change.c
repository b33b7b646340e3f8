/* change.c - lowering one amount of a request until it fits. Fitting is monotone in each amount, so
 * the largest that fits is found by halving. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/change.h"

#include "base/must.h"

uint32_t change_count(const struct request *request)
{
    return CHANGE_NAMED + request->named_count;
}

struct change change_at(uint32_t number)
{
    if (number < CHANGE_NAMED) {
        return (struct change){(enum change_kind)number, 0};
    }
    return (struct change){CHANGE_NAMED, number - CHANGE_NAMED};
}

bool change_for(const struct request *request, const struct lack *lack, struct change *ret)
{
    if (lack->code == REASON_AUX_FULL || lack->code == REASON_DEVICES_BUSY ||
        lack->code == REASON_NO_DEVICES) {
        return false;
    }
    for (uint32_t i = 0; i < change_count(request); i++) {
        const struct change change = change_at(i);
        if (change.kind != CHANGE_GPU_MEMORY &&
            change_resource(request, change).v == lack->resource.v) {
            *ret = change;
            return true;
        }
    }
    return false;
}

int64_t change_asked(const struct request *request, struct change change)
{
    switch (change.kind) {
    case CHANGE_SLOTS:
        return request->slots_milli;
    case CHANGE_CPU:
        return request->cpu_milli;
    case CHANGE_MEMORY:
        return request->memory_bytes;
    case CHANGE_GPU_MEMORY:
        return request->gpu_memory_bytes;
    case CHANGE_NAMED:
        return request->named[change.named].milli;
    }
    must(false);
    return 0;
}

resource_id change_resource(const struct request *request, struct change change)
{
    switch (change.kind) {
    case CHANGE_SLOTS:
    case CHANGE_GPU_MEMORY:
        return (resource_id){RESOURCE_SLOTS};
    case CHANGE_CPU:
        return (resource_id){RESOURCE_CPU};
    case CHANGE_MEMORY:
        return (resource_id){RESOURCE_MEMORY};
    case CHANGE_NAMED:
        return request->named[change.named].resource;
    }
    must(false);
    return (resource_id){0};
}

void change_apply(struct request *request, struct change change, int64_t amount)
{
    switch (change.kind) {
    case CHANGE_SLOTS:
        request->slots_milli = amount;
        return;
    case CHANGE_CPU:
        request->cpu_milli = amount;
        return;
    case CHANGE_MEMORY:
        request->memory_bytes = amount;
        return;
    case CHANGE_GPU_MEMORY:
        request->gpu_memory_bytes = amount;
        return;
    case CHANGE_NAMED:
        request->named[change.named].milli = amount;
        return;
    }
}

static bool fits_with(const struct place *place, const struct request *request,
                      struct change change, int64_t amount)
{
    struct request changed = *request;
    change_apply(&changed, change, amount);
    return fit_count(place, &changed, 1) == 1;
}

int64_t change_largest(const struct place *place, const struct request *request,
                       struct change change, int64_t asked, int64_t least)
{
    const bool slots = change.kind == CHANGE_SLOTS;
    /* Without slots a task would be of another kind, and chosen devices are their own number. */
    if (slots && (request->slots_milli == 0 || request->device_mask != 0)) {
        return least;
    }
    const int64_t step = slots && request->slots_milli >= SLOT_MILLI ? SLOT_MILLI : 1;
    int64_t low = slots ? 1 : 0;
    if (least >= 0 && least / step + 1 > low) {
        low = least / step + 1;
    }
    int64_t high = (asked - 1) / step;
    if (asked <= 0 || low > high || !fits_with(place, request, change, low * step)) {
        return least;
    }
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (fits_with(place, request, change, middle * step)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low * step;
}
