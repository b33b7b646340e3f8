/* fairness.c - see fairness.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/fairness.h"

static bool watched(const struct fairness *fairness, account_id account, pool_id pool)
{
    for (size_t i = 0; i < fairness->promises.count; i++) {
        const struct promise *promise = &fairness->promises.at[i];
        if (promise->account.v == account.v && promise->pool.v == pool.v) {
            return true;
        }
    }
    return false;
}

static void pools_watch(struct fairness *fairness, const struct core *core, account_id account)
{
    const resource_id slots = {RESOURCE_SLOTS};
    for (const struct pool *pool = core_pool_next(core, (pool_id){0}); pool != NULL;
         pool = core_pool_next(core, pool->id)) {
        if (!core_quota_computed(core, account, pool->id, slots) &&
            !watched(fairness, account, pool->id)) {
            vec_push(&fairness->promises, ((struct promise){.account = account, .pool = pool->id}));
        }
    }
}

void fairness_watch(struct fairness *fairness, const struct core *core)
{
    for (const struct account *account = core_account_next(core, (account_id){0}); account != NULL;
         account = core_account_next(core, account->id)) {
        if (account->kind == ACCOUNT_PROJECT) {
            pools_watch(fairness, core, account->id);
        }
    }
}

void fairness_done(struct fairness *fairness)
{
    vec_done(&fairness->promises);
}

static int64_t lacking(const struct core *core, const struct promise *promise)
{
    struct quota quota;
    struct usage usage;
    core_quota(core, promise->account, promise->pool, &quota);
    core_usage(core, promise->account, promise->pool, &usage);
    const int64_t demand = usage_demand(&usage, DIM_SLOTS);
    const int64_t promised = quota.guaranteed.at[DIM_SLOTS];
    const int64_t due = promised == QUOTA_UNLIMITED || promised > demand ? demand : promised;
    const int64_t has = usage.allocated.at[DIM_SLOTS];
    return due > has ? due - has : 0;
}

void fairness_count(struct fairness *fairness, const struct core *core, int64_t now_ms,
                    int64_t until_ms)
{
    for (size_t i = 0; i < fairness->promises.count; i++) {
        struct promise *promise = &fairness->promises.at[i];
        const int64_t before = promise->lacking_milli;
        promise->lacking_milli = lacking(core, promise);
        if (promise->lacking_milli == 0) {
            continue;
        }
        if (before == 0) {
            promise->since_ms = now_ms;
        }
        const int64_t stretch_ms = until_ms - promise->since_ms;
        promise->below_ms += until_ms - now_ms;
        if (stretch_ms > 0 && promise->lacking_milli > promise->shortfall_milli) {
            promise->shortfall_milli = promise->lacking_milli;
        }
        if (stretch_ms > promise->below_longest_ms) {
            promise->below_longest_ms = stretch_ms;
        }
    }
}

struct promise fairness_of(const struct fairness *fairness, account_id account)
{
    struct promise most = {.account = account};
    for (size_t i = 0; i < fairness->promises.count; i++) {
        const struct promise *promise = &fairness->promises.at[i];
        if (promise->account.v != account.v) {
            continue;
        }
        if (promise->shortfall_milli > most.shortfall_milli) {
            most.shortfall_milli = promise->shortfall_milli;
        }
        if (promise->below_ms > most.below_ms) {
            most.below_ms = promise->below_ms;
        }
        if (promise->below_longest_ms > most.below_longest_ms) {
            most.below_longest_ms = promise->below_longest_ms;
        }
    }
    return most;
}
