/* apply_node.c - the fact node-edited: a user drains a node or changes its labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/input.h"
#include "core/model/node.h"
#include "core/model/spec.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/membership.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/topology.h"

void apply_node_edited(struct core *core, const struct fact *fact)
{
    const struct node_edit *edit = &fact->node_edited.edit;
    node_id id = fact->node_edited.node;
    struct arena arena;
    arena_init(&arena);
    struct node_spec spec;
    query_node_spec(core, id, &arena, &spec);
    const struct node *now = query_node(core, id);
    const bool moves = edit->fields & NODE_EDIT_LABELS &&
                       (now->follows_labels || change_pool_edit(core, now->pool)->level_count > 0);
    if (moves || (edit->fields & NODE_EDIT_DRAIN && edit->drain)) {
        change_claim_drop_node(core, id);
    }
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    must(node->state != NODE_REMOVED);
    if (edit->fields & NODE_EDIT_DRAIN) {
        node->draining = edit->drain;
        node->drain_by_ms = 0;
        node->drain_busy = 0;
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        spec.labels = edit->labels;
        spec.label_count = edit->label_count;
        membership_node_leave(core, node);
        change_node_text_set(node, &spec);
        membership_node_join(core, node);
        topology_node_set(core, node);
    }
    arena_done(&arena);
    change_node_close(core, node, &before);
    if (node->launch.v != 0 && edit->fields & NODE_EDIT_DRAIN && !edit->drain) {
        change_launch_leave(core, node->launch, LEAVE_NOT, "");
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        change_pool_relabelled(core, node->pool);
    }
    change_pool_due(core, node->pool);
}
