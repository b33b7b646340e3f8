/* share_tree_internal.h - the structs behind share_tree.h, which keeps the accounts of a pool with their fair shares. Shared by
 * share_tree.c and share_tree_table.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/vec.h"
#include "core/model/account.h"
#include "core/model/ids.h"
#include "core/model/vector.h"
#include "core/sched/order/account.h"
#include "core/sched/order/level.h"
#include "core/sched/order/shares.h"

#include <stdbool.h>
#include <stdint.h>

/* By account id. */
struct share_tree_account {
    uint32_t place; /* index of the account's view, plus one; 0: none */
    bool dirty;     /* listed in `dirty` */
};

/* What a share tree keeps of a view beside the view. */
struct share_tree_entry {
    uint32_t child_last;
    uint32_t sibling_before; /* SHARES_NONE: the first */
    uint32_t weight[QUOTA_DIMS_MAX];
    uint32_t stale; /* dimensions in which the children must be divided anew, bit by bit */
    /* the guarantees of the children: how many are unlimited, and the sum of the others */
    uint32_t unlimited[QUOTA_DIMS_MAX];
    __int128 promised[QUOTA_DIMS_MAX];
    struct level *levels; /* of the children, by dimension; NULL: never had children */
};

/* What a share tree depends on beside the usage of accounts. Another value of a member: the tree is made anew. */
struct share_tree_base {
    uint64_t epoch;
    struct account_pool pool;
    int64_t slots_milli; /* of all nodes: the guarantee of the accounts `default` depends on it */
    uint64_t gpu_memory; /* of the pool's smallest device: demand depends on it */
};

struct share_tree {
    pool_id pool;
    bool borrowed;
    struct share_tree_base base;
    struct shares shares;
    struct account_view *now;
    struct share_tree_entry *entries;         /* by the index of the view */
    struct level_seat *seats[QUOTA_DIMS_MAX]; /* by the index of the view */
    uint32_t room;
    struct share_tree_entry top; /* the pool itself, as the parent of the top accounts */
    level_list spare;            /* unused views */
    level_list dirty;            /* ids of accounts whose usage must be read again */
    level_list stale[ACCOUNT_DEPTH_MAX + 1]; /* views whose children must be divided, by depth */
    level_list changed;                      /* scratch of a division */
    VEC(struct share_tree_account) accounts;
};

/* A share tree without accounts. share_tree_table_clear() removes all accounts. */
struct share_tree *share_tree_table_new(pool_id pool);
void share_tree_table_free(struct share_tree *tree);
void share_tree_table_clear(struct share_tree *tree);

/* The view of an account; NULL: none. */
struct account_view *share_tree_table_view(const struct share_tree *tree, account_id account);

/* The entry of the account's parent, or of the pool. */
struct share_tree_entry *share_tree_table_above(struct share_tree *tree,
                                                const struct account_view *view);

/* A place for the view of an account whose parent has a view. The caller fills the view and links it. */
struct account_view *share_tree_table_place(struct share_tree *tree, const struct account *account);

/* Links a view with its parent and siblings, and adds its guarantee to what the parent has promised.
 * share_tree_table_remove() undoes both, and frees the place. */
void share_tree_table_link(struct share_tree *tree, const struct account_view *view);
void share_tree_table_remove(struct share_tree *tree, const struct account_view *view);

/* Notes that the usage of an account must be read again. */
void share_tree_table_touch(struct share_tree *tree, uint32_t id);
