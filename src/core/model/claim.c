/* claim.c - what a claim promises.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/claim.h"

#include "core/model/quota.h"

struct grant claim_grant(const struct claim *claim)
{
    return (struct grant){claim->devices, claim->slots_milli, claim->cpu_milli,
                          claim->memory_bytes};
}

enum eviction_rule claim_eviction_told(const struct eviction *why)
{
    const struct eviction_side *taker = &why->taker;
    const struct eviction_side *victim = &why->victim;
    const bool owed = taker->guaranteed == QUOTA_UNLIMITED || taker->allocated < taker->guaranteed;
    const bool borrowed =
        victim->guaranteed != QUOTA_UNLIMITED && victim->allocated > victim->guaranteed;
    return why->rule == EVICT_SHARE && owed && borrowed ? EVICT_GUARANTEE : why->rule;
}
