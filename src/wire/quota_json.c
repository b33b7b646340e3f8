/* quota_json.c - writes the quota objects. An amount without a bound is null.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/quota_json.h"

#include "wire/object_json.h"

#include "core/sched/order/shares.h"
#include "core/state/history.h"
#include "wire/account_json.h"

/* Writes memory in bytes and every other amount in units. */
static void amount_json(struct json_out *j, const char *key, resource_id resource, int64_t amount)
{
    if (amount == QUOTA_UNLIMITED) {
        json_out_key(j, key);
        json_out_null(j);
    } else if (resource.v == RESOURCE_MEMORY) {
        json_out_kv_i64(j, key, amount);
    } else {
        json_out_kv_milli(j, key, amount);
    }
}

static void whose_json(struct json_out *j, const struct core *core, account_id id, pool_id pool)
{
    const struct account *account = query_account(core, id);
    json_out_kv_text(j, "kind", names_account_kind(account->kind));
    json_out_kv_text(j, "account", query_account_name(core, id));
    account_json_parent(j, core, account);
    json_out_kv_text(j, "pool", query_pool_name(core, pool));
}

/* Writes what was set. A guarantee that nobody set is left out; the list of quotas shows its
 * effective amount. */
static void set_json(struct json_out *j, const struct core *core, const struct quota_amount *amount)
{
    resource_id resource = {0};
    (void)query_resource_named(core, amount->resource, &resource);
    json_out_key(j, amount->resource);
    json_out_object(j);
    if (amount->guaranteed != QUOTA_UNSET) {
        amount_json(j, "guaranteed", resource, amount->guaranteed);
    }
    amount_json(j, "limit", resource, amount->limit);
    json_out_kv_milli(j, "weight", amount->weight);
    json_out_end(j);
}

void quota_json(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                struct arena *arena)
{
    struct quota_spec spec;
    query_quota_spec(core, account, pool, arena, &spec);
    json_out_object(j);
    whose_json(j, core, account, pool);
    json_out_key(j, "resources");
    json_out_object(j);
    for (uint32_t i = 0; i < spec.amount_count; i++) {
        set_json(j, core, &spec.amounts[i]);
    }
    json_out_end(j);
    object_json_fields(j, &quota_object, GROUP_TOP, &spec.rules);
    json_out_end(j);
}

/* Writes the part of the pool that the account used in the past, 0 to 1; null: shares of the
 * pool do not depend on past use. */
static void history_json(struct json_out *j, const struct core *core, account_id account,
                         pool_id pool, uint32_t dim)
{
    enum { PARTS = HISTORY_FULL / 1000 };
    const struct pool *row = query_pool(core, pool);
    json_out_key(j, "history");
    if (row == NULL || (row->history_half_life_ms == 0 && row->history_window_ms == 0)) {
        json_out_null(j);
    } else {
        json_out_milli(j, history_used(core, account, pool, dim) / PARTS);
    }
}

void quota_json_line(struct json_out *j, const struct core *core, account_id account, pool_id pool,
                     uint32_t dim)
{
    resource_id resource = query_dim_resource(core, dim);
    struct quota quota;
    struct usage usage;
    query_quota(core, account, pool, &quota);
    query_usage(core, account, pool, &usage);
    json_out_object(j);
    whose_json(j, core, account, pool);
    json_out_kv_text(j, "resource", query_resource_name(core, resource));
    amount_json(j, "guaranteed", resource, quota.guaranteed.at[dim]);
    json_out_kv_bool(j, "computed", query_quota_computed(core, account, pool, resource));
    amount_json(j, "limit", resource, quota.limit.at[dim]);
    json_out_kv_milli(j, "weight", quota.weight[dim]);
    json_out_kv_u64(j, "rank", quota.rules.rank);
    amount_json(j, "share", resource, shares_of(core, account, pool, dim));
    history_json(j, core, account, pool, dim);
    amount_json(j, "allocated", resource, usage.allocated.at[dim]);
    amount_json(j, "fixed", resource, usage.fixed.at[dim]);
    amount_json(j, "leaving", resource, usage.leaving.at[dim]);
    amount_json(j, "borrowed", resource, quota_borrowed(&quota, &usage, dim));
    amount_json(j, "demand", resource, quota_demand(&usage, dim));
    amount_json(j, "overhang", resource, quota_overhang(&quota, &usage, dim));
    json_out_kv_u64(j, "pending", usage.pending_count);
    json_out_kv_u64(j, "running", usage.running_count);
    json_out_end(j);
}

bool quota_json_line_matters(const struct core *core, account_id account, pool_id pool,
                             uint32_t dim)
{
    struct quota quota;
    query_quota(core, account, pool, &quota);
    return dim == DIM_SLOTS || quota.guaranteed.at[dim] != QUOTA_UNLIMITED ||
           quota.limit.at[dim] != QUOTA_UNLIMITED || quota.weight[dim] != QUOTA_WEIGHT_DEFAULT;
}
