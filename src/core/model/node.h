/* node.h - the row of a machine: what it has, what is free, and whether it may take work.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/limits.h"
#include "core/model/resource.h"

#include <stdbool.h>
#include <stdint.h>

enum node_state {
    NODE_UP,      /* its agent is connected */
    NODE_SILENT,  /* not connected, not yet lost: takes no starts */
    NODE_LOST,    /* silent for lost_after: its attempts were given up */
    NODE_REMOVED, /* forgotten; the row stays so that ids are never reused */
};
enum { NODE_STATE_COUNT = NODE_REMOVED + 1 };

struct node {
    node_id id; /* 0: no row here */
    pool_id pool;
    uint32_t incarnation; /* counts its supervisors; orders and reports of lower ones are refused */
    uint32_t device_count;
    uint8_t state;
    uint8_t draining;
    uint8_t overhang; /* it became smaller than what runs on it: some free amount is negative */
    uint8_t pad;
    uint32_t named_count;
    uint32_t aux_max;
    uint32_t aux_used;       /* zero-slot instances on it */
    uint32_t instance_count; /* instances that hold something on it */
    uint32_t leaving_count;  /* of them: those told to stop */
    uint32_t claim_count;    /* places on it promised to waiting instances */
    int64_t slots_milli;
    int64_t slots_free; /* may be negative: overhang after the node became smaller */
    int64_t cpu_milli;
    int64_t cpu_free;
    int64_t memory_bytes;
    int64_t memory_free;
    int64_t gpu_memory_bytes;
    struct amount named[NODE_RESOURCES_MAX]; /* sorted by resource id */
    int64_t named_free[NODE_RESOURCES_MAX];
    uint16_t device_free[NODE_DEVICES_MAX]; /* thousandths of each device */
    uint8_t supervisor[16];
    struct blob *labels; /* the marks of its labels, see label.h; NULL: none */
    domain_id
        domains[TOPOLOGY_LEVELS_MAX]; /* where it is, by level of its pool's topology; 0: it does
                                               not say, and on no level below that */
    struct blob *text; /* encoded name, boot id, address, version, labels; see node_text_decode() */
};

/* May a start go there: up and not draining. */
bool node_takes_work(const struct node *node);

/* The amount of a named resource that a node has (free of it): 0 when it has none. */
int64_t node_named(const struct node *node, resource_id resource);
int64_t node_named_free(const struct node *node, resource_id resource);
