/* decide_member.c - decisions about the pool of a node: labels that change it, and the move of an empty node.
 *
 * A node whose labels say another pool takes no more starts. `busy` says what becomes of its tasks. Once the node is empty, a
 * tick moves it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/decide_leave.h"
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

enum verdict decide_member_edit(struct step *step, const struct node *node,
                                const struct node_edit *edit)
{
    const bool moves = labels_move(step->core, node, edit);
    const enum busy busy = edit->fields & NODE_EDIT_BUSY ? edit->busy : BUSY_WAIT;
    if (moves && decide_leave_refused(step, node, busy)) {
        return VERDICT_CONFLICT;
    }
    struct fact *fact = step_fact(step, FACT_NODE_EDITED);
    fact->node_edited.node = node->id;
    fact->node_edited.edit = *edit;
    fact->node_edited.edit.fields &= NODE_EDIT_STORED;
    if (moves) {
        decide_leave_tasks(step, node->id, busy);
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
