/* oracle_turns.c - what is taken does not go round (P6). Judged are pools without turns: with turns, places change hands as time passes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "law.h"

#include <string.h>

void oracle_turns_forget(struct oracle_turns *turns)
{
    memset(turns, 0, sizeof *turns);
}

/* True when the task runs with all of its instances or not at all. */
static bool runs_whole(const struct core *core, uint64_t id)
{
    const struct task *task = query_task(core, (task_id){id});
    return task->gang && task->min_count == task->instance_count;
}

/* P6: without arrivals no two tasks evict each other in turn. Only tasks that run as a whole are judged: of other tasks some instances
 * may have been lent places in between. */
static void pair_check(struct oracle_turns *turns, const struct core *core, uint64_t victim,
                       uint64_t claimant)
{
    if (runs_whole(core, victim) && runs_whole(core, claimant)) {
        law(!turns->took[victim][claimant], "P6: no two evict each other in turn");
        turns->took[claimant][victim] = true;
    }
}

/* Notes an eviction. The account that pays, the account of the victim and the accounts between may now have a right that they did not
 * have before. */
static void paid_note(struct oracle_turns *turns, const struct core *core, const struct fact *fact)
{
    const struct eviction *why = &fact->evicted.why;
    account_id at = query_task(core, fact->evicted.key.task)->account;
    for (; at.v != 0; at = query_account(core, at)->parent) {
        law(at.v < ORACLE_TURNS_ACCOUNTS, "few accounts");
        if (why->rule == EVICT_SHARE && at.v == why->victim.account.v) {
            turns->paid[why->claimant.v][at.v] = true;
            return;
        }
        for (uint32_t task = 0; task < ORACLE_TURNS_TASKS; task++) {
            turns->paid[task][at.v] = false;
        }
    }
}

void oracle_turns(struct oracle_turns *turns, const struct core *core, const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *fact = &facts->at[i];
        if (fact->type != FACT_EVICTED || fact->evicted.why.rule == EVICT_STALE ||
            fact->evicted.why.rule == EVICT_CONSOLIDATE) {
            continue; /* a moved task keeps a place */
        }
        const struct eviction *why = &fact->evicted.why;
        const struct task *victim = query_task(core, fact->evicted.key.task);
        law(victim->id.v < ORACLE_TURNS_TASKS, "few tasks");
        law(why->claimant.v < ORACLE_TURNS_TASKS, "few claimants");
        if (query_pool(core, victim->pool)->turn_ms > 0) {
            continue;
        }
        pair_check(turns, core, victim->id.v, why->claimant.v);
        law(why->rule != EVICT_GUARANTEE || !turns->paid[victim->id.v][why->taker.account.v],
            "P6: an account that paid by its share does not take back by its guarantee");
        paid_note(turns, core, fact);
    }
}
