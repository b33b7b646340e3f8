/* named.c - see named.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/named.h"

/* Answers with 404, and says which name was perhaps meant. */
static void unknown(struct call *call, const char *path, enum reason_named kind, const char *what,
                    const char *name)
{
    const char *meant = reason_names_meant(call_core(call), kind, name);
    const bool near = meant != NULL;
    call_failf(call, ERR_NOT_FOUND, path, "no %s '%.63s'%s%s%s", what, name,
               near ? "; did you mean '" : "", near ? meant : "", near ? "'?" : "");
}

const struct node *named_node(struct call *call, const char *path, const char *name)
{
    const struct node *node = query_node_named(call_core(call), name);
    if (node == NULL) {
        unknown(call, path, REASON_NAMED_NODE, "node", name);
    }
    return node;
}

const struct pool *named_pool(struct call *call, const char *path, const char *name)
{
    const struct pool *pool = query_pool_named(call_core(call), name);
    if (pool == NULL || pool->deleted) {
        unknown(call, path, REASON_NAMED_POOL, "pool", name);
        return NULL;
    }
    return pool;
}

const struct account *named_account(struct call *call, const char *path, enum account_kind kind,
                                    const char *name)
{
    const struct account *account = query_account_named(call_core(call), kind, name);
    if (account == NULL) {
        const bool project = kind == ACCOUNT_PROJECT;
        unknown(call, path, project ? REASON_NAMED_PROJECT : REASON_NAMED_DEPARTMENT,
                names_account_kind(kind), name);
    }
    return account;
}

const struct flavor *named_flavor(struct call *call, const char *path, const char *name)
{
    const struct flavor *flavor = query_flavor_named(call_core(call), name);
    if (flavor == NULL) {
        unknown(call, path, REASON_NAMED_FLAVOR, "flavor", name);
    }
    return flavor;
}

const struct network *named_network(struct call *call, const char *path, const char *name)
{
    const struct network *network = query_network_named(call_core(call), name);
    if (network == NULL) {
        unknown(call, path, REASON_NAMED_NETWORK, "network", name);
    }
    return network;
}
