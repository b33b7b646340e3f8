/* read.h - reads fields of the cases: decimals into whole numbers, queues into accounts. Every
 * resource of a case is read in thousandths, cpu and memory too, because cases halve a byte. The
 * units of the pool are set to match.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/order/account.h"
#include "peers.h"
#include "reads.h"

enum { MILLI = 1000, KAI_DIMS = 3 };

/* Reads a decimal times `scale`; false: missing, no number, or not exact at this scale. */
bool read_scaled(const struct doc *number, int64_t scale, int64_t *ret);

/* Reads thousandths. -1 means unlimited and stays. `missing` stands for a missing number. */
int64_t read_milli(const struct doc *number, int64_t missing);

bool read_is(const struct doc *text, const char *expected);

/* Reads true or false; `missing` stands for a missing field. */
bool read_flag(const struct doc *map, const char *key, bool missing);

/* Returns the name of a dimension: "gpu", "cpu", "memory". */
const char *read_dim_name(uint32_t dim);

/* Reads {gpu, cpu, memory} in thousandths. A missing amount is 0. */
struct vector read_vector(const struct doc *map);

/* Makes a pool of three dimensions in thousandths. `total` may be NULL. */
struct account_pool read_pool(const struct doc *total);

/* Reads a queue as an account without parent. `index` is its index in the caller's array. */
struct account_view read_account(const struct doc *queue, uint32_t index);

struct accounts {
    struct account_view *at;
    const char **name;
    uint32_t count;
};

/* Reads a list of queues, in any order, as accounts with their parents. An account whose parent
 * is not in the list has none. */
struct accounts read_accounts(struct arena *arena, const struct doc *queues);

/* Finds an account by name; NULL: there is none. */
const struct account_view *accounts_find(const struct accounts *accounts, const struct doc *name);
