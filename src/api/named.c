/* named.c - see named.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/named.h"

const struct pool *named_pool(struct call *call, const char *path, const char *name)
{
    const struct pool *pool = query_pool_named(call_core(call), name);
    if (pool == NULL || pool->deleted) {
        call_failf(call, ERR_NOT_FOUND, path, "no pool '%.63s'", name);
        return NULL;
    }
    return pool;
}

const struct account *named_account(struct call *call, const char *path, enum account_kind kind,
                                    const char *name)
{
    const struct account *account = query_account_named(call_core(call), kind, name);
    if (account == NULL) {
        call_failf(call, ERR_NOT_FOUND, path, "no %s '%.63s'", names_account_kind(kind), name);
    }
    return account;
}
