/* history.h - usage history: what the accounts of a pool have used of the pool. Older usage counts less.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/pool.h"

#include <stdbool.h>
#include <stdint.h>

struct core;

/* Do the shares of a pool depend on usage history? */
bool history_looks_back(const struct pool *pool);
/* The time between two ticks of the usage history. */
int64_t history_period_ms(const struct pool *pool);
/* Must a tick come before shares are computed? Yes when the pool was idle for a period or longer and tasks
 * wait now. */
bool history_stale(const struct pool *pool, int64_t now_ms);

/* The part of the pool that an account has used, as usage history counts it: HISTORY_FULL stands for the
 * whole pool. 0: the pool has no usage history, or `dim` is a named resource. */
enum { HISTORY_FULL = 1000000 };
uint32_t history_used(const struct core *core, account_id account, pool_id pool, uint32_t dim);

/* Sets the moment of the next tick of a pool's usage history; 0: no tick. */
void history_next(struct core *core, struct pool *pool, int64_t next_ms);
/* An instance holds a place in the pool from now on: starts the ticks, if the pool has usage history and no
 * tick is planned. */
void history_start(struct core *core, pool_id pool, int64_t now_ms);
/* Drops the usage history of a pool; of an account in all pools. */
void history_drop(struct core *core, struct pool *pool);
void history_account_drop(struct core *core, account_id account);

/* The next row of the pool behind `key`, in a table whose rows are numbered by ACCOUNT_KEY. 0: there is none. */
struct table;
uint64_t history_row_next(const struct table *table, pool_id pool, uint64_t key);
