/* apply_leave.c - facts of nodes that are to be without work, are locked or are forgotten, and of pools whose nodes are replaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/node.h"
#include "core/state/change.h"
#include "core/model/pool.h"
#include "core/state/elastic.h"
#include "core/state/fact.h"

void apply_leave_node(struct core *core, const struct fact *fact)
{
    const node_id id = fact->node_leaving.node;
    change_claim_drop_node(core, id);
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    must(node->state != NODE_REMOVED);
    node->draining = 1;
    node->drain_by_ms = fact->node_leaving.by_ms;
    node->drain_busy = (uint8_t)fact->node_leaving.busy;
    change_node_close(core, node, &before);
    if (node->launch.v != 0 && fact->node_leaving.leave != LEAVE_NOT) {
        change_launch_leave(core, node->launch, fact->node_leaving.leave, fact->node_leaving.words);
    }
    change_pool_due(core, node->pool);
}

void apply_leave_locked(struct core *core, const struct fact *fact)
{
    struct node before;
    struct node *node = change_node_open(core, fact->node_locked.node, &before);
    must(node->state != NODE_REMOVED);
    node->locked = fact->node_locked.locked;
    change_node_close(core, node, &before);
    if (node->launch.v != 0) {
        change_launch_lock(core, node->launch, fact->node_locked.locked);
    }
}

void apply_leave_spare(struct core *core, const struct fact *fact)
{
    struct node before;
    struct node *node = change_node_open(core, fact->node_spare.node, &before);
    must(node->state != NODE_REMOVED);
    must(!fact->node_spare.spare || (node->instance_count == 0 && node->claim_count == 0));
    node->spare = fact->node_spare.spare;
    change_node_close(core, node, &before);
    change_pool_due(core, node->pool);
}

void apply_leave_replacing(struct core *core, const struct fact *fact)
{
    change_pool_replacement_set(core, fact->replacing.pool, &fact->replacing.row,
                                fact->replacing.words);
}

void apply_leave_forgotten(struct core *core, const struct fact *fact)
{
    elastic_node_forget(core, fact->node_forgotten.node);
}
