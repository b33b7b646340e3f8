/* decide_member.c - decisions about the pool of a node: labels that change it, and the move of an empty node.
 *
 * A node whose labels say another pool takes no more starts. `busy` says what becomes of its tasks. Once the node is empty, a
 * tick moves it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/settle.h"
#include "core/decide/step.h"
#include "core/model/blob.h"
#include "core/model/input.h"
#include "core/model/instance.h"
#include "core/model/label.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/membership.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Would the node leave its pool with these labels? */
static bool labels_move(const struct core *core, const struct node *node,
                        const struct node_edit *edit)
{
    if ((edit->fields & NODE_EDIT_LABELS) == 0 || !node->follows_labels) {
        return false;
    }
    struct blob *marks = label_marks_blob(edit->labels, edit->label_count);
    uint32_t matches;
    const struct pool *pool = membership_pool(core, marks, &matches);
    blob_unref(marks);
    return pool != NULL && pool->id.v != node->pool.v;
}

/* Stops the attempts on a node: `kill` ends their tasks, else their instances wait again. A gang stops as a whole. */
static void node_empty(struct step *step, node_id node, bool kill)
{
    struct attempt_key key = {0};
    task_id done = {0};
    const struct instance *instance;
    while ((instance = query_node_instance_next(step->core, node, &key)) != NULL) {
        const struct task *task = query_task(step->core, instance->task);
        must(task != NULL);
        if ((kill || task->gang) && task->id.v == done.v) {
            continue; /* the whole task was told already */
        }
        done = task->id;
        if (kill) {
            decide_task_end(step, task);
        } else if (task->gang) {
            settle_stop(step, task->id, END_PREEMPTED, true);
        } else if (instance_stays(instance)) {
            settle_stop_one(step, task, instance, END_PREEMPTED);
        }
    }
}

enum verdict decide_member_edit(struct step *step, const struct node *node,
                                const struct node_edit *edit)
{
    const bool moves = labels_move(step->core, node, edit);
    const enum busy busy = edit->fields & NODE_EDIT_BUSY ? edit->busy : BUSY_WAIT;
    if (moves && busy == BUSY_REFUSE && node->instance_count > 0) {
        struct reason *reason =
            step_refuse(step, REASON_IN_USE, query_node_name(step->core, node->id));
        reason->node = node->id;
        reason->need = node->instance_count;
        return VERDICT_CONFLICT;
    }
    struct fact *fact = step_fact(step, FACT_NODE_EDITED);
    fact->node_edited.node = node->id;
    fact->node_edited.edit = *edit;
    fact->node_edited.edit.fields &= NODE_EDIT_STORED;
    if (moves && (busy == BUSY_REQUEUE || busy == BUSY_KILL)) {
        node_empty(step, node->id, busy == BUSY_KILL);
    }
    return VERDICT_OK;
}

void decide_member_move(struct step *step, const struct core *core, node_id id)
{
    const struct node *node = query_node(core, id);
    must(membership_may_move(node));
    struct fact *fact = step_fact(step, FACT_NODE_MOVED);
    fact->node_moved.node = id;
    fact->node_moved.pool = node->pool_next;
}
