/* agents_known.c - does a node know more than the server? What a node was told was on disk before. So a
 * node that has seen a later fact or epoch, or runs an attempt that the server never ordered, shows that
 * the server has lost the end of its facts: a database of yesterday was put back, or files were cut.
 * The node's word changes nothing; it is said. SPDX-License-Identifier: Apache-2.0 */
#include "server/agents_internal.h"

#include "base/log.h"
#include "wire/attempt_key.h"

/* No fact of this server orders the attempt, neither now nor in the past. */
static bool never_ordered(const struct core *core, struct attempt_key key)
{
    if (key.task.v > query_task_last(core).v) {
        return true;
    }
    if (query_task(core, key.task) == NULL) {
        return false; /* ended long ago */
    }
    const struct instance *instance = query_instance(core, key.task, key.index);
    return instance != NULL && key.attempt > instance->attempt;
}

void agents_known_compare(const struct agents *agents, const struct agent_hello *hello)
{
    const struct core *core = ledger_core(agents->o.ledger);
    const uint64_t fact = ledger_seq_committed(agents->o.ledger);
    uint64_t count = 0;
    char first[ATTEMPT_KEY_TEXT_MAX] = "";
    for (uint32_t i = 0; i < hello->attempt_count; i++) {
        if (never_ordered(core, hello->attempts[i].key) && count++ == 0) {
            (void)attempt_key_text(hello->attempts[i].key, first);
        }
    }
    if (count == 0 && hello->fact_seen <= fact && hello->epoch_seen <= query_epoch(core)) {
        return;
    }
    log_error("a node knows more than this server: acknowledged facts are lost",
              kv_str("node", hello->node.name), kv_u64("fact_seen", hello->fact_seen),
              kv_u64("fact", fact), kv_u64("epoch_seen", hello->epoch_seen),
              kv_u64("epoch", query_epoch(core)), kv_u64("attempts_never_ordered", count),
              kv_str("first", first));
}
