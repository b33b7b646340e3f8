/* ledger.h - what is free on each node and what each account holds, summed anew from the rows of
 * all instances in one walk. None of the scheduler's code is used, because the laws are judged
 * by these sums.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

struct free_node {
    const struct node *node;
    uint64_t out; /* devices of which nothing is free */
    bool parts;   /* an instance or a promise there has part of a slot */
    int64_t slots;
    int64_t cpu;
    int64_t memory;
    int64_t aux;
    int64_t named[NODE_RESOURCES_MAX]; /* in the order of the node's resources */
    int64_t device[NODE_DEVICES_MAX];
};

struct holdings {
    struct vector held;
    struct vector fixed; /* the part held by tasks that are not preemptible */
};

/* The sums of a state, now and later. "Later" leaves out instances that are leaving and counts
 * instances that have a promise. */
struct ledger {
    const struct core *core;
    struct free_node *left;  /* by node id: free both now and later */
    struct free_node *later; /* by node id: free later; used only while summing */
    struct holdings *held;   /* by pool and account */
    struct holdings *later_held;
    size_t node_room;
    size_t account_room;
    uint32_t accounts; /* the largest account id, and one */
    uint32_t pools;    /* the largest id of a pool with tasks, and one */
};

void ledger_init(struct ledger *ledger);
void ledger_done(struct ledger *ledger);

/* Sums up the present state. The sums hold until the core changes. */
void ledger_take(struct ledger *ledger, const struct core *core);

/* Returns what is free on a node now and promised to no instance. */
const struct free_node *ledger_left(const struct ledger *ledger, const struct node *node);

/* Return what all tasks of the account and of accounts below it hold in the pool: now, and
 * later. */
const struct holdings *ledger_held(const struct ledger *ledger, account_id account, pool_id pool);
const struct holdings *ledger_held_later(const struct ledger *ledger, account_id account,
                                         pool_id pool);

/* Sets `ret` to everything that an empty node has. */
void free_empty(const struct node *node, uint64_t out, struct free_node *ret);
/* Subtracts what an instance was given. */
void free_take(struct free_node *free, const struct request *request, int64_t slots, int64_t cpu,
               int64_t memory, uint64_t devices);
/* Returns the amount of a named resource; -1: the node does not have it. */
int64_t free_named(const struct free_node *free, resource_id resource);
