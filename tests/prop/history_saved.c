/* history_saved.c - tasks that report checkpoints. The random numbers come from a stream of
 * their own, so that the rest of a history does not depend on checkpoints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_saved.h"

enum {
    SAVED_ONCE_IN = 4,
    WRONG_ONCE_IN = 10,
    TWICE_ONCE_IN = 5,
    LATE_MS = 30000,
    EARLY_MS = 10000
};

static const struct instance *pick(struct world *world)
{
    const struct instance *found = NULL;
    uint32_t seen = 0;
    for (const struct task *task = query_task_next(world->core, (task_id){0}); task != NULL;
         task = query_task_next(world->core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *instance = query_instance(world->core, task->id, i);
            if (instance->node.v != 0 && dice_once_in(&world->saves, ++seen)) {
                found = instance;
            }
        }
    }
    return found;
}

void saved_roll(struct world *world)
{
    const struct instance *instance =
        dice_once_in(&world->saves, SAVED_ONCE_IN) ? pick(world) : NULL;
    if (instance == NULL) {
        return;
    }
    struct report reports[2];
    reports[0] = (struct report){
        .type = REPORT_CHECKPOINT,
        .key = {instance->task, instance->index, instance->attempt},
        .incarnation = instance->incarnation,
        .at_ms = world->now_ms - LATE_MS + dice_roll(&world->saves, LATE_MS + EARLY_MS),
    };
    if (dice_once_in(&world->saves, WRONG_ONCE_IN)) {
        reports[0].key.attempt -= dice_roll(&world->saves, 2);
        reports[0].incarnation -= dice_roll(&world->saves, 2);
        reports[0].key.index += dice_roll(&world->saves, 2);
    }
    reports[1] = reports[0];
    struct input in = {.type = INPUT_REPORT};
    in.report.node = instance->node;
    in.report.reports = reports;
    in.report.count = 1 + (uint32_t)dice_once_in(&world->saves, TWICE_ONCE_IN);
    arena_clear(&world->arena);
    (void)world_step(world, in);
}
