/* node.h - the row of a node: what the node has, what is free there, and whether the node may take work.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/resource.h"

#include <stdbool.h>
#include <stdint.h>

enum node_state {
    NODE_UP,      /* the node's agent is connected */
    NODE_SILENT,  /* not connected, not yet lost: takes no starts */
    NODE_LOST,    /* silent for lost_after: the attempts on the node were given up */
    NODE_REMOVED, /* removed by a user; the row stays so that its id is never used again */
};
enum { NODE_STATE_COUNT = NODE_REMOVED + 1 };

struct node {
    node_id id; /* 0: no row here */
    pool_id pool;
    /* the number of the node's supervisor. Orders and reports with a lower number are refused */
    uint32_t incarnation;
    uint32_t device_count;
    uint8_t state;
    uint8_t draining;
    /* the node became smaller than what runs on it: some free amount is negative */
    uint8_t overhang;
    uint8_t troubled;   /* the agent has put the node out of service: the spec says why */
    uint8_t locked;     /* a user wants the node to stay */
    uint8_t drain_busy; /* enum busy, for `drain_by_ms` */
    uint8_t provided;   /* a provider brought the node up */
    uint8_t spare;      /* the node takes no work until another node of its pool is lost */
    uint32_t named_count;
    uint32_t aux_max;
    uint32_t aux_used;       /* zero-slot instances on the node */
    uint32_t instance_count; /* instances that hold something on the node */
    uint32_t leaving_count;  /* of instance_count: instances that were told to stop */
    uint32_t claim_count;    /* places on the node that are promised to waiting instances */
    launch_id launch;        /* the launch that brought the node up; 0: started by hand */
    /* state/membership.h: the pool to which the node goes when it is empty, because its labels or a selector
     * changed; 0: the node stays. And how many selectors match the node's labels */
    pool_id pool_next;
    uint16_t selector_matches;
    uint8_t follows_labels; /* see struct node_spec */
    int64_t removed_ms;     /* of a removed node: since when */
    /* when `drain_busy` is done to the tasks that still run; 0: no such moment */
    int64_t drain_by_ms;
    int64_t slots_milli;
    int64_t slots_free; /* may be negative: overhang after the node became smaller */
    int64_t cpu_milli;
    int64_t cpu_free;
    int64_t memory_bytes;
    int64_t memory_free;
    int64_t gpu_memory_bytes;
    /* what the node has of named resources, sorted by resource id */
    struct amount named[NODE_RESOURCES_MAX];
    int64_t named_free[NODE_RESOURCES_MAX];
    uint16_t device_free[NODE_DEVICES_MAX]; /* free thousandths of each device */
    /* devices that get no new work, one bit each. No part of such a device is free
     * (node_slots_held()) */
    uint64_t devices_out;
    uint8_t supervisor[16];
    /* the marks of the node's labels (label.h); NULL: the node has no labels */
    struct blob *labels;
    /* the node's domain at each level of its pool's topology. 0: the node has no label for this level; then
     * all narrower levels are 0, too */
    domain_id domains[TOPOLOGY_LEVELS_MAX];
    /* name, NUL, then the encoded spec: boot id, address, version, labels and so on */
    struct blob *text;
};

/* May the node take a start: is it up, not draining, not out of service, not spare, and not about to change its pool? */
bool node_takes_work(const struct node *node);

/* Is the node spare, and could it take work at once? */
bool node_stands_by(const struct node *node);

/* Returns all devices of the node, one bit each. */
uint64_t node_devices_all(const struct node *node);

/* Returns the slots of the node without its devices that are out of service. */
int64_t node_slots_able(const struct node *node);

/* An instance holds `slots_milli` on `devices`. Returns how much of that counts against the free
 * slots of a node whose devices `out` are out of service. The node's slots leave such a device out
 * as a whole, so the part of the instance on the device does not count a second time. */
int64_t node_slots_held(uint64_t out, int64_t slots_milli, uint64_t devices);

/* The amount of a named resource that a node has in all, and that is free. 0: the node does not have the
 * resource. */
int64_t node_named(const struct node *node, resource_id resource);
int64_t node_named_free(const struct node *node, resource_id resource);
