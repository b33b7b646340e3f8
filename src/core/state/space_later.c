/* space_later.c - what will be free on a node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/space_later.h"

#include "core/model/claim.h"
#include "core/model/fit.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* Will it leave, as far as anybody knows? One that was told twice and is still there is not waited for, unless somebody does so
 * already. */
static bool will_leave(const struct node *node, const struct instance *instance)
{
    return instance->state == INSTANCE_STOPPING &&
           (instance->stop_deadline_ms > 0 || node->claim_count > 0);
}

void space_later(const struct core *core, const struct node *node, bool claims,
                 struct space_room *room, struct space *ret)
{
    struct okey key = {{node->id.v, 0, 0, 0}};
    while (node->leaving_count > 0 && oindex_next(&core->orders[ORDER_ON_NODE], key, &key) &&
           key.at[0] == node->id.v) {
        const struct instance *instance = query_instance_row(core, key.at[3]);
        if (will_leave(node, instance)) {
            const struct grant grant = instance_grant(instance);
            space_give(ret, room, query_instance_request(core, instance), &grant);
        }
    }
    key = (struct okey){{node->id.v, 0, 0, 0}};
    while (claims && node->claim_count > 0 && oindex_next(&core->orders[ORDER_CLAIM], key, &key) &&
           key.at[0] == node->id.v) {
        const struct grant grant = claim_grant(table_get(&core->claims, key.at[3]));
        const struct instance *instance = query_instance_row(core, key.at[3]);
        space_take(ret, room, query_instance_request(core, instance), &grant);
    }
}

bool space_later_claims_fit(const struct core *core, const struct node *node)
{
    struct space now;
    struct space_room room;
    struct space later;
    space_now(node, &now);
    space_copy(&now, &room, &later);
    space_later(core, node, false, &room, &later);
    struct okey key = {{node->id.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == node->id.v) {
        const struct grant grant = claim_grant(table_get(&core->claims, key.at[3]));
        const struct request *request =
            query_instance_request(core, query_instance_row(core, key.at[3]));
        if (!fit_holds(&later, request, &grant)) {
            return false;
        }
        space_take(&later, &room, request, &grant);
    }
    return true;
}
