/* oracle_saved.c - the laws of recorded checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "law.h"

static const struct instance *saver(const struct core *core, const struct fact *fact)
{
    const struct attempt_key key = fact->attempt_checkpoint.key;
    const struct instance *instance = query_instance(core, key.task, key.index);
    law(instance != NULL, "a checkpoint is of an instance");
    law(instance->attempt == key.attempt, "P11: a checkpoint is of the newest attempt");
    law(instance->state == INSTANCE_RUNNING || instance->state == INSTANCE_STOPPING,
        "P11: a checkpoint is of an attempt that runs");
    return instance;
}

void oracle_may_save(const struct core *core, const struct fact *fact)
{
    const struct instance *instance = saver(core, fact);
    const int64_t at_ms = fact->attempt_checkpoint.at_ms;
    law(at_ms > instance->started_ms, "a checkpoint saves something");
    law(at_ms <= fact->time_ms, "a checkpoint has been");
    law(instance->checkpoint_ms == 0 || at_ms >= instance->checkpoint_ms + CHECKPOINT_INTERVAL_MS,
        "checkpoints of an attempt do not come one upon the other");
}

void oracle_has_saved(const struct core *core, const struct fact *fact)
{
    const struct task *task = query_task(core, fact->attempt_checkpoint.key.task);
    law(saver(core, fact)->checkpoint_ms == fact->attempt_checkpoint.at_ms,
        "a checkpoint is known");
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        const bool runs = instance->state == INSTANCE_RUNNING;
        law(!task->gang || !runs || instance->started_ms >= fact->attempt_checkpoint.at_ms ||
                instance->checkpoint_ms >= fact->attempt_checkpoint.at_ms,
            "a gang saves together");
        law(!runs || instance->checkpoint_ms == 0 ||
                instance->checkpoint_ms > instance->allocated_ms,
            "an attempt begins with nothing saved");
    }
}
