/* state_decode_account.c - the accounts of a stored state, with their quotas.
 *
 * An account may lie below a younger one, so the rows come first and the tree is made of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/bytes.h"
#include "core/model/account.h"
#include "core/model/oindex.h"
#include "core/model/quota.h"
#include "core/model/spec_codec.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"
#include "core/state/state_codec.h"
#include "core/state/state_decode.h"

#include <string.h>

/* The two that every state begins with are forgotten; the section has them. */
static void accounts_forget(struct core *core)
{
    oindex_done(&core->orders[ORDER_ACCOUNT_NAME]);
    oindex_init(&core->orders[ORDER_ACCOUNT_NAME]);
    oindex_done(&core->orders[ORDER_ACCOUNT_CHILD]);
    oindex_init(&core->orders[ORDER_ACCOUNT_CHILD]);
    table_remove(&core->accounts, ACCOUNT_DEFAULT_DEPARTMENT.v);
    table_remove(&core->accounts, ACCOUNT_DEFAULT_PROJECT.v);
}

static bool account_get(struct decode *d, const struct lasts *lasts, uint64_t id)
{
    struct account_spec spec;
    account_id parent = {(uint32_t)bytes_get_max(&d->in, lasts->accounts)};
    spec_codec_account_decode(&d->in, &d->arena, &spec);
    if (d->in.bad || query_account_named(d->core, spec.kind, spec.name) != NULL) {
        return false;
    }
    struct account *account = table_put(&d->core->accounts, id);
    account->id.v = (uint32_t)id;
    account->parent = parent;
    account->kind = (uint8_t)spec.kind;
    change_account_text_set(account, &spec);
    change_account_name_put(d->core, account);
    arena_clear(&d->arena);
    return true;
}

/* How far below the top; 0: no way leads there. */
static uint32_t depth_of(const struct core *core, const struct account *account)
{
    uint32_t depth = 1;
    while (account->parent.v != 0 && depth <= ACCOUNT_DEPTH_MAX) {
        account = query_account(core, account->parent);
        if (account == NULL || account->kind != ACCOUNT_DEPARTMENT) {
            return 0;
        }
        depth++;
    }
    return depth <= ACCOUNT_DEPTH_MAX ? depth : 0;
}

static bool tree_make(struct core *core)
{
    uint32_t depths = 0; /* a bit for each that there is */
    for (const struct account *at = query_account_next(core, (account_id){0}); at != NULL;
         at = query_account_next(core, at->id)) {
        uint32_t depth = depth_of(core, at);
        if (depth == 0 || (at->kind == ACCOUNT_PROJECT && at->parent.v == 0)) {
            return false;
        }
        change_account_edit(core, at->id)->depth = depth;
        depths |= (uint32_t)1 << depth;
    }
    for (uint32_t depth = 1; depths >> depth != 0; depth++) {
        for (const struct account *at = query_account_next(core, (account_id){0}); at != NULL;
             at = query_account_next(core, at->id)) {
            if (at->depth == depth) {
                change_account_link(core, at->id);
            }
        }
    }
    return true;
}

static bool is_default(const struct core *core, account_id id, enum account_kind kind,
                       account_id parent)
{
    const struct account *account = query_account(core, id);
    return account != NULL && account->kind == kind && account->parent.v == parent.v &&
           strcmp(query_account_name(core, id), ACCOUNT_DEFAULT_NAME) == 0;
}

static bool quotas_get(struct decode *d)
{
    uint64_t key = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        key = state_decode_row(d, key, UINT64_MAX);
        pool_id pool = {(uint32_t)(key >> 32)};
        account_id account = {(uint32_t)key};
        struct quota_row row;
        spec_codec_quota_decode(&d->in, d->core->resource_count, &row);
        if (d->in.bad || quota_row_default(&row) || query_account(d->core, account) == NULL ||
            table_get(&d->core->pools, pool.v) == NULL ||
            !query_quota_dims_fit(d->core, NULL, &row)) {
            return false;
        }
        change_account_quota_put(d->core, account, pool, &row);
    }
    return !d->in.bad;
}

bool state_decode_account(struct decode *d, const struct lasts *lasts)
{
    struct core *core = d->core;
    if (d->version == STATE_VERSION_FIRST) {
        return true;
    }
    accounts_forget(core);
    uint64_t id = 0;
    for (uint64_t left = bytes_get_u64(&d->in); left > 0 && !d->in.bad; left--) {
        id = state_decode_row(d, id, lasts->accounts);
        if (d->in.bad || core->accounts.count >= ACCOUNTS_MAX || !account_get(d, lasts, id)) {
            return false;
        }
    }
    account_id top = {0};
    if (d->in.bad || !tree_make(core) ||
        !is_default(core, ACCOUNT_DEFAULT_DEPARTMENT, ACCOUNT_DEPARTMENT, top) ||
        !is_default(core, ACCOUNT_DEFAULT_PROJECT, ACCOUNT_PROJECT, ACCOUNT_DEFAULT_DEPARTMENT)) {
        return false;
    }
    core->accounts.last = lasts->accounts;
    return quotas_get(d);
}
