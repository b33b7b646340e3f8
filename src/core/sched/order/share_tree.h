/* share_tree.h - the accounts of a pool with their fair shares, kept from pass to pass.
 *
 * The state says whose usage has changed (state/shares_cache.h). The share tree reads the rows of these accounts again and divides anew
 * where they changed something (level.h). So the cost grows with the number of changes, not with the number of accounts. Views and
 * shares are those of shares_compute(), which divides everything anew and stays the reference. A pool whose shares depend on usage
 * history has no share tree.
 *
 *   views, now    every view has a place that it keeps; places of accounts that left are used again
 *   levels        by parent and dimension: who divides what
 *
 * A trial that borrows the share tree writes to its views. The accounts that it wrote to are read from the state again afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/order/account.h"

#include <stdint.h>

struct share_tree;
struct core;
struct shares;

/* The share tree of the pool, current. The tree is made at its first use. NULL: there is none, because caches are off, the shares look back,
 * or a trial has borrowed the tree. */
struct share_tree *share_tree_open(const struct core *core, pool_id pool);

/* The accounts and shares of the share tree. They stay as they are until the tree is opened again. */
struct shares *share_tree_shares(struct share_tree *tree);

/* Returns what each account holds now, in the order of share_tree_shares(). Instances that are
 * leaving count. Claims do not count. */
struct account_view *share_tree_now(struct share_tree *tree);

/* The view of an account; NULL: the account has no work in the pool. */
struct account_view *share_tree_view(const struct share_tree *tree, account_id account);

/* A trial borrows the share tree, and gives it back. Until then share_tree_open() gives NULL. */
void share_tree_borrow(struct share_tree *tree);
void share_tree_return(struct share_tree *tree);

/* The borrower has changed the view with this index. */
void share_tree_wrote(struct share_tree *tree, uint32_t index);

/* Compares the share trees of the state with shares_compute(), and aborts where they differ. */
void share_tree_check(const struct core *core);
