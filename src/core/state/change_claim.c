/* change_claim.c - rows of claims: places promised to waiting instances while other instances are leaving
 * these places.
 *
 * A claim takes nothing from the free amounts of its node. The claims of a node together never exceed what
 * will be free when the stopping instances have ended (space_later_claims_fit).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/claim.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/change.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

static struct okey claim_key(const struct task *task, uint32_t index, node_id node)
{
    return (struct okey){{node.v, task->id.v, index, task->instance_first + index}};
}

static void node_claims_count(struct core *core, node_id id, int sign)
{
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    node->claim_count = (uint32_t)((int64_t)node->claim_count + sign);
    change_node_close(core, node, &before);
}

/* The task's counter for the claim of this instance: moving_count while the instance is stopping, else
 * claimed_count. */
static uint32_t *claim_counter(const struct core *core, struct task *task, uint32_t index)
{
    const struct instance *instance = query_instance_row(core, task->instance_first + index);
    return instance->state == INSTANCE_STOPPING ? &task->moving_count : &task->claimed_count;
}

void change_claim_put(struct core *core, struct task *task, uint32_t index,
                      const struct claim *claim)
{
    struct claim *row = table_put(&core->claims, task->instance_first + index);
    *row = *claim;
    *claim_counter(core, task, index) += 1;
    must(oindex_insert(&core->orders[ORDER_CLAIM], claim_key(task, index, claim->node)));
    node_claims_count(core, claim->node, 1);
}

void change_claim_drop(struct core *core, struct task *task, uint32_t index)
{
    const uint64_t row = task->instance_first + index;
    const struct claim *claim = table_get(&core->claims, row);
    if (claim == NULL) {
        return;
    }
    const node_id node = claim->node;
    must(oindex_remove(&core->orders[ORDER_CLAIM], claim_key(task, index, node)));
    table_remove(&core->claims, row);
    must(*claim_counter(core, task, index) > 0);
    *claim_counter(core, task, index) -= 1;
    node_claims_count(core, node, -1);
    change_pool_freed(core, task->pool);
}

void change_claim_moved(const struct core *core, struct task *task, uint32_t index)
{
    if (query_instance_claim(core, task->id, index) != NULL) {
        must(task->moving_count > 0);
        task->moving_count--;
        task->claimed_count++;
    }
}

void change_claim_drop_all(struct core *core, struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && task->claimed_count + task->moving_count > 0;
         i++) {
        change_claim_drop(core, task, i);
    }
}

void change_claim_drop_node(struct core *core, node_id node)
{
    struct okey key = {{node.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == node.v) {
        struct task *task = table_edit(&core->tasks, key.at[1]);
        must(task != NULL);
        if (task->gang) {
            /* a gang starts together, so it needs other places for all */
            change_claim_drop_all(core, task);
        } else {
            change_claim_drop(core, task, (uint32_t)key.at[2]);
        }
        fallback_close(core, task);
    }
}
