/* gates.h - the hard bounds, which no order and no share overrides. Every account stays within its limit. Non-preemptible work of an
 * account stays within the account's guarantee. Both bounds hold at every level from the task's account to the top. A dimension
 * that the request does not ask for never blocks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"
#include "core/sched/order/account.h"

#include <stdbool.h>
#include <stdint.h>

enum gate {
    GATE_OPEN,
    GATE_LIMIT,     /* the request would exceed a limit */
    GATE_GUARANTEE, /* the non-preemptible request would exceed a guarantee */
};

struct gate_result {
    enum gate gate;
    const struct account_view *account; /* the lowest account whose bound is hit; NULL: open */
    uint32_t dims;                      /* the dimensions that exceed the bound, bit by bit */
};

/* The dimensions, bit by bit, in which `request` exceeds the bound of this one account. The result 0 means that the request passes. */
uint32_t gates_limit_at(const struct account_pool *pool, const struct account_view *account,
                        const struct vector *request);
uint32_t gates_guarantee_at(const struct account_pool *pool, const struct account_view *account,
                            const struct vector *request);

/* Checks one gate for every account from `leaf` up to the top. */
struct gate_result gates_limit(const struct account_pool *pool, const struct account_view *leaf,
                               const struct vector *request);
struct gate_result gates_guarantee(const struct account_pool *pool, const struct account_view *leaf,
                                   const struct vector *request);

/* Checks the limits and, for non-preemptible work, the guarantees of every account from `leaf` up to the top. */
struct gate_result gates_check(const struct account_pool *pool, const struct account_view *leaf,
                               const struct vector *request, bool preemptible);
