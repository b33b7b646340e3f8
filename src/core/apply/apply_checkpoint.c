/* apply_checkpoint.c - what a task has saved of its work, and what it lost when it was evicted.
 *
 * A gang saves together: what one of it reports counts for all of it that ran by then. Most frameworks have one rank write.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/claim.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Its place among those that lose alike moves with it. */
static void saved(struct core *core, const struct task *task, uint32_t index, int64_t at_ms)
{
    struct oindex *order = &core->orders[ORDER_ACCOUNT_LOSS];
    struct instance *instance = change_task_instance(core, task, index);
    const bool stays = instance_stays(instance);
    must(!stays || oindex_remove(order, key_account_loss(task, instance)));
    instance->checkpoint_ms = at_ms;
    must(!stays || oindex_insert(order, key_account_loss(task, instance)));
}

static bool ran_by(const struct instance *instance, int64_t at_ms)
{
    return instance_active(instance) && instance->started_ms > 0 && instance->started_ms < at_ms &&
           instance->checkpoint_ms < at_ms;
}

void apply_checkpoint(struct core *core, const struct fact *fact)
{
    const struct attempt_key key = fact->attempt_checkpoint.key;
    const int64_t at_ms = fact->attempt_checkpoint.at_ms;
    const struct instance *instance = query_instance_live(core, key);
    must(instance != NULL);
    must(instance_unsaved_ms(instance) < at_ms);
    must(at_ms <= fact->time_ms);
    const struct task *task = query_task(core, key.task);
    saved(core, task, key.index, at_ms);
    for (uint32_t i = 0; i < task->instance_count && task->gang; i++) {
        if (ran_by(query_instance_row(core, task->instance_first + i), at_ms)) {
            saved(core, task, i, at_ms);
        }
    }
}

static void lost_add(int64_t *sum, int64_t held, int64_t ms)
{
    int64_t work;
    if (__builtin_mul_overflow(held, ms, &work) || __builtin_add_overflow(*sum, work, sum)) {
        *sum = INT64_MAX;
    }
}

void apply_checkpoint_lost(struct core *core, const struct instance *instance)
{
    struct eviction_note *note = table_edit(&core->evictions, instance->task.v);
    const int64_t from_ms =
        instance->checkpoint_ms > 0 ? instance->checkpoint_ms : instance->started_ms;
    if (note == NULL || from_ms == 0 || instance->ended_ms <= from_ms) {
        return; /* of an older state, never started, or all of it saved */
    }
    lost_add(&note->slots_lost, instance->slots_milli, instance->ended_ms - from_ms);
    lost_add(&note->cpu_lost, instance->cpu_milli, instance->ended_ms - from_ms);
}
