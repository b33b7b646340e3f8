/* metrics.c - counts while a run goes on, and computes the result at its end.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/metrics.h"

#include "base/map.h"
#include "sim/day_share.h"
#include "sim/fairness.h"
#include "sim/pool_use.h"
#include "wire/reason_text.h"
#include "core/sched/order/shares.h"

enum { SAMPLES_WANTED = 256, SENTENCE_MAX = 4096 };

struct held_by {
    int64_t milli;
    __int128 area; /* thousandths of slots x ms */
};

struct metrics {
    struct pool_uses pools;
    struct fairness fairness;
    struct day_shares days;
    struct series series;
    struct paid paid;
    int64_t counted_ms; /* the areas are counted up to here */
    int64_t allocated_milli;
    int64_t capacity_milli;
    uint64_t pending;
    __int128 allocated_area;
    __int128 capacity_area;
    __int128 pending_area;
    uint64_t pending_max;
    uint64_t refused;
    struct refused_task refusals[REFUSALS_TOLD_MAX];
    VEC(struct held_by) accounts;
    struct arena arena;
};

struct metrics *metrics_new(const struct scenario *scenario)
{
    struct metrics *metrics = xcalloc(1, sizeof *metrics);
    pool_use_init(&metrics->pools, scenario);
    fairness_init(&metrics->fairness);
    arena_init(&metrics->arena);
    int64_t horizon_ms = scenario->until_ms;
    if (horizon_ms == 0 && scenario->jobs.count > 0) {
        horizon_ms = scenario->jobs.at[scenario->jobs.count - 1].at_ms;
    }
    series_init(&metrics->series, horizon_ms / SAMPLES_WANTED + 1000);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (metrics != NULL) {
        vec_done(&metrics->accounts);
        pool_use_done(&metrics->pools);
        paid_done(&metrics->paid);
        fairness_done(&metrics->fairness);
        day_share_done(&metrics->days);
        arena_done(&metrics->arena);
        free(metrics);
    }
}

void metrics_freep(struct metrics **metrics)
{
    metrics_free(*metrics);
}

const struct series *metrics_series(const struct metrics *metrics)
{
    return &metrics->series;
}

/* ---- while the run goes on ---- */

static void hold(struct metrics *metrics, const struct core *core, const struct job_record *record,
                 int64_t milli)
{
    const uint32_t account = record->account;
    pool_use_allocate(&metrics->pools, core, record->pool, milli);
    while (metrics->accounts.count <= account) {
        vec_push(&metrics->accounts, (struct held_by){0});
    }
    metrics->accounts.at[account].milli += milli;
    metrics->allocated_milli += milli;
    must(metrics->accounts.at[account].milli >= 0);
}

static void fact_seen(void *ctx, const struct engine *engine, const struct fact *fact)
{
    struct metrics *metrics = ctx;
    paid_fact(&metrics->paid, fact);
    if (fact->type == FACT_ALLOCATED) {
        const struct job_record *record = engine_records_at(engine, fact->allocated.key.task);
        hold(metrics, engine_core(engine), record, fact->allocated.slots_milli);
    } else if (fact->type == FACT_ATTEMPT_ENDED) {
        const struct attempt_key *key = &fact->attempt_ended.report.key;
        const struct job_record *record = engine_records_at(engine, key->task);
        hold(metrics, engine_core(engine), record, -engine_records_held(engine, key).slots_milli);
    } else if (fact->type == FACT_NODE_STATE) {
        metrics->capacity_milli = -1; /* counted anew at the end of the moment */
    } else if (fact->type == FACT_CLAIMED) {
        fairness_claimed(&metrics->fairness, engine_core(engine), &fact->allocated.key,
                         engine_now_ms(engine));
    } else if (fact->type == FACT_QUOTA_SET) {
        fairness_watch(&metrics->fairness, engine_core(engine));
    }
}

static void refused_seen(void *ctx, const struct engine *engine, const struct refusal *refusal)
{
    struct metrics *metrics = ctx;
    if (metrics->refused < REFUSALS_TOLD_MAX) {
        struct buf text;
        buf_init(&text, SENTENCE_MAX);
        reason_text(engine_core(engine), &refusal->reason, &text);
        metrics->refusals[metrics->refused] = (struct refused_task){
            arena_str(&metrics->arena, refusal->job->name), refusal->at_ms, refusal->reason.code,
            arena_str(&metrics->arena, buf_text(&text))};
        buf_done(&text);
    }
    metrics->refused++;
}

/* Samples for each account how long it lacked slots and was owed a place. The last entry stands
 * for several accounts and is left out. */
static void promises_sample(const struct metrics *metrics, const struct engine *engine,
                            struct sample *ret)
{
    const bool rest = engine_records_account_name(engine, SERIES_ACCOUNTS_MAX) != NULL;
    const uint32_t count = rest ? SERIES_ACCOUNTS_MAX - 1 : SERIES_ACCOUNTS_MAX;
    const int64_t at_ms = series_next_ms(&metrics->series);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = engine_records_account_name(engine, i);
        const struct account *account =
            name == NULL ? NULL : query_account_named(engine_core(engine), ACCOUNT_PROJECT, name);
        if (account != NULL) {
            const struct fairness_times times =
                fairness_times_at(&metrics->fairness, account->id, at_ms);
            ret->short_ms[i] = times.short_ms;
            ret->below_ms[i] = times.below_ms;
        }
    }
}

/* Returns the fair share of a project, summed over all pools. */
static int64_t share_of(const struct core *core, const char *project)
{
    const struct account *account = query_account_named(core, ACCOUNT_PROJECT, project);
    int64_t sum = 0;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0});
         account != NULL && pool != NULL; pool = query_pool_next(core, pool->id)) {
        sum += shares_of(core, account->id, pool->id, DIM_SLOTS);
    }
    return sum;
}

static void sample_now(struct metrics *metrics, const struct engine *engine, int64_t before_ms)
{
    struct sample sample = {
        .allocated_milli = metrics->allocated_milli,
        .capacity_milli = metrics->capacity_milli,
        .pending = metrics->pending,
    };
    pool_use_sample(&metrics->pools, engine_core(engine), &sample);
    for (uint32_t i = 0; engine_records_account_name(engine, i) != NULL; i++) {
        const size_t at = i < SERIES_ACCOUNTS_MAX ? i : SERIES_ACCOUNTS_MAX - 1;
        sample.held_milli[at] += i < metrics->accounts.count ? metrics->accounts.at[i].milli : 0;
        sample.share_milli[at] +=
            share_of(engine_core(engine), engine_records_account_name(engine, i));
    }
    while (series_next_ms(&metrics->series) < before_ms) {
        promises_sample(metrics, engine, &sample);
        series_add(&metrics->series, &sample);
    }
}

/* Notes for the hours that begin before `before_ms` how far each project is below its share. */
static void days_count(struct metrics *metrics, const struct engine *engine, int64_t before_ms)
{
    const int64_t hours = day_share_due(&metrics->days, before_ms);
    const char *name;
    for (uint32_t i = 0; hours > 0 && (name = engine_records_account_name(engine, i)) != NULL;
         i++) {
        const int64_t held = i < metrics->accounts.count ? metrics->accounts.at[i].milli : 0;
        day_share_note(&metrics->days, i, share_of(engine_core(engine), name) - held, hours);
    }
    day_share_passed(&metrics->days, hours);
}

/* Counts the present state until the next moment. */
static void instant_seen(void *ctx, const struct engine *engine, int64_t next_ms)
{
    struct metrics *metrics = ctx;
    const int64_t now_ms = engine_now_ms(engine);
    const int64_t until_ms = next_ms == INT64_MAX ? now_ms : next_ms;
    const int64_t for_ms = until_ms - metrics->counted_ms;
    if (metrics->capacity_milli < 0) {
        metrics->capacity_milli = pool_use_capacity(&metrics->pools, engine_core(engine));
    }
    metrics->pending = query_task_count(engine_core(engine), TASK_PENDING);
    metrics->pending_max =
        metrics->pending > metrics->pending_max ? metrics->pending : metrics->pending_max;
    metrics->allocated_area += (__int128)metrics->allocated_milli * for_ms;
    metrics->capacity_area += (__int128)metrics->capacity_milli * for_ms;
    pool_use_count(&metrics->pools, for_ms);
    paid_count(&metrics->paid, engine_core(engine), now_ms + engine_epoch_ms(engine), for_ms);
    metrics->pending_area += (__int128)(int64_t)metrics->pending * for_ms;
    for (size_t i = 0; i < metrics->accounts.count; i++) {
        metrics->accounts.at[i].area += (__int128)metrics->accounts.at[i].milli * for_ms;
    }
    fairness_count(&metrics->fairness, engine_core(engine), now_ms + engine_epoch_ms(engine),
                   now_ms, until_ms);
    metrics->counted_ms = until_ms;
    const int64_t before_ms = next_ms == INT64_MAX ? now_ms + 1 : next_ms;
    if (series_next_ms(&metrics->series) < before_ms) {
        sample_now(metrics, engine, before_ms);
    }
    days_count(metrics, engine, before_ms);
}

struct watcher metrics_watcher(struct metrics *metrics)
{
    return (struct watcher){
        .ctx = metrics, .fact = fact_seen, .refused = refused_seen, .instant = instant_seen};
}

/* ---- the result ---- */

static int64_t mean_of(__int128 area, int64_t span_ms)
{
    return span_ms == 0 ? 0 : (int64_t)((area + span_ms / 2) / span_ms);
}

static void states_count(const struct engine *engine, struct result *result)
{
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    result->submitted = count;
    for (size_t i = 0; i < count; i++) {
        result->completed += records[i].state == TASK_COMPLETED;
        result->failed += records[i].state == TASK_FAILED;
        result->killed += records[i].state == TASK_KILLED;
        result->unknown += records[i].state == TASK_UNKNOWN;
        result->evictions += records[i].evictions;
        result->losses += records[i].losses;
        result->failures += records[i].failures;
        if (records[i].ended_ms == NOT_YET) {
            const struct task *task = query_task(engine_core(engine), (task_id){i + 1});
            const bool active = task != NULL && task->active_count > 0;
            result->running += active;
            result->waiting += !active;
        }
    }
}

/* Which records a spread is about: of one account, size class or pool; -1: of all. */
struct metric_pick {
    int64_t account;
    int64_t size_class;
    int64_t pool;
};
static const struct metric_pick everything = {-1, -1, -1};

static bool is_chosen(const struct job_record *record, struct metric_pick chosen)
{
    return (chosen.account < 0 || record->account == (uint32_t)chosen.account) &&
           (chosen.pool < 0 || record->pool.v == (uint32_t)chosen.pool) &&
           (chosen.size_class < 0 ||
            spread_class_of(record->slots_milli) == (uint32_t)chosen.size_class);
}

static void spreads(const struct engine *engine, struct metric_pick chosen, struct spread *ret_wait,
                    struct spread *ret_completion)
{
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    int64_t *times = xcalloc(count + 1, sizeof *times);
    size_t started = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].started_ms >= 0 && is_chosen(&records[i], chosen)) {
            times[started++] = records[i].started_ms - records[i].submitted_ms;
        }
    }
    *ret_wait = spread_of(times, started);
    size_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].state == TASK_COMPLETED && is_chosen(&records[i], chosen)) {
            times[ended++] = records[i].ended_ms - records[i].submitted_ms;
        }
    }
    *ret_completion = spread_of(times, ended);
    free(times);
}

/* Returns how long the tasks that have not started have waited so far. */
static struct spread not_started(const struct engine *engine)
{
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    int64_t *times = xcalloc(count + 1, sizeof *times);
    size_t waiting = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].started_ms == NOT_YET && records[i].ended_ms == NOT_YET) {
            times[waiting++] = engine_now_ms(engine) - records[i].submitted_ms;
        }
    }
    const struct spread spread = spread_of(times, waiting);
    free(times);
    return spread;
}

static int name_compare(const void *a, const void *b)
{
    const struct account_result *first = a;
    const struct account_result *second = b;
    return strcmp(first->name, second->name);
}

/* Returns the guaranteed slots of a project, summed over all pools. */
static int64_t guaranteed_of(const struct core *core, const char *project)
{
    const struct account *account = query_account_named(core, ACCOUNT_PROJECT, project);
    int64_t sum = 0;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0});
         account != NULL && pool != NULL; pool = query_pool_next(core, pool->id)) {
        struct quota quota;
        query_quota(core, account->id, pool->id, &quota);
        if (quota.guaranteed.at[DIM_SLOTS] == VECTOR_UNLIMITED) {
            return -1;
        }
        sum += quota.guaranteed.at[DIM_SLOTS];
    }
    return sum;
}

static void promises_result(const struct metrics *metrics, const struct core *core,
                            struct account_result *ret)
{
    const struct account *account = query_account_named(core, ACCOUNT_PROJECT, ret->name);
    if (account != NULL) {
        const struct promise promise = fairness_of(&metrics->fairness, account->id);
        ret->shortfall_milli = promise.shortfall_milli;
        ret->shortfall_ms = promise.shortfall_ms;
        ret->shortfall_longest_ms = promise.shortfall_longest_ms;
        ret->promised_longest_ms = promise.promised_longest_ms;
        ret->below_ms = promise.below_ms;
        ret->below_longest_ms = promise.below_longest_ms;
    }
}

static void accounts_result(const struct metrics *metrics, const struct engine *engine,
                            struct arena *arena, struct result *ret)
{
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    while (engine_records_account_name(engine, ret->account_count) != NULL) {
        ret->account_count++;
    }
    ret->accounts = arena_new(arena, struct account_result, ret->account_count + 1);
    __int128 *lost = xcalloc(ret->account_count + 1, sizeof *lost);
    __int128 lost_all = 0;
    for (size_t i = 0; i < count; i++) {
        ret->accounts[records[i].account].evictions += records[i].evictions;
        lost[records[i].account] += records[i].work_lost;
        lost_all += records[i].work_lost;
    }
    for (uint32_t i = 0; i < ret->account_count; i++) {
        struct account_result *account = &ret->accounts[i];
        account->name = arena_str(arena, engine_records_account_name(engine, i));
        account->work_lost_slot_ms = (int64_t)(lost[i] / SLOT_MILLI);
        account->guaranteed_milli = guaranteed_of(engine_core(engine), account->name);
        promises_result(metrics, engine_core(engine), account);
        account->share_short_day_milli = day_share_most(&metrics->days, i);
        const bool held = i < metrics->accounts.count;
        account->held_mean_milli = held ? mean_of(metrics->accounts.at[i].area, ret->span_ms) : 0;
        spreads(engine, (struct metric_pick){i, -1, -1}, &account->wait, &account->completion);
    }
    ret->work_lost_slot_ms = (int64_t)(lost_all / SLOT_MILLI);
    ret->paid = metrics->paid.sums;
    free(lost);
    if (ret->account_count > 0) {
        qsort(ret->accounts, ret->account_count, sizeof *ret->accounts, name_compare);
    }
}

static int64_t fragmented_mean(const struct series *series)
{
    __int128 sum = 0;
    for (size_t i = 0; i < series->count; i++) {
        sum += series->at[i].fragmented_milli;
    }
    return series->count == 0 ? 0 : (int64_t)(sum / (int64_t)series->count);
}

static int64_t pool_fragmented_mean(const struct series *series, uint32_t pool)
{
    __int128 sum = 0;
    for (size_t i = 0; i < series->count; i++) {
        sum += series->at[i].pools[pool].fragmented_milli;
    }
    return series->count == 0 ? 0 : (int64_t)(sum / (int64_t)series->count);
}

/* Writes the pools that had nodes, in the order of their creation. */
static void pools_result(const struct metrics *metrics, const struct engine *engine,
                         struct arena *arena, struct result *ret)
{
    ret->pools = arena_new(arena, struct pool_result, metrics->pools.at.count + 1);
    for (uint32_t i = 0; i < metrics->pools.at.count; i++) {
        const struct pool_use *use = &metrics->pools.at.at[i];
        if (use->capacity_area == 0) {
            continue;
        }
        struct pool_result *pool = &ret->pools[ret->pool_count++];
        *pool = (struct pool_result){
            .name = arena_str(arena, query_pool_name(engine_core(engine), (pool_id){i + 1})),
            .sampled = i < SERIES_POOLS_MAX - 1 ? (int)i : -1,
            .capacity_milli = mean_of(use->capacity_area, ret->span_ms),
            .allocated_milli = mean_of(use->allocated_area, ret->span_ms),
        };
        pool->fragmented_milli =
            pool->sampled >= 0 ? pool_fragmented_mean(&metrics->series, i) : -1;
        spreads(engine, (struct metric_pick){-1, -1, i + 1}, &pool->wait, &pool->completion);
    }
}

void metrics_result(const struct metrics *metrics, const struct engine *engine, struct arena *arena,
                    struct result *ret)
{
    const int64_t span_ms = engine_now_ms(engine);
    *ret = (struct result){
        .span_ms = span_ms,
        .stopped = engine_stopped(engine),
        .refused = metrics->refused,
        .nodes = engine_scenario(engine)->nodes.count,
        .capacity_milli =
            span_ms == 0 ? metrics->capacity_milli : mean_of(metrics->capacity_area, span_ms),
        .allocated_milli = mean_of(metrics->allocated_area, span_ms),
        .fragmented_milli = fragmented_mean(&metrics->series),
        .queue_mean_milli = (uint64_t)mean_of(metrics->pending_area * 1000, span_ms),
        .queue_max = metrics->pending_max,
    };
    memcpy(ret->refusals, metrics->refusals, sizeof ret->refusals);
    states_count(engine, ret);
    spreads(engine, everything, &ret->wait, &ret->completion);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        spreads(engine, (struct metric_pick){-1, i, -1}, &ret->wait_by_size[i],
                &ret->completion_by_size[i]);
    }
    ret->not_started = not_started(engine);
    accounts_result(metrics, engine, arena, ret);
    pools_result(metrics, engine, arena, ret);
}
