/* state_codec_rollout.c - the rollouts of a stored state. Both tasks of a rollout are in the state, and a rollout has the number
 * of one of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/rollout.h"
#include "core/state/change.h"
#include "core/state/state_codec.h"

static const struct record_field rollout_fields[] = {
    STATE_BELOW(struct rollout, from, tasks),
    STATE_BELOW(struct rollout, to, tasks),
    STATE_FIELD(struct rollout, MS, drain_ms, 0, TIME_MS_MAX),
    STATE_FIELD(struct rollout, MS, within_ms, 1, TIME_MS_MAX),
    STATE_TIME(struct rollout, until_ms),
    STATE_TIME(struct rollout, since_ms),
    STATE_FIELD(struct rollout, UINT, draining, 0, TASK_INSTANCES_MAX),
    STATE_FIELD(struct rollout, UINT, phase, ROLLOUT_GOING, ROLLOUT_STOPPED),
    STATE_FIELD(struct rollout, UINT, why, 0, ROLLOUT_WHY_COUNT - 1),
    STATE_YES(struct rollout, old_first),
};

/* May the task be a part of a rollout? */
static bool part_sound(const struct task *task)
{
    return task != NULL && task->kind == TASK_SERVICE && task->rollout.v == 0 && !task->gang &&
           !task->kill_asked && !task_state_ended((enum task_state)task->state);
}

static bool rollout_get(struct state_reader *r, uint64_t id, const void *read)
{
    const struct rollout *row = read;
    const struct task *from = query_task(r->core, row->from);
    const struct task *to = query_task(r->core, row->to);
    if (row->from.v == row->to.v || (row->from.v != id && row->to.v != id) || !part_sound(from) ||
        !part_sound(to) || row->draining > from->instance_count ||
        (row->phase == ROLLOUT_GOING) != (row->until_ms != 0)) {
        return false;
    }
    change_rollout_put(r->core, (task_id){id}, row);
    return true;
}

/* No instance is held without a rollout. */
static bool rollouts_end(struct state_reader *r)
{
    for (const struct task *task = query_task_next(r->core, (task_id){0}); task != NULL;
         task = query_task_next(r->core, task->id)) {
        if (task->held_count > 0 && task->rollout.v == 0) {
            return false;
        }
    }
    return true;
}

const struct state_section state_codec_rollout = {"rollouts",
                                                  STATE_VERSION_ROLLOUTS,
                                                  STATE_ROWS(rollouts, tasks),
                                                  STATE_FIELDS(struct rollout, rollout_fields),
                                                  .get = rollout_get,
                                                  .end = rollouts_end};
