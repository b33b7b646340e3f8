/* devices.c - choosing devices: whole devices, a part of one device, or equal parts of several devices.
 * "Share" means such a part in this file.
 *
 * A share is taken from the device with the least free that still has room for the share, so that whole
 * devices stay whole. A choice never reduces how many more instances fit. k instances with shares of n
 * devices each fit exactly when the devices have room for k * n shares, counting at most k shares of each
 * device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/devices.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/limits.h"

/* `each`: the size of one share. `devices`: the number of devices of each instance. `times`: how often a
 * share goes into each device. */
struct device_shares {
    int64_t each;
    uint32_t devices;
    uint32_t times[NODE_DEVICES_MAX];
};

static bool device_allowed(const struct request *request, uint32_t index)
{
    return request->device_mask == 0 || (request->device_mask >> index & 1) != 0;
}

static bool asks_shares(const struct request *request)
{
    return request->share_devices > 0 || request->slots_milli < SLOT_MILLI;
}

static void shares_load(const struct space *place, const struct request *request,
                        struct device_shares *ret)
{
    const struct node *node = place->node;
    ret->devices = request->share_devices > 0 ? request->share_devices : 1;
    ret->each = fit_slots(node, request) / ret->devices;
    must(ret->each > 0);
    for (uint32_t i = 0; i < node->device_count; i++) {
        ret->times[i] =
            device_allowed(request, i) ? (uint32_t)(place->device_free[i] / ret->each) : 0;
    }
}

/* How many shares fit into all devices together, counting at most `most` shares of each device. */
static uint64_t times_up_to(const struct space *place, const struct device_shares *shares,
                            uint32_t most)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < place->node->device_count; i++) {
        sum += shares->times[i] < most ? shares->times[i] : most;
    }
    return sum;
}

static uint32_t shares_count(const struct space *place, const struct device_shares *shares,
                             uint32_t max)
{
    const uint64_t bound = times_up_to(place, shares, UINT32_MAX) / shares->devices;
    uint32_t high = bound < max ? (uint32_t)bound : max;
    /* with one device for each instance the bound is reached */
    uint32_t low = shares->devices == 1 ? high : 0;
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (times_up_to(place, shares, middle) >= (uint64_t)middle * shares->devices) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Let `most` instances fit now. After the choice `most` - 1 instances must still fit. A device with room for
 * `most` shares or more may always be chosen. Of the other devices `spare` may be chosen. */
static uint64_t shares_choose(const struct space *place, const struct device_shares *shares)
{
    const uint32_t most = shares_count(place, shares, UINT32_MAX);
    must(most > 0);
    uint64_t spare = times_up_to(place, shares, most - 1) - (uint64_t)(most - 1) * shares->devices;
    uint64_t chosen = 0;
    for (uint32_t left = shares->devices; left > 0; left--) {
        uint32_t best = NODE_DEVICES_MAX;
        for (uint32_t i = 0; i < place->node->device_count; i++) {
            const bool may = shares->times[i] >= most || (shares->times[i] > 0 && spare > 0);
            if (may && (chosen >> i & 1) == 0 &&
                (best == NODE_DEVICES_MAX || place->device_free[i] < place->device_free[best])) {
                best = i;
            }
        }
        must(best < NODE_DEVICES_MAX);
        spare -= shares->times[best] < most;
        chosen |= (uint64_t)1 << best;
    }
    return chosen;
}

static uint32_t devices_whole(const struct space *place)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < place->node->device_count; i++) {
        count += place->device_free[i] == SLOT_MILLI;
    }
    return count;
}

static uint64_t whole_choose(const struct space *place, const struct request *request)
{
    if (request->device_mask != 0) {
        return request->device_mask;
    }
    uint64_t devices = 0;
    int64_t left = request->slots_milli;
    for (uint32_t i = 0; i < place->node->device_count && left > 0; i++) {
        if (place->device_free[i] == SLOT_MILLI) {
            devices |= (uint64_t)1 << i;
            left -= SLOT_MILLI;
        }
    }
    must(left <= 0);
    return devices;
}

static bool chosen_free(const struct space *place, const struct request *request)
{
    for (uint32_t i = 0; i < place->node->device_count; i++) {
        if ((request->device_mask >> i & 1) != 0 && place->device_free[i] != SLOT_MILLI) {
            return false;
        }
    }
    return true;
}

bool devices_exist(const struct node *node, const struct request *request)
{
    return (request->device_mask & ~node_devices_all(node)) == 0 &&
           request->share_devices <= node->device_count &&
           (!request->needs_gpu || node->device_count > 0);
}

bool devices_held(const struct node *node, const struct request *request)
{
    return node->device_count > 0 && request_has_slots(request);
}

uint32_t devices_count(const struct space *place, const struct request *request, uint32_t max)
{
    if (!devices_exist(place->node, request)) {
        return 0;
    }
    if (!devices_held(place->node, request) || max == 0) {
        return max;
    }
    if (asks_shares(request)) {
        struct device_shares shares;
        shares_load(place, request, &shares);
        return shares_count(place, &shares, max);
    }
    if (request->device_mask != 0) {
        return chosen_free(place, request) ? 1 : 0;
    }
    return fit_times((int64_t)devices_whole(place) * SLOT_MILLI, request->slots_milli, max);
}

uint64_t devices_choose(const struct space *place, const struct request *request)
{
    if (!asks_shares(request)) {
        return whole_choose(place, request);
    }
    struct device_shares shares;
    shares_load(place, request, &shares);
    return shares_choose(place, &shares);
}

int64_t devices_available(const struct space *place, const struct request *request)
{
    if (!asks_shares(request)) {
        return (int64_t)devices_whole(place) * SLOT_MILLI;
    }
    const uint32_t devices = request->share_devices > 0 ? request->share_devices : 1;
    uint64_t taken = 0;
    int64_t best = 0;
    for (uint32_t n = 0; n < devices; n++) {
        uint32_t at = NODE_DEVICES_MAX;
        for (uint32_t i = 0; i < place->node->device_count; i++) {
            if (device_allowed(request, i) && (taken >> i & 1) == 0 &&
                (at == NODE_DEVICES_MAX || place->device_free[i] > place->device_free[at])) {
                at = i;
            }
        }
        best = at == NODE_DEVICES_MAX ? 0 : place->device_free[at];
        taken |= at == NODE_DEVICES_MAX ? 0 : (uint64_t)1 << at;
    }
    return best;
}
