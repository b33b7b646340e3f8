/* read.h - fields of the cases: decimals into whole numbers, queues into accounts.
 *
 * Every resource of a case is read in thousandths, cpu and memory too: cases halve a byte. The pool's units say so.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/sched/order/account.h"
#include "peers.h"

enum { MILLI = 1000, KAI_DIMS = 3 };

/* A decimal times `scale`; false: missing, no number, or not exact at that scale. */
bool read_scaled(const struct doc *number, int64_t scale, int64_t *ret);

/* In thousandths; -1 is unlimited and stays. A missing one is `missing`. */
int64_t read_milli(const struct doc *number, int64_t missing);

bool read_is(const struct doc *text, const char *expected);

/* A field that is true or false, or missing. */
bool read_flag(const struct doc *map, const char *key, bool missing);

/* "gpu", "cpu", "memory": the name of a dimension. */
const char *read_dim_name(uint32_t dim);

/* {gpu, cpu, memory} in thousandths; what is missing is 0. */
struct vector read_vector(const struct doc *map);

/* Three dimensions in thousandths; `total` may be NULL. */
struct account_pool read_pool(const struct doc *total);

/* One queue as an account: no parent, `index` in the caller's array. */
struct account_view read_account(const struct doc *queue, uint32_t index);

struct accounts {
    struct account_view *at;
    const char **name;
    uint32_t count;
};

/* A list of queues, in any order, as accounts with their parents. A parent that is not in the list: none. */
struct accounts read_accounts(struct arena *arena, const struct doc *queues);

/* By name; NULL: none. */
const struct account_view *accounts_find(const struct accounts *accounts, const struct doc *name);
