/* kai_order.c - cases of KAI about which of two siblings is served first (account_order.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/account_order.h"
#include "read.h"

static struct vector sum(const struct doc *pieces)
{
    struct vector all = {{0}};
    for (const struct doc *piece = pieces == NULL ? NULL : pieces->first; piece != NULL;
         piece = piece->next) {
        const struct vector one = read_vector(piece);
        vector_add(&all, &one);
    }
    return all;
}

enum outcome kai_order(struct trial *trial)
{
    const struct doc *test = trial->test;
    const struct account_pool pool = read_pool(reads_get(test, "total"));
    const struct account_view left = read_account(reads_get(test, "left"), 0);
    const struct account_view right = read_account(reads_get(test, "right"), 1);
    const struct vector left_chunk = read_vector(reads_get(test, "left_job"));
    const struct vector right_chunk = read_vector(reads_get(test, "right_job"));
    const struct vector left_taken = sum(reads_get(test, "left_victims"));
    const struct vector right_taken = sum(reads_get(test, "right_victims"));
    const struct account_side a = {&left, &left_chunk, &left_taken};
    const struct account_side b = {&right, &right_chunk, &right_taken};
    const int order = account_order(&pool, &a, &b);
    if (account_order(&pool, &b, &a) != -order || account_order_giving(&pool, &a, &b) != -order) {
        return trial_failed(trial, "the order of the sides matters");
    }
    return read_is(reads_get(test, "expect"), order < 0 ? "left" : "right")
               ? CASE_PASSED
               : trial_failed(trial, "served first: %s", order < 0 ? "left" : "right");
}
