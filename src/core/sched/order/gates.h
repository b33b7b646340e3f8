/* gates.h - hard bounds that no order and no share overrides: an account's limit, and that non-preemptible work stays within
 * the guarantee, at every level from the task's account to the top. A dimension that is not asked for never blocks.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/vector.h"
#include "core/sched/order/account.h"

#include <stdbool.h>
#include <stdint.h>

enum gate {
    GATE_OPEN,
    GATE_LIMIT,     /* would exceed a limit */
    GATE_GUARANTEE, /* non-preemptible, and would exceed a guarantee */
};

struct gate_result {
    enum gate gate;
    const struct account_view *account; /* the lowest one that is in the way; NULL when open */
    uint32_t dims;                      /* in which dimensions, bit by bit */
};

/* One level: the dimensions in which `request` does not pass, bit by bit; 0: it passes. */
uint32_t gates_limit_at(const struct account_pool *pool, const struct account_view *account,
                        const struct vector *request);
uint32_t gates_guarantee_at(const struct account_pool *pool, const struct account_view *account,
                            const struct vector *request);

/* The whole path from `leaf` up, one gate. */
struct gate_result gates_limit(const struct account_pool *pool, const struct account_view *leaf,
                               const struct vector *request);
struct gate_result gates_guarantee(const struct account_pool *pool, const struct account_view *leaf,
                                   const struct vector *request);

/* Both gates; the second only for non-preemptible work. */
struct gate_result gates_check(const struct account_pool *pool, const struct account_view *leaf,
                               const struct vector *request, bool preemptible);
