/* apply_account.c - facts of departments, projects and quotas.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/model/account.h"
#include "core/state/access.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

void apply_account_set(struct core *core, const struct fact *fact)
{
    const account_id id = fact->account_set.account;
    const struct account *now = query_account(core, id);
    const bool moves = now != NULL && now->parent.v != fact->account_set.parent.v;
    change_account_set(core, id, fact->account_set.parent, fact->account_set.spec);
    if (moves) {
        access_account_moved(core, id);
    }
}

void apply_account_quota(struct core *core, const struct fact *fact)
{
    must(query_account(core, fact->quota_set.account) != NULL);
    change_account_quota_put(core, fact->quota_set.account, fact->quota_set.pool,
                             fact->quota_set.row);
    change_pool_due(core, fact->quota_set.pool);
}

void apply_account_deleted(struct core *core, const struct fact *fact)
{
    change_account_remove(core, fact->account_deleted.account);
}
