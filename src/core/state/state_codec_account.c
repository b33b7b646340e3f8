/* state_codec_account.c - the accounts of a stored state, with their quotas.
 *
 * An account may be below a younger account. Therefore all rows are read before the tree is made.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/change.h"
#include "core/model/spec_codec.h"
#include "core/state/state_codec.h"
#include "core/model/account.h"
#include "core/model/quota.h"

#include <string.h>

/* Removes the two accounts `default` of the new state, because the section has these accounts, too. */
static void accounts_begin(struct core *core)
{
    oindex_done(&core->orders[ORDER_ACCOUNT_NAME]);
    oindex_init(&core->orders[ORDER_ACCOUNT_NAME]);
    oindex_done(&core->orders[ORDER_ACCOUNT_CHILD]);
    oindex_init(&core->orders[ORDER_ACCOUNT_CHILD]);
    table_remove(&core->accounts, ACCOUNT_DEFAULT_DEPARTMENT.v);
    table_remove(&core->accounts, ACCOUNT_DEFAULT_PROJECT.v);
}

static const struct record_field account_fields[] = {STATE_BELOW(struct account, parent, accounts)};

static bool account_get(struct state_reader *r, uint64_t id, const void *read)
{
    struct account_spec spec;
    spec_codec_account_decode(&r->in, &r->arena, &spec);
    if (r->in.bad || r->core->accounts.count >= ACCOUNTS_MAX ||
        query_account_named(r->core, spec.kind, spec.name) != NULL) {
        return false;
    }
    struct account *account = table_put(&r->core->accounts, id);
    account->id.v = (uint32_t)id;
    account->parent = ((const struct account *)read)->parent;
    account->kind = (uint8_t)spec.kind;
    change_account_text_set(account, &spec);
    change_account_name_put(r->core, account);
    return true;
}

/* The depth of an account; 0: its parents do not lead to the top. */
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
    uint32_t depths = 0; /* one bit for each depth that occurs */
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

static bool accounts_end(struct state_reader *r)
{
    const account_id top = {0};
    return tree_make(r->core) &&
           is_default(r->core, ACCOUNT_DEFAULT_DEPARTMENT, ACCOUNT_DEPARTMENT, top) &&
           is_default(r->core, ACCOUNT_DEFAULT_PROJECT, ACCOUNT_PROJECT,
                      ACCOUNT_DEFAULT_DEPARTMENT);
}

const struct state_section state_codec_account = {"accounts",
                                                  STATE_VERSION_ACCOUNTS,
                                                  STATE_VERSION_GROWTH,
                                                  STATE_ROWS(accounts, accounts),
                                                  STATE_FIELDS(struct account, account_fields),
                                                  .text_at = offsetof(struct account, text),
                                                  .get = account_get,
                                                  .begin = accounts_begin,
                                                  .end = accounts_end};

static void quota_put(const struct core *core, const void *row, struct buf *out)
{
    (void)core;
    spec_codec_quota_encode(row, out);
}

static bool quota_get(struct state_reader *r, uint64_t key, const void *read)
{
    (void)read;
    const pool_id pool = {(uint32_t)(key >> 32)};
    const account_id account = {(uint32_t)key};
    struct quota_row row;
    spec_codec_quota_decode(&r->in, r->core->resource_count, &row);
    if (r->in.bad || quota_row_default(&row) || query_account(r->core, account) == NULL ||
        table_get(&r->core->pools, pool.v) == NULL || !query_quota_dims_fit(r->core, NULL, &row)) {
        return false;
    }
    change_account_quota_put(r->core, account, pool, &row);
    return true;
}

const struct state_section state_codec_account_quota = {
    "accounts",           STATE_VERSION_ACCOUNTS,
    STATE_VERSION_GROWTH, .table_at = offsetof(struct core, quotas),
    .put = quota_put,     .get = quota_get};
