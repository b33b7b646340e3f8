/* query_account.c - reading accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/table.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include "core/model/object.h"
#include "core/model/spec_codec.h"
#include "core/model/codec.h"
#include <string.h>

const struct account *query_account(const struct core *core, account_id id)
{
    return table_get(&core->accounts, id.v);
}

const struct account *query_account_named(const struct core *core, enum account_kind kind,
                                          const char *name)
{
    uint64_t hash = key_name_hash(name);
    struct okey key = {{hash, kind}};
    const struct oindex *names = &core->orders[ORDER_ACCOUNT_NAME];
    for (bool more = oindex_from(names, key, &key); more && key.at[0] == hash && key.at[1] == kind;
         more = oindex_next(names, key, &key)) {
        account_id id = {(uint32_t)key.at[2]};
        if (strcmp(query_account_name(core, id), name) == 0) {
            return query_account(core, id);
        }
    }
    return NULL;
}

const struct account *query_account_next(const struct core *core, account_id after)
{
    return table_get(&core->accounts, table_next(&core->accounts, after.v));
}

const struct account *query_account_child_next(const struct core *core, account_id parent,
                                               account_id after)
{
    struct okey key = {{parent.v, after.v, UINT64_MAX, UINT64_MAX}};
    if (!oindex_next(&core->orders[ORDER_ACCOUNT_CHILD], key, &key) || key.at[0] != parent.v) {
        return NULL;
    }
    return query_account(core, (account_id){(uint32_t)key.at[1]});
}

const char *query_account_name(const struct core *core, account_id id)
{
    const struct account *account = query_account(core, id);
    return account != NULL ? blob_bytes(account->text).p : "";
}

struct idle_rule query_account_idle(const struct core *core, account_id id, pool_id in)
{
    const struct account *account = query_account(core, id);
    while (account != NULL && account->idle_action == ACCOUNT_IDLE_INHERIT) {
        account = query_account(core, account->parent);
    }
    if (account != NULL) {
        return (struct idle_rule){.account = account->id,
                                  .warn_ms = account->idle_warn_ms,
                                  .after_ms = account->idle_after_ms,
                                  .action = account->idle_action == ACCOUNT_IDLE_END ? IDLE_END
                                                                                     : IDLE_PAUSE};
    }
    const struct pool *pool = query_pool(core, in);
    return pool == NULL ? (struct idle_rule){0}
                        : (struct idle_rule){.warn_ms = pool->idle_warn_ms,
                                             .after_ms = pool->idle_after_ms,
                                             .action = (enum idle_action)pool->idle_action};
}
