/* task.c - what follows from the row of a task alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/task.h"

bool task_state_ended(enum task_state state)
{
    return state == TASK_COMPLETED || state == TASK_FAILED || state == TASK_KILLED ||
           state == TASK_UNKNOWN;
}

bool task_keeps_claims(const struct task *task)
{
    return task->queued ||
           (task->stopping_count > 0 && !task->kill_asked && !task_gang_doomed(task));
}

uint32_t task_gang_size(const struct task *task)
{
    return task->gang ? task->min_count : 1;
}

bool task_gang_doomed(const struct task *task)
{
    return task->gang && task->failed_count + task->unknown_count > 0;
}

uint32_t task_grown(const struct task *task)
{
    return task->active_count - task->stopping_count + task->ended_count;
}

bool task_gang_lacks(const struct task *task)
{
    return task->by_groups ? task->lacks == LACKS_OF_ALL : task_grown(task) < task->min_count;
}

bool task_gang_broken(const struct task *task)
{
    return task->gang && task->waiting_count > 0 && task->active_count > task->stopping_count &&
           (task_gang_lacks(task) || (task->by_groups && task->lacks == LACKS_OF_A_GROUP));
}

bool task_gang_may_wait(const struct task *task)
{
    return task->gang && (task->own_stale_grace || task->min_count < task->instance_count);
}

uint32_t task_stage(const struct task *task)
{
    if (!task->gang || task_gang_lacks(task)) {
        return 0;
    }
    return task_grown(task) <= task->min_count ? 1 : 2;
}

uint32_t task_chunk(const struct task *task)
{
    return task->gang && !task->by_groups && task_gang_lacks(task)
               ? task->min_count - task_grown(task)
               : 1;
}

bool task_promised(const struct task *task)
{
    return task->claimed_count > 0 && (task->gang || task->claimed_count == task->waiting_count);
}

int64_t task_overtaken_ms(const struct task *task)
{
    enum { PART_LIMITED = 8, PART_LEARNED = 2 };
    if (task == NULL || !task->by_length) {
        return 0;
    }
    return task->expect_ms / (task->time_limit_ms > 0 ? PART_LIMITED : PART_LEARNED);
}
