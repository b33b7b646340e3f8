/* ids.h - ids of objects: one-field structs, so that mixing up two kinds of id does not compile. The id 0
 * names no object.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

typedef struct task_id {
    uint64_t v;
} task_id;

typedef struct pool_id {
    uint32_t v;
} pool_id;

typedef struct node_id {
    uint32_t v;
} node_id;

typedef struct shape_id {
    uint32_t v;
} shape_id;

/* A domain of a pool's topology. The id of a domain may change: after a restart, and when its last node has
 * left and a node comes back. */
typedef struct domain_id {
    uint32_t v;
} domain_id;

typedef struct account_id {
    uint32_t v;
} account_id;

/* A user who has tasks. The id of a user may change: after a restart, and when all tasks of the user were
 * archived and the user submits again. */
typedef struct user_id {
    uint32_t v;
} user_id;

typedef struct resource_id {
    uint16_t v;
} resource_id;

/* Of a kind of node that a provider sells. */
typedef struct flavor_id {
    uint32_t v;
} flavor_id;

/* Of a named network. */
typedef struct network_id {
    uint32_t v;
} network_id;

/* Of a node that a provider was asked for. */
typedef struct launch_id {
    uint64_t v;
} launch_id;

/* One attempt to run one instance of a task, written `1234.0:2`. Every order and every report carries this
 * key (P11). */
struct attempt_key {
    task_id task;
    /* which instance: 0 .. instance_count - 1. The INSTANCE_ID that a program sees is array_first + index */
    uint32_t index;
    uint32_t attempt; /* number of the attempt, from 1 */
};
