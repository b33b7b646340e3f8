/* kai_runtime.c - cases of KAI about which minimum runtime protects a victim (runtime.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/runtime.h"
#include "read.h"

/* Joins the queues that all cases share with those of this case. */
static struct doc *queues_joined(struct trial *trial)
{
    struct doc *all = arena_new(trial->arena, struct doc, 1);
    struct doc **end = &all->first;
    const struct doc *const lists[] = {doc_get(trial->group, "queues"),
                                       doc_get(trial->test, "extra_queues")};
    all->kind = DOC_LIST;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (const struct doc *one = lists[i] == NULL ? NULL : lists[i]->first; one != NULL;
             one = one->next) {
            *end = arena_dup(trial->arena, one, sizeof *one);
            end = &(*end)->next;
            all->count++;
        }
    }
    *end = NULL;
    return all;
}

enum outcome kai_runtime(struct trial *trial)
{
    const struct accounts accounts = read_accounts(trial->arena, queues_joined(trial));
    const struct doc *test = trial->test;
    const struct account_view *victim = accounts_find(&accounts, doc_get(test, "victim"));
    const struct account_view *claimant = accounts_find(&accounts, doc_get(test, "reclaimer"));
    const bool preempt = read_is(doc_get(test, "kind"), "preempt");
    int64_t pool_ms = 0;
    int64_t expected_ms;
    (void)read_scaled(doc_get(trial->group, preempt ? "default_preempt_min_runtime_s"
                                                    : "default_reclaim_min_runtime_s"),
                      MILLI, &pool_ms);
    if (!read_scaled(doc_get(test, "expect_s"), MILLI, &expected_ms) || victim == NULL ||
        (!preempt && claimant == NULL)) {
        return trial_skipped(trial, "the case is not complete");
    }
    const enum reclaim_protection protection = read_is(doc_get(test, "method"), "queue")
                                                   ? RECLAIM_PROTECTION_ACCOUNT
                                                   : RECLAIM_PROTECTION_LCA;
    const int64_t min_ms = preempt ? runtime_min_preempt_ms(victim, pool_ms)
                                   : runtime_min_reclaim_ms(protection, claimant, victim, pool_ms);
    return min_ms == expected_ms ? CASE_PASSED : trial_failed(trial, "%lld ms", (long long)min_ms);
}
