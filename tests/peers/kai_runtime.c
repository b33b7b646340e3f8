/* kai_runtime.c - cases of KAI about which minimum runtime protects a victim (runtime.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/runtime.h"
#include "read.h"

/* Joins the queues that all cases share with those of this case. */
static struct doc *queues_joined(struct trial *trial)
{
    struct doc *all = arena_new(trial->arena, struct doc, 1);
    struct doc **end = &all->first;
    const struct doc *const lists[] = {reads_get(trial->group, "queues"),
                                       reads_get(trial->test, "extra_queues")};
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
    const struct account_view *victim = accounts_find(&accounts, reads_get(test, "victim"));
    const struct account_view *claimant = accounts_find(&accounts, reads_get(test, "reclaimer"));
    const int kind = reads_word(trial, test, "kind", "preempt|reclaim");
    const int method = reads_word(trial, test, "method", "lca|queue");
    if (kind < 0 || method < 0) {
        return CASE_FAILED;
    }
    const bool preempt = kind == 0;
    int64_t preempt_ms = 0;
    int64_t reclaim_ms = 0;
    int64_t expected_ms;
    (void)read_scaled(reads_get(trial->group, "default_preempt_min_runtime_s"), MILLI, &preempt_ms);
    (void)read_scaled(reads_get(trial->group, "default_reclaim_min_runtime_s"), MILLI, &reclaim_ms);
    if (!read_scaled(reads_get(test, "expect_s"), MILLI, &expected_ms) || victim == NULL ||
        (!preempt && claimant == NULL)) {
        return trial_failed(trial, "'expect_s', 'victim' or 'reclaimer' is not complete");
    }
    const int64_t pool_ms = preempt ? preempt_ms : reclaim_ms;
    const enum reclaim_protection protection =
        method == 1 ? RECLAIM_PROTECTION_ACCOUNT : RECLAIM_PROTECTION_LCA;
    const int64_t min_ms = preempt ? runtime_min_preempt_ms(victim, pool_ms)
                                   : runtime_min_reclaim_ms(protection, claimant, victim, pool_ms);
    return min_ms == expected_ms ? CASE_PASSED : trial_failed(trial, "%lld ms", (long long)min_ms);
}
