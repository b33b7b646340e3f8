/* rights.c - see rights.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/rights.h"

#include "core/core_internal.h"
#include "core/sched/form_chunk.h"
#include "core/sched/queue.h"

static bool turns_change(const struct pool *pool)
{
    return pool->policy == POLICY_FAIR_SHARE || pool->policy == POLICY_ROUND_ROBIN;
}

bool rights_between(const struct core *core, const struct pool *pool)
{
    const struct oindex *order = &core->orders[ORDER_ACCOUNT_QUEUE];
    struct okey key = {{ACCOUNT_KEY(pool->id, (account_id){0}), 0, 0, 0}};
    return turns_change(pool) && oindex_from(order, key, &key) && key.at[0] >> 32 == pool->id.v &&
           oindex_from(order, (struct okey){{key.at[0] + 1, 0, 0, 0}}, &key) &&
           key.at[0] >> 32 == pool->id.v;
}

bool rights_ahead(const struct pool *pool, const struct task *holder, const struct okey *key)
{
    const struct okey other = key_account_queue(holder);
    return (key->at[0] == other.at[0] || !turns_change(pool)) &&
           queue_ahead(key, &other, pool->policy == POLICY_FIFO);
}

uint32_t rights_own(const struct overlay *overlay, const struct okey *key)
{
    const struct pool *pool = core_pool(overlay->core, overlay->pool);
    uint32_t passes = 0;
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        passes |= (uint32_t)rights_ahead(pool, overlay->holders[i], key) << i;
    }
    return passes;
}

/* Could the claimant take what the holder waits for, if that held it? */
static bool takes_from(struct trial *trial, const struct claimant *claimant,
                       const struct task *holder, struct losses *losses)
{
    const struct account_view *account = tally_view(&trial->tally, holder);
    struct vector amounts;
    if (account == claimant->account || !holder->preemptible) {
        return false;
    }
    form_next_amounts(trial->core, holder, task_chunk(holder), SLOTS_MOST, &amounts);
    tally_move(&trial->tally, holder, VIEW_LATER, &amounts, 1);
    losses_clear(losses);
    const bool takes = reclaim_from(claimant, account) &&
                       reclaim_take(claimant, losses, account, &amounts) != RECLAIM_REFUSED &&
                       reclaim_balanced(claimant, losses);
    tally_move(&trial->tally, holder, VIEW_LATER, &amounts, -1);
    return takes;
}

uint32_t rights_taken(struct trial *trial, const struct claimant *claimant, struct losses *losses)
{
    const struct overlay *overlay = &trial->overlay;
    uint32_t passes = 0;
    if (overlay->holder_count == 0 || reclaim_start(claimant) != CLAIM_MAY_START) {
        return 0;
    }
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        passes |= (uint32_t)takes_from(trial, claimant, overlay->holders[i], losses) << i;
    }
    return passes;
}
