/* decide_idle.c - the rule of an account or a pool for tasks that hold their places and do nothing: warn,
 * then pause or end. What a task uses is no part of the state. So the server's input says since when the
 * task does nothing, and when it was warned. SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/account.h"
#include "core/model/input.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/query.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns when a task is paused or ended that does nothing since `since_ms` and was warned at
 * `warned_ms`; 0: never. A warned task keeps the whole time between warning and end, even if the
 * rule was made stricter meanwhile. */
static int64_t due_ms(const struct idle_rule *rule, int64_t since_ms, int64_t warned_ms)
{
    if (rule->after_ms == 0) {
        return 0;
    }
    const int64_t due = since_ms + rule->after_ms;
    return rule->warn_ms == 0 ? due : later(due, warned_ms + rule->after_ms - rule->warn_ms);
}

/* Adds the fact that says what happens to the task, and by whose rule. */
static void idle_say(struct step *step, const struct task *task, const struct idle_rule *rule,
                     enum idle_step what, int64_t until_ms)
{
    struct fact *fact = step_fact(step, FACT_TASK_IDLE);
    fact->task_idle.task = task->id;
    fact->task_idle.since_ms = step->in->task.idle_since_ms;
    fact->task_idle.until_ms = until_ms;
    fact->task_idle.pool = task->pool;
    fact->task_idle.account = rule->account;
    fact->task_idle.step = what;
}

enum verdict decide_idle(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    if (task == NULL) {
        return verdict;
    }
    const struct idle_rule rule = query_account_idle(step->core, task->account, task->pool);
    const int64_t seen_ms = step->in->task.idle_seen_ms;
    const int64_t since_ms = step->in->task.idle_since_ms;
    const int64_t warned_ms = step->in->task.idle_warned_ms;
    must(since_ms <= seen_ms);
    must(seen_ms <= step->in->now_ms);
    if (task->kill_asked || task->pause_asked ||
        task->active_count == task->starting_count + task->stopping_count) {
        return VERDICT_OK;
    }
    if (rule.warn_ms > 0 && warned_ms == 0) {
        if (seen_ms - since_ms >= rule.warn_ms) {
            idle_say(step, task, &rule, IDLE_WARNED, due_ms(&rule, since_ms, step->in->now_ms));
        }
        return VERDICT_OK;
    }
    const int64_t due = due_ms(&rule, since_ms, warned_ms);
    if (due == 0 || seen_ms < due) {
        return VERDICT_OK;
    }
    if (rule.action == IDLE_PAUSE) {
        idle_say(step, task, &rule, IDLE_PAUSED, step->in->now_ms);
        step_fact(step, FACT_TASK_PAUSED)->task.task = task->id;
        settle_stop(step, task->id, END_IDLE_PAUSED, true);
    } else {
        idle_say(step, task, &rule, IDLE_ENDED, step->in->now_ms);
        settle_stop(step, task->id, END_IDLE, true);
    }
    return VERDICT_OK;
}
