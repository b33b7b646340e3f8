/* agents_idle.c - tells the core of tasks that hold their places and do nothing, where an account or
 * the pool has a rule for such tasks. A task does nothing when none of its running instances does anything. A task
 * with an instance whose use is unknown may be working. SPDX-License-Identifier: Apache-2.0 */
#include "server/agents_internal.h"

/* the core is told of a task at most once in this time, however many instances report */
enum { TELL_MS = 2000 };

/* What the running instances of a task have in common. */
struct idle_task {
    int64_t since_ms;
    int64_t seen_ms; /* the last moment until which every instance is known to have done nothing */
    int64_t warned_ms; /* when the last instance was warned; 0: an instance was not warned */
};

static struct attempt_key key_of(const struct instance *instance)
{
    return (struct attempt_key){instance->task, instance->index, instance->attempt};
}

/* Finds since when the task does nothing. Marks its instances as told. False: an instance may be
 * working. */
static bool idle_find(struct agents *agents, const struct task *task, int64_t now_ms,
                      struct idle_task *ret)
{
    const struct core *core = ledger_core(agents->o.ledger);
    *ret = (struct idle_task){.seen_ms = INT64_MAX, .warned_ms = INT64_MAX};
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        if (instance->state == INSTANCE_STARTING) {
            return false;
        }
        if (instance->state != INSTANCE_RUNNING) {
            continue;
        }
        const struct attempt_use *use = use_table_get(agents->uses, key_of(instance));
        if (use == NULL) {
            return false;
        }
        use_table_told(agents->uses, use->key, now_ms);
        ret->since_ms = use->busy_ms > ret->since_ms ? use->busy_ms : ret->since_ms;
        ret->seen_ms = use->heard_ms < ret->seen_ms ? use->heard_ms : ret->seen_ms;
        ret->warned_ms = use->warned_ms < ret->warned_ms ? use->warned_ms : ret->warned_ms;
    }
    return true;
}

static void warned_set(struct agents *agents, const struct task *task, int64_t now_ms)
{
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance =
            query_instance(ledger_core(agents->o.ledger), task->id, i);
        use_table_warned(agents->uses, key_of(instance), now_ms);
    }
}

void agents_idle(struct agents *agents, struct attempt_key key)
{
    const struct core *core = ledger_core(agents->o.ledger);
    const struct attempt_use *use = use_table_get(agents->uses, key);
    const struct task *task = query_task(core, key.task);
    if (use == NULL || task == NULL) {
        return;
    }
    const struct idle_rule rule = query_account_idle(core, task->account, task->pool);
    if (rule.warn_ms == 0 && rule.after_ms == 0) {
        return;
    }
    const int64_t now_ms = use->heard_ms;
    const int64_t least_ms = rule.warn_ms > 0 ? rule.warn_ms : rule.after_ms;
    struct idle_task idle;
    if (now_ms - use->busy_ms < least_ms ||
        (use->told_ms != 0 && now_ms - use->told_ms < TELL_MS) ||
        !idle_find(agents, task, now_ms, &idle) || idle.seen_ms - idle.since_ms < least_ms) {
        return;
    }
    struct input in = {.type = INPUT_TASK_IDLE,
                       .actor = "idle rule",
                       .cause = "",
                       .task = {.task = task->id,
                                .idle_since_ms = idle.since_ms,
                                .idle_seen_ms = idle.seen_ms,
                                .idle_warned_ms = idle.warned_ms}};
    struct arena arena;
    struct facts facts;
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    (void)ledger_input(agents->o.ledger, &in, &facts);
    for (size_t i = 0; i < facts.count; i++) {
        if (facts.at[i].type == FACT_TASK_IDLE && facts.at[i].task_idle.step == IDLE_WARNED) {
            warned_set(agents, task, now_ms);
        }
    }
    arena_done(&arena);
}
