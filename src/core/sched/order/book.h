/* book.h - the accounts of a pool with their fair shares, kept from pass to pass.
 *
 * The state says whose usage has changed (state/shares_cache.h). The book reads the rows of these accounts again and divides anew
 * where they changed something (level.h). So the cost grows with the number of changes, not with the number of accounts. Views and
 * shares are those of shares_compute(), which divides everything anew and stays the reference. A pool whose shares depend on usage
 * history has no book.
 *
 *   views, now    every view has a place that it keeps; places of accounts that left are used again
 *   levels        by parent and dimension: who divides what
 *
 * A trial that borrows the book writes to its views. The accounts that it wrote to are read from the state again afterwards.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/sched/order/account.h"

#include <stdint.h>

struct book;
struct core;
struct shares;

/* The book of the pool, current. The book is made at its first use. NULL: there is none, because caches are off, the shares look back,
 * or a trial has borrowed the book. */
struct book *book_open(const struct core *core, pool_id pool);

/* The accounts and shares of the book. They stay as they are until the book is opened again. */
struct shares *book_shares(struct book *book);

/* The accounts of book_shares(), in the same order, with what each account holds now: leaving instances count, claims do not. */
struct account_view *book_now(struct book *book);

/* The view of an account; NULL: the account has no work in the pool. */
struct account_view *book_view(const struct book *book, account_id account);

/* A trial borrows the book, and gives it back. Until then book_open() gives NULL. */
void book_borrow(struct book *book);
void book_return(struct book *book);

/* The borrower has changed the view with this index. */
void book_wrote(struct book *book, uint32_t index);

/* Compares the books of the state with shares_compute(), and aborts where they differ. */
void book_check(const struct core *core);
