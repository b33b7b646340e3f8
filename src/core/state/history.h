/* history.h - what the accounts of a pool have used of it, the longer ago the less.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/ids.h"
#include "core/model/pool.h"

#include <stdbool.h>
#include <stdint.h>

struct core;

/* Do the shares of a pool depend on what was used before? */
bool history_looks_back(const struct pool *pool);
/* Between two ticks. */
int64_t history_period_ms(const struct pool *pool);
/* It has been idle, and is asked for something: a tick comes before anything is divided. */
bool history_stale(const struct pool *pool, int64_t now_ms);

/* What an account has used of the pool in the past, the longer ago the less, in HISTORY_FULLths; 0 where shares do not look back,
 * and of named resources. */
enum { HISTORY_FULL = 1000000 };
uint32_t history_used(const struct core *core, account_id account, pool_id pool, uint32_t dim);

/* When the next tick of a pool's history comes; 0: none does. */
void history_next(struct core *core, struct pool *pool, int64_t next_ms);
/* Something runs there from now on: ticks begin, where the pool looks back and none are under way. */
void history_start(struct core *core, pool_id pool, int64_t now_ms);
/* All of a pool; all of an account. */
void history_drop(struct core *core, struct pool *pool);
void history_account_drop(struct core *core, account_id account);

/* The next row of the pool behind `key` in a table by ACCOUNT_KEY; 0: none. */
struct table;
uint64_t history_row_next(const struct table *table, pool_id pool, uint64_t key);
