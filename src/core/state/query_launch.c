/* query_launch.c - reading the table of launches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/blob.h"
#include "core/model/launch.h"
#include "core/model/table.h"
#include "core/state/elastic.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

const struct launch *query_launch(const struct core *core, launch_id id)
{
    return table_get(&core->launches, id.v);
}

const struct launch *query_launch_next(const struct core *core, launch_id after)
{
    return table_get(&core->launches, table_next(&core->launches, after.v));
}

const char *query_launch_name(const struct launch *launch)
{
    return blob_bytes(launch->text).p;
}

bool query_launch_goes(const struct core *core, const struct node *node)
{
    const struct launch *launch = query_launch(core, node->launch);
    if (launch == NULL) {
        const struct pool *pool = query_pool(core, node->pool);
        /* the launch is gone, so the machine of a node that a provider brought up has ended */
        return node->provided && pool != NULL && elastic_pool(pool);
    }
    return launch->leave != LEAVE_NOT || launch->state == LAUNCH_ENDING;
}

const char *query_launch_words(const struct launch *launch)
{
    const char *name = query_launch_name(launch);
    return name + strlen(name) + 1;
}

const char *query_launch_zone(const struct launch *launch)
{
    return launch->zone != NULL ? blob_bytes(launch->zone).p : "";
}
