/* metrics_result.c - the result of a run, from what was counted and from the records of the tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/metrics_internal.h"

#include "base/name.h"

/* A task that runs for less than this counts as so long in its slowdown: a task of a second that
 * waits for a minute is no disaster. */
enum { SLOWDOWN_RUNS_MS_MIN = 10 * 1000, RATIO_ONE = 1000 };

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

int64_t metrics_result_slowdown(const struct job_record *record)
{
    const int64_t runs_ms = record->job->runs_ms;
    if (record->state != TASK_COMPLETED || runs_ms == RUNS_FOR_EVER) {
        return -1;
    }
    const int64_t least_ms = runs_ms < SLOWDOWN_RUNS_MS_MIN ? SLOWDOWN_RUNS_MS_MIN : runs_ms;
    const int64_t ratio =
        (int64_t)((__int128)(record->ended_ms - record->submitted_ms) * RATIO_ONE / least_ms);
    return ratio < RATIO_ONE ? RATIO_ONE : ratio;
}

/* Where the distributions of some tasks go. */
struct metric_spreads {
    struct spread *wait;
    struct spread *completion;
    struct spread *slowdown;
};

static void spreads(const struct engine *engine, struct metric_pick chosen,
                    struct metric_spreads ret)
{
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    int64_t *times = xcalloc(count + 1, sizeof *times);
    int64_t *ratios = xcalloc(count + 1, sizeof *ratios);
    size_t started = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].started_ms >= 0 && is_chosen(&records[i], chosen)) {
            times[started++] = engine_records_waited(engine, &records[i]);
        }
    }
    *ret.wait = spread_of(times, started);
    size_t ended = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].state == TASK_COMPLETED && is_chosen(&records[i], chosen)) {
            times[ended++] = records[i].ended_ms - records[i].submitted_ms;
            ratios[known] = metrics_result_slowdown(&records[i]);
            known += ratios[known] >= 0;
        }
    }
    *ret.completion = spread_of(times, ended);
    *ret.slowdown = spread_of(ratios, known);
    free(times);
    free(ratios);
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
    const int order = name_order(first->name, second->name);
    return order != 0 ? order : strcmp(first->name, second->name);
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
        spreads(engine, (struct metric_pick){i, -1, -1},
                (struct metric_spreads){&account->wait, &account->completion, &account->slowdown});
    }
    ret->work_lost_slot_ms = (int64_t)(lost_all / SLOT_MILLI);
    ret->allocated_slot_ms = (int64_t)(metrics->allocated_area / SLOT_MILLI);
    const int64_t lost_mean_milli = mean_of(lost_all, ret->span_ms);
    ret->useful_milli =
        lost_mean_milli < ret->allocated_milli ? ret->allocated_milli - lost_mean_milli : 0;
    ret->paid = metrics->paid.sums;
    ret->fleet = metrics->fleet;
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
        spreads(engine, (struct metric_pick){-1, -1, i + 1},
                (struct metric_spreads){&pool->wait, &pool->completion, &pool->slowdown});
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
        .nodes = engine_scenario(engine)->nodes.count + metrics->fleet.most,
        .capacity_milli =
            span_ms == 0 ? metrics->capacity_milli : mean_of(metrics->capacity_area, span_ms),
        .allocated_milli = mean_of(metrics->allocated_area, span_ms),
        .fragmented_milli = fragmented_mean(&metrics->series),
        .queue_mean_milli = (uint64_t)mean_of(metrics->pending_area * 1000, span_ms),
        .queue_max = metrics->pending_max,
    };
    memcpy(ret->refusals, metrics->refusals, sizeof ret->refusals);
    states_count(engine, ret);
    spreads(engine, everything,
            (struct metric_spreads){&ret->wait, &ret->completion, &ret->slowdown});
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        spreads(engine, (struct metric_pick){-1, i, -1},
                (struct metric_spreads){&ret->wait_by_size[i], &ret->completion_by_size[i],
                                        &ret->slowdown_by_size[i]});
    }
    ret->not_started = not_started(engine);
    accounts_result(metrics, engine, arena, ret);
    pools_result(metrics, engine, arena, ret);
}
