/* node.c - what follows from the row of a node alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/node.h"

static bool fit_for_work(const struct node *node)
{
    return node->state == NODE_UP && !node->draining && !node->troubled && node->pool_next.v == 0;
}

bool node_takes_work(const struct node *node)
{
    return fit_for_work(node) && !node->spare;
}

bool node_stands_by(const struct node *node)
{
    return fit_for_work(node) && node->spare;
}

uint64_t node_devices_all(const struct node *node)
{
    return node->device_count >= 64 ? UINT64_MAX : ((uint64_t)1 << node->device_count) - 1;
}

int64_t node_slots_able(const struct node *node)
{
    return node->slots_milli - (int64_t)__builtin_popcountll(node->devices_out) * SLOT_MILLI;
}

int64_t node_slots_held(uint64_t out, int64_t slots_milli, uint64_t devices)
{
    return slots_milli - __builtin_popcountll(devices & out) * device_share(slots_milli, devices);
}

static int64_t named_of(const struct node *node, resource_id resource, bool free)
{
    for (uint32_t i = 0; i < node->named_count; i++) {
        if (node->named[i].resource.v == resource.v) {
            return free ? node->named_free[i] : node->named[i].milli;
        }
    }
    return 0;
}

int64_t node_named(const struct node *node, resource_id resource)
{
    return named_of(node, resource, false);
}

int64_t node_named_free(const struct node *node, resource_id resource)
{
    return named_of(node, resource, true);
}
