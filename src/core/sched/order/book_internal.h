/* book_internal.h - the structs behind book.h, which keeps the accounts of a pool with their fair shares from pass to pass. Shared by
 * book.c and book_tree.c.
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
struct book_account {
    uint32_t place; /* index of the account's view, plus one; 0: none */
    bool dirty;     /* listed in `dirty` */
};

/* What a book keeps of a view beside the view. */
struct book_entry {
    uint32_t child_last;
    uint32_t sibling_before; /* SHARES_NONE: the first */
    uint32_t weight[QUOTA_DIMS_MAX];
    uint32_t stale; /* dimensions in which the children must be divided anew, bit by bit */
    /* the guarantees of the children: how many are unlimited, and the sum of the others */
    uint32_t unlimited[QUOTA_DIMS_MAX];
    __int128 promised[QUOTA_DIMS_MAX];
    struct level *levels; /* of the children, by dimension; NULL: never had children */
};

/* What a book depends on beside the usage of accounts. Another value of a member: the book is made anew. */
struct book_base {
    uint64_t epoch;
    struct account_pool pool;
    int64_t slots_milli; /* of all nodes: the guarantee of the accounts `default` depends on it */
    uint64_t gpu_memory; /* of the pool's smallest device: demand depends on it */
};

struct book {
    pool_id pool;
    bool borrowed;
    struct book_base base;
    struct shares shares;
    struct account_view *now;
    struct book_entry *entries;               /* by the index of the view */
    struct level_seat *seats[QUOTA_DIMS_MAX]; /* by the index of the view */
    uint32_t room;
    struct book_entry top; /* the pool itself, as the parent of the top accounts */
    level_list spare;      /* unused views */
    level_list dirty;      /* ids of accounts whose usage must be read again */
    level_list stale[ACCOUNT_DEPTH_MAX + 1]; /* views whose children must be divided, by depth */
    level_list changed;                      /* scratch of a division */
    VEC(struct book_account) accounts;
};

/* A book without accounts. book_tree_clear() removes all accounts. */
struct book *book_tree_new(pool_id pool);
void book_tree_free(struct book *book);
void book_tree_clear(struct book *book);

/* The view of an account; NULL: none. */
struct account_view *book_tree_view(const struct book *book, account_id account);

/* The entry of the account's parent, or of the pool. */
struct book_entry *book_tree_above(struct book *book, const struct account_view *view);

/* A place for the view of an account whose parent has a view. The caller fills the view and links it. */
struct account_view *book_tree_place(struct book *book, const struct account *account);

/* Links a view with its parent and siblings, and adds its guarantee to what the parent has promised; the opposite, which also frees the
 * place. */
void book_tree_link(struct book *book, const struct account_view *view);
void book_tree_remove(struct book *book, const struct account_view *view);

/* Notes that the usage of an account must be read again. */
void book_tree_touch(struct book *book, uint32_t id);
