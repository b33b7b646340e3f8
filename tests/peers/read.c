/* read.c - see read.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "read.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

static const char *const DIM_NAMES[KAI_DIMS] = {"gpu", "cpu", "memory"};

/* A number of a case may be the result of floating point, such as 32.54999999999996. The nearest
 * whole result counts if it is this near. */
static bool read_nearest(const struct doc *number, int64_t scale, int64_t *ret)
{
    static const double NEAR = 1e-6;
    static const double EXACT_MAX = 1e15; /* a double has every whole number up to here */
    const double value = strtod(number->text.p, NULL) * (double)scale;
    if (!(value > -EXACT_MAX && value < EXACT_MAX)) {
        return false;
    }
    const int64_t nearest = (int64_t)(value < 0 ? value - 0.5 : value + 0.5);
    const double off = value - (double)nearest;
    if (off > NEAR || off < -NEAR) {
        return false;
    }
    reads_note(number);
    *ret = nearest;
    return true;
}

bool read_scaled(const struct doc *number, int64_t scale, int64_t *ret)
{
    if (number == NULL || number->kind != DOC_NUMBER) {
        return false;
    }
    const int64_t whole_scale = scale;
    struct str fraction = {NULL, 0};
    const bool negative = number->text.p[0] == '-';
    const struct str digits = {number->text.p + negative, number->text.len - negative};
    const struct str whole = str_cut(digits, '.', &fraction);
    int64_t value;
    if (!str_to_i64(whole, &value)) {
        return read_nearest(number, whole_scale, ret);
    }
    value = i64_mul(value, scale);
    for (size_t i = 0; i < fraction.len; i++) {
        const int64_t digit = fraction.p[i] - '0';
        if (digit < 0 || digit > 9 || (digit > 0 && scale % 10 != 0)) {
            return read_nearest(number, whole_scale, ret);
        }
        scale /= 10;
        value = i64_add(value, i64_mul(digit, scale));
    }
    reads_note(number);
    *ret = negative ? -value : value;
    return true;
}

int64_t read_milli(const struct doc *number, int64_t missing)
{
    int64_t milli = missing;
    (void)read_scaled(number, MILLI, &milli);
    return milli == (int64_t)VECTOR_UNLIMITED * MILLI ? VECTOR_UNLIMITED : milli;
}

bool read_is(const struct doc *text, const char *expected)
{
    const char *value;
    return reads_text(text, &value) && strcmp(value, expected) == 0;
}

bool read_flag(const struct doc *map, const char *key, bool missing)
{
    bool flag = missing;
    (void)reads_bool(reads_get(map, key), &flag);
    return flag;
}

const char *read_dim_name(uint32_t dim)
{
    must(dim < KAI_DIMS);
    return DIM_NAMES[dim];
}

struct vector read_vector(const struct doc *map)
{
    struct vector amounts = {{0}};
    for (uint32_t dim = 0; map != NULL && dim < KAI_DIMS; dim++) {
        amounts.at[dim] = read_milli(reads_get(map, DIM_NAMES[dim]), 0);
    }
    return amounts;
}

struct account_pool read_pool(const struct doc *total)
{
    return (struct account_pool){
        .dims = KAI_DIMS, .total = read_vector(total), .unit = {{MILLI, MILLI, MILLI}}};
}

struct account_view read_account(const struct doc *queue, uint32_t index)
{
    struct account_view account = {
        .index = index, .preempt_min_runtime_ms = -1, .reclaim_min_runtime_ms = -1};
    uint64_t rank = 100;
    uint64_t order = index;
    (void)reads_u64(reads_get(queue, "priority"), &rank);
    (void)reads_u64(reads_get(queue, "created_rank"), &order);
    account.rank = (uint32_t)rank;
    account.order = order;
    (void)read_scaled(reads_get(queue, "preempt_min_runtime_s"), MILLI,
                      &account.preempt_min_runtime_ms);
    (void)read_scaled(reads_get(queue, "reclaim_min_runtime_s"), MILLI,
                      &account.reclaim_min_runtime_ms);
    for (uint32_t dim = 0; dim < KAI_DIMS; dim++) {
        const struct doc *one = reads_get(queue, DIM_NAMES[dim]);
        if (one == NULL) {
            continue;
        }
        account.guaranteed.at[dim] = read_milli(reads_get(one, "quota"), 0);
        account.limit.at[dim] = read_milli(reads_get(one, "limit"), VECTOR_UNLIMITED);
        account.share.at[dim] = read_milli(reads_get(one, "fair_share"), 0);
        account.allocated.at[dim] = read_milli(reads_get(one, "allocated"), 0);
        account.fixed.at[dim] = read_milli(reads_get(one, "allocated_non_preemptible"), 0);
        /* Both count in the division only, whose result is `fair_share`. */
        reads_ignore(one, "weight");
        reads_ignore(one, "request");
    }
    reads_ignore(queue, "name");
    account_allocatable(&account);
    return account;
}

const struct account_view *accounts_find(const struct accounts *accounts, const struct doc *name)
{
    for (uint32_t i = 0; i < accounts->count; i++) {
        if (read_is(name, accounts->name[i])) {
            return &accounts->at[i];
        }
    }
    return NULL;
}

struct accounts read_accounts(struct arena *arena, const struct doc *queues)
{
    struct accounts accounts = {
        .at = arena_new(arena, struct account_view, queues->count),
        .name = arena_new(arena, const char *, queues->count),
        .count = queues->count,
    };
    uint32_t index = 0;
    for (const struct doc *queue = queues->first; queue != NULL; queue = queue->next, index++) {
        accounts.at[index] = read_account(queue, index);
        accounts.name[index] = "";
        (void)reads_text(reads_get(queue, "name"), &accounts.name[index]);
    }
    index = 0;
    for (const struct doc *queue = queues->first; queue != NULL; queue = queue->next, index++) {
        accounts.at[index].parent = accounts_find(&accounts, reads_get(queue, "parent"));
        if (accounts.at[index].parent != NULL) {
            account_promise(&accounts.at[accounts.at[index].parent->index], &accounts.at[index]);
        }
    }
    for (index = 0; index < accounts.count; index++) {
        const struct account_view *above = accounts.at[index].parent;
        for (; above != NULL && accounts.at[index].depth < accounts.count; above = above->parent) {
            accounts.at[index].depth++;
        }
    }
    return accounts;
}
