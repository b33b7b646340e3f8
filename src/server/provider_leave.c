/* provider_leave.c - see provider_leave.h. SPDX-License-Identifier: Apache-2.0 */
#include "server/provider_leave.h"

#include "base/arena.h"
#include "core/core.h"
#include "core/model/input.h"
#include "core/model/node.h"
#include "core/state/fact.h"
#include "core/state/query.h"

static void input_give(struct ledger *ledger, struct input *in)
{
    struct arena arena;
    struct facts facts;
    arena_init(&arena);
    fact_list_init(&facts, &arena);
    in->actor = "provider";
    in->cause = "";
    (void)ledger_input(ledger, in, &facts);
    arena_done(&arena);
}

static void node_drain(struct ledger *ledger, node_id node)
{
    const struct node_edit edit = {.fields = NODE_EDIT_DRAIN, .drain = true};
    input_give(ledger,
               &(struct input){.type = INPUT_NODE_EDIT, .node = {.node = node, .edit = &edit}});
}

void provider_leave(struct ledger *ledger, launch_id id, enum provider_stay stay)
{
    const struct launch *launch = query_launch(ledger_core(ledger), id);
    if (launch == NULL || launch->state == LAUNCH_ENDING) {
        return;
    }
    const struct node *node = query_node(ledger_core(ledger), launch->node);
    const bool idle = node == NULL || node->instance_count == 0;
    if (node != NULL && !node->draining) {
        node_drain(ledger, node->id);
    }
    if (idle || stay == PROVIDER_ENDS) {
        input_give(ledger, &(struct input){.type = INPUT_LAUNCH_STOP,
                                           .launch = {.launch = id, .requeue = true}});
    }
}
