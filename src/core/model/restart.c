/* restart.c - see restart.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/restart.h"

#include "base/must.h"

enum { DOUBLINGS_MAX = 20 };

enum restart restart_of(const struct task_spec *spec)
{
    if (spec->restart != RESTART_AUTO) {
        return spec->restart;
    }
    return spec->kind == TASK_SERVICE ? RESTART_ON_FAILURE : RESTART_NEVER;
}

uint32_t restart_next(const struct instance *instance, int64_t at_ms)
{
    const bool steady =
        instance->started_ms > 0 && at_ms - instance->started_ms >= RESTART_STEADY_MS;
    must(at_ms >= 0);
    return steady || instance->restarts == UINT32_MAX ? 1 : instance->restarts + 1;
}

bool restart_again(const struct task *task, const struct instance *instance, bool failed,
                   int64_t at_ms)
{
    must(task->restart != RESTART_AUTO);
    const bool wanted =
        task->restart == RESTART_ALWAYS || (task->restart == RESTART_ON_FAILURE && failed);
    return wanted &&
           (task->max_restarts == 0 || restart_next(instance, at_ms) <= task->max_restarts);
}

int64_t restart_wait_ms(const struct task *task, uint32_t count)
{
    must(count > 0);
    const uint32_t doublings = count - 1 < DOUBLINGS_MAX ? count - 1 : DOUBLINGS_MAX;
    if (task->restart_delay_ms >= RESTART_WAIT_MS_MAX) {
        return task->restart_delay_ms; /* what was asked for */
    }
    const int64_t wait_ms = task->restart_delay_ms << doublings;
    return wait_ms < RESTART_WAIT_MS_MAX ? wait_ms : RESTART_WAIT_MS_MAX;
}
