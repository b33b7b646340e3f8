/* oracle_evict.c - which instances may be evicted, and for which task (P4, P6).
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "law.h"

static bool promised(const struct facts *facts, task_id task)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_CLAIMED && fact->allocated.key.task.v == task.v) {
            return true;
        }
    }
    return false;
}

/* Checks the figures of an eviction: the guarantee of the victim's account, and that the account
 * held as much as the eviction says, counting leaving and promised instances. */
static void victim_check(const struct ledger *ledger, pool_id pool, const struct eviction *why)
{
    const struct core *core = ledger->core;
    const struct eviction_side *victim = &why->victim;
    uint32_t dim = 0;
    struct quota quota;
    struct usage usage;
    law(query_dim_of(core, why->resource, &dim), "P4: quotas know of what decided");
    query_quota(core, victim->account, pool, &quota);
    query_usage(core, victim->account, pool, &usage);
    law(victim->guaranteed == quota.guaranteed.at[dim], "P4: the guarantee is as was said");
    law(victim->allocated <=
            usage.leaving.at[dim] + ledger_held_later(ledger, victim->account, pool)->held.at[dim],
        "P4: the victim's account had that much");
    law(victim->guaranteed != QUOTA_UNLIMITED && victim->allocated > victim->guaranteed,
        "P4: nobody within his guarantee loses");
}

void oracle_evictions(struct ledger *ledger, const struct core *core, const struct facts *facts)
{
    bool taken = false;
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type != FACT_EVICTED || fact->evicted.why.rule == EVICT_STALE) {
            continue;
        }
        const struct eviction *why = &fact->evicted.why;
        const struct task *task = query_task(core, fact->evicted.key.task);
        law(promised(facts, why->claimant),
            "P6: who takes is promised a place in the same decision");
        law(why->rule != EVICT_CONSOLIDATE || promised(facts, task->id),
            "who is moved has his new place");
        if (why->rule == EVICT_SHARE || why->rule == EVICT_GUARANTEE) {
            if (!taken) {
                ledger_take(ledger, core);
                taken = true;
            }
            victim_check(ledger, task->pool, why);
        }
    }
}

void oracle_starts_last(const struct core *core, const struct facts *facts, int64_t now_ms)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type == FACT_EVICTED) {
            const struct attempt_key *key = &fact->evicted.key;
            law(query_instance(core, key->task, key->index)->allocated_ms != now_ms,
                "P6: nothing is started that the same moment evicts");
        }
    }
}
