/* decide_leave.c - nodes that are to be without work, and what becomes of the tasks on them.
 *
 * A machine of a provider ends only once its node has no work: the fact node-leaving marks the node, and a deadline comes when
 * the last instance has ended.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/decide/decide_leave.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/instance.h"
#include "core/model/launch.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/spec.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/gang.h"
#include "core/state/query.h"

/* ---- the tasks on the node ---- */

/* Tells the instance to stop and to run elsewhere. A gang that cannot go on without the instance stops as a whole. */
static void requeue(struct step *step, const struct core *core, const struct instance *instance)
{
    const struct task *task = query_task(core, instance->task);
    if (!task->gang || gang_without(core, task, instance)) {
        settle_stop_one(step, task, instance, END_PREEMPTED);
    } else {
        settle_stop(step, task->id, END_PREEMPTED, true);
    }
}

void decide_leave_tasks(struct step *step, node_id node, enum busy busy)
{
    struct attempt_key cursor = {0};
    if (busy != BUSY_REQUEUE && busy != BUSY_KILL) {
        return;
    }
    while (true) {
        const struct core *core = step_state(step);
        const struct instance *instance = query_node_instance_next(core, node, &cursor);
        if (instance == NULL) {
            return;
        }
        if (busy == BUSY_KILL) {
            decide_task_end(step, query_task(core, instance->task));
        } else if (instance->state != INSTANCE_STOPPING) {
            requeue(step, core, instance);
        }
    }
}

/* Tells an instance to stop that holds a lost device. A gang that cannot go on without the instance
 * stops as a whole. */
static void device_lost(struct step *step, const struct core *core, const struct instance *instance)
{
    const struct task *task = query_task(core, instance->task);
    const bool stays = !task->gang || gang_without(core, task, instance);
    settle_stop_one(step, task, instance, END_DEVICE);
    if (!stays) {
        settle_stop(step, task->id, END_GANG, true);
    }
}

void decide_leave_devices(struct step *step, node_id node, uint64_t devices)
{
    struct attempt_key cursor = {0};
    while (devices != 0) {
        const struct core *core = step_state(step);
        const struct instance *instance = query_node_instance_next(core, node, &cursor);
        if (instance == NULL) {
            return;
        }
        if ((instance->devices & devices) != 0 && instance->state != INSTANCE_STOPPING) {
            device_lost(step, core, instance);
        }
    }
}

void decide_leave_spare(struct step *step, pool_id id, const char *words)
{
    const struct core *core = step_state(step);
    const struct pool *pool = query_pool(core, id);
    const struct node *node = NULL;
    if (pool == NULL || pool->spare_count == 0) {
        return;
    }
    do {
        node = query_pool_node_next(core, id, node != NULL ? node->id : (node_id){0});
        must(node != NULL); /* the pool counts its spare nodes */
    } while (!node_stands_by(node));
    const node_id found = node->id;
    struct fact *fact = step_fact(step, FACT_NODE_SPARE);
    fact->node_spare.node = found;
    fact->node_spare.spare = false;
    fact->node_spare.words = words;
}

bool decide_leave_refused(struct step *step, const struct node *node, enum busy busy)
{
    if (busy != BUSY_REFUSE || node->instance_count == 0) {
        return false;
    }
    struct reason *reason =
        step_refuse(step, REASON_NODE_BUSY, query_node_name(step->core, node->id));
    reason->node = node->id;
    reason->pool = node->pool;
    reason->need = node->instance_count;
    return true;
}

/* ---- the node ---- */

void decide_leave_node(struct step *step, node_id node, const struct leaving *leaving)
{
    struct fact *fact = step_fact(step, FACT_NODE_LEAVING);
    fact->node_leaving.node = node;
    fact->node_leaving.leave = leaving->leave;
    fact->node_leaving.busy = leaving->busy;
    fact->node_leaving.by_ms = leaving->by_ms;
    fact->node_leaving.words = leaving->words;
    if (leaving->by_ms == 0) {
        decide_leave_tasks(step, node, leaving->busy);
    }
}

void decide_leave_left(struct step *step, const struct core *core, launch_id id)
{
    const struct launch *launch = query_launch(core, id);
    must(launch != NULL);
    must(launch->leave != LEAVE_NOT);
    decide_launch_end(step, launch, "");
}

void decide_leave_late(struct step *step, const struct core *core, node_id id)
{
    const struct node *node = query_node(core, id);
    must(node != NULL);
    decide_leave_node(step, id,
                      &(struct leaving){.busy = (enum busy)node->drain_busy,
                                        .words = "the node should have no work by now"});
}

void decide_leave_unfit(struct step *step, const struct core *core, launch_id id)
{
    const struct launch *launch = query_launch(core, id);
    must(launch != NULL);
    struct node_spec spec;
    query_node_spec(core, launch->node, step->out->arena, &spec);
    decide_leave_node(step, launch->node,
                      &(struct leaving){.leave = LEAVE_UNFIT, .words = spec.trouble});
}

void decide_leave_forget(struct step *step, const struct core *core, node_id id)
{
    const char *name = arena_str(step->out->arena, query_node_name(core, id));
    struct fact *fact = step_fact(step, FACT_NODE_FORGOTTEN);
    fact->node_forgotten.node = id;
    fact->node_forgotten.name = name;
}
