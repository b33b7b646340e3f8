/* apply_claim.c - facts of claims and evictions: a place is promised to a waiting instance while other
 * instances are leaving that place.
 *
 * An instance that is moved to make room gets its claim while it is still stopping at its old place.
 *
 * A claim takes nothing from the free amounts of its node. The claims of a node together never exceed what
 * will be free when the stopping instances have ended (space_later_claims_fit).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/claim.h"
#include "core/model/instance.h"
#include "core/model/node.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/fallback.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* A task that waits in several pools is promised its first place in one of them. The task is opened only for that: closing a gang
 * between two promises would drop the first. */
static void settle(struct core *core, task_id id, pool_id pool)
{
    const struct task *row = query_task(core, id);
    if (row->listed && row->claimed_count == 0 && row->active_count == 0) {
        struct task_mark mark;
        struct task *task = change_task_open(core, id, &mark);
        fallback_settle(core, task, pool);
        change_task_close(core, task, &mark);
    }
}

void apply_claim_made(struct core *core, const struct fact *fact)
{
    const struct attempt_key key = fact->allocated.key;
    settle(core, key.task, query_node(core, fact->allocated.node)->pool);
    struct task *task = table_edit(&core->tasks, key.task.v);
    must(task != NULL);
    must(task_keeps_claims(task));
    const struct instance *instance = query_instance(core, key.task, key.index);
    must(instance_may_claim(instance));
    must(instance->attempt + 1 == key.attempt);
    const struct node *node = query_node(core, fact->allocated.node);
    must(node->pool.v == task->pool.v);
    must(node->incarnation == fact->allocated.incarnation);
    must(node_takes_work(node));
    change_claim_put(core, task, key.index,
                     &(struct claim){.node = fact->allocated.node,
                                     .devices = fact->allocated.devices,
                                     .slots_milli = fact->allocated.slots_milli,
                                     .cpu_milli = fact->allocated.cpu_milli,
                                     .memory_bytes = fact->allocated.memory_bytes});
    fallback_close(core, task);
}

void apply_claim_dropped(struct core *core, const struct fact *fact)
{
    struct task *task = table_edit(&core->tasks, fact->claim_dropped.task.v);
    must(task != NULL);
    must(query_instance_claim(core, task->id, fact->claim_dropped.index) != NULL);
    change_claim_drop(core, task, fact->claim_dropped.index);
    fallback_close(core, task);
}

/* Another account's share takes the place of an attempt. The next attempts are safe from that for twice as long as this one ran. */
static void safe_set(const struct core *core, struct task *task, const struct fact *fact)
{
    const struct instance *instance = query_instance(core, task->id, fact->evicted.key.index);
    const int64_t ran_ms = fact->time_ms - instance->allocated_ms;
    const int64_t safe_ms = ran_ms < TIME_MS_MAX / 2 ? 2 * ran_ms : TIME_MS_MAX;
    task->safe_ms = safe_ms > task->safe_ms ? safe_ms : task->safe_ms;
}

void apply_claim_evicted(struct core *core, const struct fact *fact)
{
    struct fact stop = *fact;
    stop.attempt_stopping.key = fact->evicted.key;
    /* no other instance gets the place: the gang was stale */
    const bool stale = fact->evicted.why.rule == EVICT_STALE;
    stop.attempt_stopping.cause = stale ? END_GANG : END_PREEMPTED;
    stop.attempt_stopping.deadline_ms = fact->evicted.deadline_ms;
    apply_attempt_stopping(core, &stop);
    struct task *task = table_edit(&core->tasks, fact->evicted.key.task.v);
    must(task != NULL);
    task->evicted_ms = stale ? task->evicted_ms : fact->time_ms;
    if (fact->evicted.why.rule == EVICT_SHARE) {
        safe_set(core, task, fact);
    }
    struct eviction_note *note = table_edit(&core->evictions, task->id.v);
    if (note == NULL) {
        note = table_put(&core->evictions, task->id.v);
    }
    note->at_ms = fact->time_ms;
    note->index = fact->evicted.key.index;
    note->why = fact->evicted.why;
}
