/* oracle_vain.c - counting starts in vain. They are rare, and no law forbids them (S14 of the scheduler's README).
 *
 * Not counted: who moves so that another fits has its new place in the same decision; what was promised before starts as promised;
 * a gang that broke goes. SPDX-License-Identifier: Apache-2.0 */
#include "oracle_vain.h"

static bool started(const struct vain *vain, const struct attempt_key *key)
{
    for (uint32_t i = 0; i < vain->count; i++) {
        const struct attempt_key *at = &vain->started[i];
        if (at->task.v == key->task.v && at->index == key->index && at->attempt == key->attempt) {
            return true;
        }
    }
    return false;
}

void oracle_vain_note(struct vain *vain, const struct core *core, const struct fact *fact)
{
    if (fact->type == FACT_ALLOCATED && vain->count < VAIN_STARTED_MAX &&
        core_claim(core, fact->allocated.key.task, fact->allocated.key.index) == NULL) {
        vain->started[vain->count++] = fact->allocated.key;
    } else if (fact->type == FACT_EVICTED) {
        const enum eviction_rule rule = fact->evicted.why.rule;
        vain->evicted +=
            rule != EVICT_CONSOLIDATE && rule != EVICT_STALE && started(vain, &fact->evicted.key);
    }
}
