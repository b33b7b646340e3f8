/* ledger.h - what is free on each node and what each account holds, summed anew from the rows of all instances in one walk, with none
 * of the scheduler's code: what the laws are judged by. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

struct free_node {
    const struct node *node;
    int64_t slots;
    int64_t cpu;
    int64_t memory;
    int64_t aux;
    int64_t named[NODE_RESOURCES_MAX]; /* in the order of the node's */
    int64_t device[NODE_DEVICES_MAX];
};

struct holdings {
    struct vector held;
    struct vector fixed; /* of it: by tasks that are not preemptible */
};

/* "Later": without those who are leaving, with those who are promised a place. */
struct ledger {
    const struct core *core;
    struct free_node *left;  /* by node id: free now and later */
    struct free_node *later; /* likewise, while they are summed */
    struct holdings *held;   /* by pool and account */
    struct holdings *later_held;
    size_t node_room;
    size_t account_room;
    uint32_t accounts; /* the largest id, and one */
    uint32_t pools;    /* likewise, of those with tasks */
};

void ledger_init(struct ledger *ledger);
void ledger_done(struct ledger *ledger);

/* The state as it is now; holds until the core changes. */
void ledger_take(struct ledger *ledger, const struct core *core);

/* What is free on a node now, and not promised to anybody. */
const struct free_node *ledger_left(const struct ledger *ledger, const struct node *node);

/* What all tasks of the account and of those below it hold in the pool: now, and later. */
const struct holdings *ledger_held(const struct ledger *ledger, account_id account, pool_id pool);
const struct holdings *ledger_held_later(const struct ledger *ledger, account_id account,
                                         pool_id pool);

/* All of a node. */
void free_empty(const struct node *node, struct free_node *ret);
/* Less what an instance was given. */
void free_take(struct free_node *free, const struct request *request, int64_t slots, int64_t cpu,
               int64_t memory, uint64_t devices);
/* A named resource; -1: the node has none of it. */
int64_t free_named(const struct free_node *free, resource_id resource);
