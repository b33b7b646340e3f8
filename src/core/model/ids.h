/* ids.h - names of objects inside the program: one-field structs, so that mixing them up does not
 * compile. 0 is nobody.
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

/* Of a part of a pool's topology: given anew when its nodes are gone, and after a restart. */
typedef struct domain_id {
    uint32_t v;
} domain_id;

typedef struct account_id {
    uint32_t v;
} account_id;

/* Of a user who has tasks: given anew when the tasks are gone, and after a restart. */
typedef struct user_id {
    uint32_t v;
} user_id;

typedef struct resource_id {
    uint16_t v;
} resource_id;

/* Of a node that a provider was asked for. */
typedef struct launch_id {
    uint64_t v;
} launch_id;

/* One try at one instance of a task, written `1234.0:2`: the key of every order and report (P11).
 */
struct attempt_key {
    task_id task;
    uint32_t
        index; /* which instance: 0 .. instance_count - 1 (INSTANCE_ID is array_first + index) */
    uint32_t attempt; /* from 1 */
};
