/* fairness.c - see fairness.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/fairness.h"

#include "base/must.h"
#include "core/sched/explain/owed.h"

void fairness_init(struct fairness *fairness)
{
    arena_init(&fairness->arena);
}

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
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        if (!query_quota_computed(core, account, pool->id, slots) &&
            !watched(fairness, account, pool->id)) {
            vec_push(&fairness->promises, ((struct promise){.account = account, .pool = pool->id}));
        }
    }
}

void fairness_watch(struct fairness *fairness, const struct core *core)
{
    for (const struct account *account = query_account_next(core, (account_id){0}); account != NULL;
         account = query_account_next(core, account->id)) {
        if (account->kind == ACCOUNT_PROJECT) {
            pools_watch(fairness, core, account->id);
        }
    }
}

void fairness_done(struct fairness *fairness)
{
    vec_done(&fairness->promises);
    vec_done(&fairness->places);
    arena_done(&fairness->arena);
}

/* ---- the shortfall ---- */

/* Reads what an account lacks now. Something may be owed when the account holds less than its
 * guarantee, not counting what is leaving, and wants more. */
static void promise_read(struct promise *promise, const struct core *core)
{
    struct quota quota;
    struct usage usage;
    query_usage(core, promise->account, promise->pool, &usage);
    const int64_t demand = quota_demand(&usage, DIM_SLOTS);
    if (usage.pending_count == 0 && demand <= usage.allocated.at[DIM_SLOTS]) {
        promise->lacking_milli = 0;
        promise->may_be_owed = false;
        return; /* no task waits */
    }
    query_quota(core, promise->account, promise->pool, &quota);
    const int64_t promised = quota.guaranteed.at[DIM_SLOTS];
    const int64_t due = promised == QUOTA_UNLIMITED || promised > demand ? demand : promised;
    const int64_t has = usage.allocated.at[DIM_SLOTS];
    const int64_t stays = has - usage.leaving.at[DIM_SLOTS];
    promise->lacking_milli = due > has ? due - has : 0;
    promise->may_be_owed =
        usage.pending_count > 0 && (promised == QUOTA_UNLIMITED || stays < promised);
}

static void shortfall_count(struct promise *promise, const struct core *core, int64_t now_ms,
                            int64_t until_ms)
{
    const int64_t before = promise->lacking_milli;
    promise_read(promise, core);
    if (promise->lacking_milli == 0) {
        return;
    }
    if (before == 0) {
        promise->since_ms = now_ms;
    }
    const int64_t stretch_ms = until_ms - promise->since_ms;
    promise->shortfall_ms += until_ms - now_ms;
    if (stretch_ms > 0 && promise->lacking_milli > promise->shortfall_milli) {
        promise->shortfall_milli = promise->lacking_milli;
    }
    if (stretch_ms > promise->shortfall_longest_ms) {
        promise->shortfall_longest_ms = stretch_ms;
    }
}

/* ---- what is owed ---- */

static bool among(const struct owed *owed, size_t count, account_id account)
{
    size_t i = 0;
    while (i < count && owed[i].account.v != account.v) {
        i++;
    }
    return i < count;
}

static void owed_count(struct promise *promise, bool owed, int64_t now_ms, int64_t until_ms)
{
    if (owed && !promise->owed) {
        promise->owed_since_ms = now_ms;
    }
    promise->owed = owed;
    if (!owed) {
        return;
    }
    const int64_t stretch_ms = until_ms - promise->owed_since_ms;
    promise->below_ms += until_ms - now_ms;
    if (stretch_ms > promise->below_longest_ms) {
        promise->below_longest_ms = stretch_ms;
    }
}

/* Counts what the accounts of a pool are owed. The search is skipped at most moments, because no
 * account may be owed anything. */
static void pool_count(struct fairness *fairness, const struct core *core, pool_id pool,
                       const int64_t times[static 3])
{
    const struct owed *owed = NULL;
    size_t count = 0;
    bool any = false;
    for (size_t i = 0; i < fairness->promises.count && !any; i++) {
        const struct promise *promise = &fairness->promises.at[i];
        any = promise->pool.v == pool.v && promise->may_be_owed;
    }
    if (any) {
        count = owed_find(core, pool, times[0], &fairness->arena, &owed);
    }
    for (size_t i = 0; i < fairness->promises.count; i++) {
        struct promise *promise = &fairness->promises.at[i];
        if (promise->pool.v == pool.v) {
            owed_count(promise, among(owed, count, promise->account), times[1], times[2]);
        }
    }
    arena_clear(&fairness->arena);
}

/* ---- from the promise to the start ---- */

/* Notes a promised place. An instance that gets another promise has waited since the first one,
 * unless it has started in between and moves on. */
void fairness_claimed(struct fairness *fairness, const struct core *core,
                      const struct attempt_key *key, int64_t now_ms)
{
    const struct task *task = query_task(core, key->task);
    must(task != NULL);
    for (size_t i = 0; i < fairness->places.count; i++) {
        struct promised *place = &fairness->places.at[i];
        if (place->task.v == key->task.v && place->index == key->index) {
            const bool waits =
                query_instance(core, key->task, key->index)->state == INSTANCE_WAITING;
            place->since_ms = waits ? place->since_ms : now_ms;
            return;
        }
    }
    vec_push(&fairness->places,
             ((struct promised){task->id, task->account, task->pool, key->index, now_ms}));
}

static void place_count(struct fairness *fairness, const struct promised *place, int64_t until_ms)
{
    for (size_t i = 0; i < fairness->promises.count; i++) {
        struct promise *promise = &fairness->promises.at[i];
        const bool own = promise->account.v == place->account.v && promise->pool.v == place->pool.v;
        if (own && until_ms - place->since_ms > promise->promised_longest_ms) {
            promise->promised_longest_ms = until_ms - place->since_ms;
        }
    }
}

/* Counts the wait of promised instances. An instance that has started, or whose promise was
 * withdrawn, is dropped from the list. */
static void places_count(struct fairness *fairness, const struct core *core, int64_t until_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < fairness->places.count; i++) {
        const struct promised place = fairness->places.at[i];
        if (query_instance_claim(core, place.task, place.index) != NULL) {
            place_count(fairness, &place, until_ms);
            fairness->places.at[kept++] = place;
        }
    }
    fairness->places.count = kept;
}

void fairness_count(struct fairness *fairness, const struct core *core, int64_t core_ms,
                    int64_t now_ms, int64_t until_ms)
{
    const int64_t times[] = {core_ms, now_ms, until_ms};
    fairness->until_ms = until_ms;
    for (size_t i = 0; i < fairness->promises.count; i++) {
        shortfall_count(&fairness->promises.at[i], core, now_ms, until_ms);
    }
    places_count(fairness, core, until_ms);
    for (const struct pool *pool = query_pool_next(core, (pool_id){0});
         pool != NULL && fairness->promises.count > 0; pool = query_pool_next(core, pool->id)) {
        pool_count(fairness, core, pool->id, times);
    }
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct fairness_times fairness_times_at(const struct fairness *fairness, account_id account,
                                        int64_t at_ms)
{
    const int64_t ahead_ms = fairness->until_ms > at_ms ? fairness->until_ms - at_ms : 0;
    struct fairness_times most = {0};
    for (size_t i = 0; i < fairness->promises.count; i++) {
        const struct promise *promise = &fairness->promises.at[i];
        if (promise->account.v == account.v) {
            const int64_t short_ms =
                promise->shortfall_ms - (promise->lacking_milli > 0 ? ahead_ms : 0);
            const int64_t below_ms = promise->below_ms - (promise->owed ? ahead_ms : 0);
            most.short_ms = larger(short_ms, most.short_ms);
            most.below_ms = larger(below_ms, most.below_ms);
        }
    }
    return most;
}

struct promise fairness_of(const struct fairness *fairness, account_id account)
{
    struct promise most = {.account = account};
    for (size_t i = 0; i < fairness->promises.count; i++) {
        const struct promise *promise = &fairness->promises.at[i];
        if (promise->account.v != account.v) {
            continue;
        }
        most.shortfall_milli = larger(promise->shortfall_milli, most.shortfall_milli);
        most.shortfall_ms = larger(promise->shortfall_ms, most.shortfall_ms);
        most.shortfall_longest_ms =
            larger(promise->shortfall_longest_ms, most.shortfall_longest_ms);
        most.promised_longest_ms = larger(promise->promised_longest_ms, most.promised_longest_ms);
        most.below_ms = larger(promise->below_ms, most.below_ms);
        most.below_longest_ms = larger(promise->below_longest_ms, most.below_longest_ms);
    }
    return most;
}
