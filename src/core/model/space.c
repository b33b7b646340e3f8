/* space.c - what is free on a node, taken from and given back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/space.h"

#include "base/checked.h"
#include "base/must.h"

#include <string.h>

void space_now(const struct node *node, struct space *ret)
{
    must(node->id.v != 0);
    *ret = (struct space){
        .node = node,
        .slots_free = node->slots_free,
        .cpu_free = node->cpu_free,
        .memory_free = node->memory_free,
        .aux_used = node->aux_used,
        .out = node->devices_out,
        .named_free = node->named_free,
        .device_free = node->device_free,
    };
}

static void empty(const struct node *node, uint64_t out, struct space_room *room, struct space *ret)
{
    must(node->named_count <= NODE_RESOURCES_MAX);
    must(node->device_count <= NODE_DEVICES_MAX);
    for (uint32_t i = 0; i < node->named_count; i++) {
        room->named_free[i] = node->named[i].milli;
    }
    for (uint32_t i = 0; i < node->device_count; i++) {
        room->device_free[i] = (out >> i & 1) != 0 ? 0 : SLOT_MILLI;
    }
    *ret = (struct space){
        .node = node,
        .slots_free = out != 0 ? node_slots_able(node) : node->slots_milli,
        .cpu_free = node->cpu_milli,
        .memory_free = node->memory_bytes,
        .out = out,
        .named_free = room->named_free,
        .device_free = room->device_free,
    };
}

void space_empty(const struct node *node, struct space_room *room, struct space *ret)
{
    empty(node, node->devices_out, room, ret);
}

void space_whole(const struct node *node, struct space_room *room, struct space *ret)
{
    empty(node, 0, room, ret);
}

void space_copy(const struct space *from, struct space_room *room, struct space *ret)
{
    *ret = *from;
    memcpy(room->named_free, from->named_free,
           from->node->named_count * sizeof room->named_free[0]);
    memcpy(room->device_free, from->device_free,
           from->node->device_count * sizeof room->device_free[0]);
    ret->named_free = room->named_free;
    ret->device_free = room->device_free;
}

/* The named resources of a node are sorted and few, so a walk is shorter than a binary search. */
uint32_t space_named_index(const struct node *node, resource_id resource)
{
    uint32_t i = 0;
    while (i < node->named_count && node->named[i].resource.v < resource.v) {
        i++;
    }
    return i < node->named_count && node->named[i].resource.v == resource.v ? i : node->named_count;
}

/* Adds what an instance holds to the free amounts (sign 1), or subtracts it (sign -1). A device or named
 * resource that the node no longer has (overhang) is left out. */
static void space_move(struct space *place, struct space_room *room, const struct request *request,
                       const struct grant *grant, int sign)
{
    const struct node *node = place->node;
    place->slots_free = i64_add(
        place->slots_free, sign * node_slots_held(place->out, grant->slots_milli, grant->devices));
    place->cpu_free = i64_add(place->cpu_free, sign * grant->cpu_milli);
    place->memory_free = i64_add(place->memory_free, sign * grant->memory_bytes);
    if (grant->slots_milli == 0) {
        place->aux_used = sign < 0 ? place->aux_used + 1 : place->aux_used - 1;
    }
    const int64_t share = device_share(grant->slots_milli, grant->devices);
    for (uint32_t i = 0; i < node->device_count; i++) {
        if ((grant->devices & ~place->out) >> i & 1) {
            room->device_free[i] = (uint16_t)(room->device_free[i] + sign * share);
        }
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        const uint32_t at = space_named_index(node, request->named[i].resource);
        if (at < node->named_count) {
            room->named_free[at] = i64_add(room->named_free[at], sign * request->named[i].milli);
        }
    }
}

void space_take(struct space *place, struct space_room *room, const struct request *request,
                const struct grant *grant)
{
    must(place->named_free == room->named_free);
    space_move(place, room, request, grant, -1);
}

void space_give(struct space *place, struct space_room *room, const struct request *request,
                const struct grant *grant)
{
    must(place->named_free == room->named_free);
    space_move(place, room, request, grant, 1);
}
