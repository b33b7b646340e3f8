/* metrics.c - counts while a run goes on.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/metrics_internal.h"

#include "wire/reason_text.h"
#include "core/sched/order/shares.h"

enum { SAMPLES_WANTED = 256, SENTENCE_MAX = 4096 };

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

static void attempt_ended(struct metrics *metrics, const struct engine *engine,
                          const struct attempt_key *key)
{
    const struct job_record *record = engine_records_at(engine, key->task);
    const struct held held = engine_records_held(engine, key);
    const int64_t now_ms = engine_now_ms(engine);
    hold(metrics, engine_core(engine), record, -held.slots_milli);
    series_lose(&metrics->series,
                &(struct series_loss){now_ms - held.lost_ms, now_ms, held.slots_milli,
                                      pool_use_place(record->pool)});
}

static void fact_seen(void *ctx, const struct engine *engine, const struct fact *fact)
{
    struct metrics *metrics = ctx;
    paid_fact(&metrics->paid, fact);
    fleet_fact(&metrics->fleet, engine_core(engine), fact);
    if (fact->type == FACT_ALLOCATED) {
        const struct job_record *record = engine_records_at(engine, fact->allocated.key.task);
        hold(metrics, engine_core(engine), record, fact->allocated.slots_milli);
    } else if (fact->type == FACT_ATTEMPT_ENDED) {
        attempt_ended(metrics, engine, &fact->attempt_ended.report.key);
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
    pool_use_sample(&metrics->pools, engine_core(engine),
                    engine_now_ms(engine) + engine_epoch_ms(engine), &sample);
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
    fleet_count(&metrics->fleet, for_ms);
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
