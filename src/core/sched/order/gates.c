/* gates.c - limits, and guarantees as the bound of non-preemptible work.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/gates.h"

#include "base/checked.h"
#include "base/must.h"

#include <stddef.h>

typedef uint32_t (*gate_fn)(const struct account_pool *pool, const struct account_view *account,
                            const struct vector *request);

static uint32_t over(const struct account_pool *pool, const struct vector *held,
                     const struct vector *request, const struct vector *bound)
{
    must(pool->dims <= QUOTA_DIMS_MAX);
    uint32_t dims = 0;
    for (uint32_t dim = 0; dim < pool->dims; dim++) {
        const int64_t with = i64_add(held->at[dim], request->at[dim]);
        if (request->at[dim] > 0 && !vector_within_at(with, bound->at[dim])) {
            dims |= 1u << dim;
        }
    }
    return dims;
}

uint32_t gates_limit_at(const struct account_pool *pool, const struct account_view *account,
                        const struct vector *request)
{
    return over(pool, &account->allocated, request, &account->limit);
}

uint32_t gates_guarantee_at(const struct account_pool *pool, const struct account_view *account,
                            const struct vector *request)
{
    return over(pool, &account->fixed, request, &account->guaranteed);
}

static struct gate_result path_check(const struct account_pool *pool,
                                     const struct account_view *leaf, const struct vector *request,
                                     enum gate gate)
{
    const gate_fn at = gate == GATE_LIMIT ? gates_limit_at : gates_guarantee_at;
    for (const struct account_view *account = leaf; account != NULL; account = account->parent) {
        const uint32_t dims = at(pool, account, request);
        if (dims != 0) {
            return (struct gate_result){gate, account, dims};
        }
    }
    return (struct gate_result){GATE_OPEN, NULL, 0};
}

struct gate_result gates_limit(const struct account_pool *pool, const struct account_view *leaf,
                               const struct vector *request)
{
    return path_check(pool, leaf, request, GATE_LIMIT);
}

struct gate_result gates_guarantee(const struct account_pool *pool, const struct account_view *leaf,
                                   const struct vector *request)
{
    return path_check(pool, leaf, request, GATE_GUARANTEE);
}

struct gate_result gates_check(const struct account_pool *pool, const struct account_view *leaf,
                               const struct vector *request, bool preemptible)
{
    const struct gate_result limit = gates_limit(pool, leaf, request);
    return limit.gate != GATE_OPEN || preemptible ? limit : gates_guarantee(pool, leaf, request);
}
