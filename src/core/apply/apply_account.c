/* apply_account.c - facts of departments, projects and quotas.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/apply/apply.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/query.h"
#include "core/state/state.h"

void apply_account_set(struct core *core, const struct fact *fact)
{
    change_account_set(core, fact->account_set.account, fact->account_set.parent,
                       fact->account_set.spec);
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
