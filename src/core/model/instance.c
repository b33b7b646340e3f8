/* instance.c - what follows from the row of an instance alone.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/instance.h"

bool instance_active(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING ||
           instance->state == INSTANCE_STOPPING;
}

bool instance_again(const struct instance *instance)
{
    return instance->state == INSTANCE_WAITING || instance->state == INSTANCE_HELD;
}

bool instance_stays(const struct instance *instance)
{
    return instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
}

int64_t instance_unsaved_ms(const struct instance *instance)
{
    return instance->checkpoint_ms > 0 ? instance->checkpoint_ms : instance->allocated_ms;
}

bool instance_ready(const struct task *task, const struct instance *instance)
{
    return instance->state == INSTANCE_RUNNING &&
           (!task->checked || instance->health == SERVICE_HEALTHY);
}

bool instance_failed(enum end_cause cause, int32_t exit_code)
{
    return cause == END_TIME_LIMIT || cause == END_SPAWN || cause == END_LOSSES ||
           cause == END_MEMORY || cause == END_DISK || cause == END_IDLE ||
           cause == END_UNHEALTHY || (cause == END_EXIT && exit_code != 0);
}

bool instance_lost(enum end_cause cause)
{
    return cause == END_NODE_LOST || cause == END_NODE_REMOVED || cause == END_DEVICE;
}

bool instance_may_claim(const struct instance *instance)
{
    return instance->state == INSTANCE_WAITING || instance->state == INSTANCE_STOPPING;
}

struct grant instance_grant(const struct instance *instance)
{
    return (struct grant){instance->devices, instance->slots_milli, instance->cpu_milli,
                          instance->memory_bytes};
}
