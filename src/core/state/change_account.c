/* change_account.c - rows of accounts and quotas: the tree of accounts with its depths, and the dimensions
 * that follow from quotas.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/bytes.h"
#include "base/must.h"
#include "core/model/spec_codec.h"
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/table.h"
#include "core/model/vector.h"
#include "core/state/change.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/shares_cache.h"
#include "core/state/state.h"

#include <string.h>

struct account *change_account_edit(struct core *core, account_id id)
{
    struct account *account = table_edit(&core->accounts, id.v);
    must(account != NULL);
    return account;
}

void change_account_count(struct core *core, account_id id, int sign)
{
    while (id.v != 0) {
        struct account *account = change_account_edit(core, id);
        must(sign > 0 || account->task_count > 0);
        account->task_count = (uint32_t)((int64_t)account->task_count + sign);
        id = account->parent;
    }
}

void change_account_text_set(struct account *account, const struct account_spec *spec)
{
    struct buf text;
    buf_init(&text, TASK_SPEC_BYTES_MAX);
    buf_add(&text, spec->name, strlen(spec->name) + 1);
    spec_codec_account_encode(spec, &text);
    must(!text.full);
    blob_unref(account->text);
    account->text = blob_new(text.data, text.len);
    buf_done(&text);
    account->idle_action = (uint8_t)spec->idle_action;
    account->idle_warn_ms = spec->idle_warn_ms;
    account->idle_after_ms = spec->idle_after_ms;
}

void change_account_name_put(struct core *core, const struct account *account)
{
    uint64_t hash = key_name_hash(query_account_name(core, account->id));
    must(oindex_insert(&core->orders[ORDER_ACCOUNT_NAME],
                       (struct okey){{hash, account->kind, account->id.v}}));
}

void change_account_link(struct core *core, account_id id)
{
    struct account *account = change_account_edit(core, id);
    account->depth = 1;
    if (account->parent.v != 0) {
        struct account *parent = change_account_edit(core, account->parent);
        parent->child_count++;
        account->depth = parent->depth + 1;
    }
    must(oindex_insert(&core->orders[ORDER_ACCOUNT_CHILD],
                       (struct okey){{account->parent.v, id.v}}));
}

static void account_unlink(struct core *core, account_id id)
{
    const struct account *account = query_account(core, id);
    if (account->parent.v != 0) {
        change_account_edit(core, account->parent)->child_count--;
    }
    must(oindex_remove(&core->orders[ORDER_ACCOUNT_CHILD],
                       (struct okey){{account->parent.v, id.v}}));
}

static void pools_due(struct core *core)
{
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        change_pool_due(core, pool->id);
    }
}

/* Computes the depth of every account. One round per level is enough, because a depth follows from the
 * parent's depth. */
static void depths_update(struct core *core)
{
    for (unsigned level = 1; level <= ACCOUNT_DEPTH_MAX; level++) {
        for (const struct account *at = query_account_next(core, (account_id){0}); at != NULL;
             at = query_account_next(core, at->id)) {
            uint32_t depth = at->parent.v != 0 ? query_account(core, at->parent)->depth + 1 : 1;
            if (at->depth != depth) {
                change_account_edit(core, at->id)->depth = depth;
            }
        }
    }
}

static void tasks_carry(struct core *core, account_id above, uint32_t count, int sign)
{
    for (account_id at = above; at.v != 0; at = query_account(core, at)->parent) {
        struct account *account = change_account_edit(core, at);
        account->task_count = (uint32_t)((int64_t)account->task_count + sign * (int64_t)count);
    }
}

static void account_move(struct core *core, account_id id, account_id to)
{
    account_id from = query_account(core, id)->parent;
    if (from.v == to.v) {
        return;
    }
    uint32_t tasks = query_account(core, id)->task_count;
    shares_cache_renew(core->shares);
    change_usage_carry(core, id, from, -1);
    tasks_carry(core, from, tasks, -1);
    account_unlink(core, id);
    change_account_edit(core, id)->parent = to;
    change_account_link(core, id);
    change_usage_carry(core, id, to, 1);
    tasks_carry(core, to, tasks, 1);
    depths_update(core);
    pools_due(core);
}

static void dims_derive(struct core *core)
{
    struct resource_id before[QUOTA_DIMS_MAX];
    uint32_t count = core->dim_count;
    memcpy(before, core->dims, sizeof before);
    core->dim_count = DIM_NAMED_FIRST;
    memset(&core->dims[DIM_NAMED_FIRST], 0, sizeof core->dims - DIM_NAMED_FIRST * sizeof before[0]);
    for (uint32_t i = RESOURCE_NAMED_FIRST; i < core->resource_count; i++) {
        if (core->quota_mentions[i] > 0) {
            must(core->dim_count < QUOTA_DIMS_MAX);
            core->dims[core->dim_count++].v = (uint16_t)i;
        }
    }
    if (count != core->dim_count || memcmp(before, core->dims, sizeof before) != 0) {
        change_usage_recount(core);
    }
}

static void mentions_add(struct core *core, const struct quota_row *row, int sign)
{
    for (uint32_t i = 0; i < row->term_count; i++) {
        uint32_t *count = &core->quota_mentions[row->terms[i].resource.v];
        must(sign > 0 || *count > 0);
        *count = (uint32_t)((int64_t)*count + sign);
    }
}

void change_account_quota_put(struct core *core, account_id account, pool_id pool,
                              const struct quota_row *to)
{
    uint64_t key = ACCOUNT_KEY(pool, account);
    shares_cache_renew(core->shares);
    struct quota_row *row = table_edit(&core->quotas, key);
    if (row != NULL) {
        mentions_add(core, row, -1);
    }
    if (quota_row_default(to)) {
        if (row != NULL) {
            table_remove(&core->quotas, key);
        }
    } else {
        row = row != NULL ? row : table_put(&core->quotas, key);
        *row = *to;
        mentions_add(core, row, 1);
    }
    dims_derive(core);
}

void change_account_set(struct core *core, account_id id, account_id parent,
                        const struct account_spec *spec)
{
    must(parent.v == 0 || query_account(core, parent)->kind == ACCOUNT_DEPARTMENT);
    if (query_account(core, id) != NULL) {
        account_move(core, id, parent);
        change_account_text_set(change_account_edit(core, id), spec);
        return;
    }
    must(id.v == core->accounts.last + 1);
    struct account *account = table_add(&core->accounts);
    account->id = id;
    account->kind = (uint8_t)spec->kind;
    account->parent = parent;
    change_account_text_set(account, spec);
    change_account_name_put(core, account);
    change_account_link(core, id);
}

void change_account_remove(struct core *core, account_id id)
{
    const struct account *account = query_account(core, id);
    must(account != NULL);
    must(account->child_count == 0);
    must(account->task_count == 0);
    const struct quota_row none = {.rules = quota_rules_none};
    for (uint64_t pool = table_next(&core->pools, 0); pool != 0;
         pool = table_next(&core->pools, pool)) {
        change_account_quota_put(core, id, (pool_id){(uint32_t)pool}, &none);
    }
    history_account_drop(core, id);
    uint64_t hash = key_name_hash(query_account_name(core, id));
    must(oindex_remove(&core->orders[ORDER_ACCOUNT_NAME],
                       (struct okey){{hash, account->kind, id.v}}));
    account_unlink(core, id);
    table_remove(&core->accounts, id.v);
    pools_due(core);
}
