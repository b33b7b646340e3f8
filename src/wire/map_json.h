/* map_json.h - every node and device with its occupants, in compact columns, for the slot map.
 *
 *   {"seq","time","pools":[name,…],"users":[…],"projects":[…],
 *    "tasks":[[id,user,project,kind,instances,gang],…],
 *    "nodes":[[id,name,pool,flags,slots,free,devices,[[task,instance,state,slots,low,high],…]],…],
 *    "ghosts":[[launch,pool,state,zone,asked_at],…],"gone":[name,…],"next":id|null}
 *
 * `pool`, `user`, `project` and `task` inside rows are positions in the lists of this same answer. `low` and
 * `high` are the devices of an occupant, one bit each, 32 in each number.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/buf.h"
#include "core/core.h"

enum {
    MAP_JSON_NODES_MAX = 20000,    /* nodes of one answer */
    MAP_JSON_OCCUPANTS_MAX = 1000, /* instances of one node */
    MAP_JSON_GHOSTS_MAX = 2000,
    MAP_JSON_NAMES_MAX = 256, /* nodes asked for by name */
};

/* What of a node is not as usual; a sum. */
enum map_json_flag {
    MAP_NODE_SILENT = 1,
    MAP_NODE_LOST = 2,
    MAP_NODE_DRAINING = 4,
    MAP_NODE_TROUBLED = 8,
    MAP_NODE_OVERHANG = 16,
    MAP_NODE_LOCKED = 32,
    MAP_NODE_KEPT = 64, /* a place on the node is promised to a waiting task */
    /* some devices are out of service; the row of the node ends with a list of these devices */
    MAP_NODE_DEVICES_OUT = 128,
};

struct map_json_ask {
    const char *const *names; /* these nodes alone; NULL: all */
    size_t name_count;
    pool_id pool;  /* 0: any */
    node_id after; /* only nodes behind this one */
    size_t limit;  /* nodes at most */
};

/* Writes the answer. The cost grows with the nodes and their instances: all nodes of a large server belong on
 * a worker, with a copy of the state. */
void map_json(const struct core *core, const struct map_json_ask *ask, int64_t now_ms,
              struct buf *out);
