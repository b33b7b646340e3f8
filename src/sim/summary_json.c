/* summary_json.c - the result of a run for programs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/play_fixed.h"
#include "sim/summary.h"

#include "base/json_out.h"
#include "base/time_text.h"
#include "sim/sim_text.h"

enum { MS_PER_HOUR = 3600 * 1000 };

/* Writes an amount; null for a negative amount, which means that the amount is not known. */
static void kv_known_milli(struct json_out *j, const char *key, int64_t milli)
{
    json_out_key(j, key);
    if (milli < 0) {
        json_out_null(j);
    } else {
        json_out_milli(j, milli);
    }
}

/* Writes milliseconds as a decimal number of seconds. */
static void kv_seconds(struct json_out *j, const char *key, int64_t ms)
{
    json_out_kv_milli(j, key, ms);
}

/* Writes a text, such as the first of `count` things; null: the count is 0. */
static void kv_first(struct json_out *j, const char *key, uint64_t count, const char *first)
{
    json_out_key(j, key);
    if (count > 0) {
        json_out_text(j, first);
    } else {
        json_out_null(j);
    }
}

static void spread_json(struct json_out *j, const char *key, const struct spread *spread)
{
    json_out_key(j, key);
    json_out_object(j);
    json_out_kv_u64(j, "count", spread->count);
    kv_seconds(j, "mean", spread->mean_ms);
    kv_seconds(j, "p50", spread->p50_ms);
    kv_seconds(j, "p90", spread->p90_ms);
    kv_seconds(j, "p99", spread->p99_ms);
    kv_seconds(j, "max", spread->max_ms);
    json_out_end(j);
}

/* Returns thousandths of slot-hours. */
static int64_t slot_hours_milli(int64_t slot_ms)
{
    return (int64_t)(((__int128)slot_ms * 1000 + MS_PER_HOUR / 2) / MS_PER_HOUR);
}

static void tasks_json(struct json_out *j, const struct result *result)
{
    json_out_key(j, "tasks");
    json_out_object(j);
    json_out_kv_u64(j, "submitted", result->submitted);
    json_out_kv_u64(j, "completed", result->completed);
    json_out_kv_u64(j, "failed", result->failed);
    json_out_kv_u64(j, "killed", result->killed);
    json_out_kv_u64(j, "unknown", result->unknown);
    json_out_kv_u64(j, "running", result->running);
    json_out_kv_u64(j, "waiting", result->waiting);
    json_out_kv_u64(j, "refused", result->refused);
    json_out_kv_u64(j, "evictions", result->evictions);
    json_out_kv_u64(j, "losses", result->losses);
    json_out_kv_u64(j, "failures", result->failures);
    json_out_kv_milli(j, "work_lost_slot_hours", slot_hours_milli(result->work_lost_slot_ms));
    json_out_kv_milli(j, "work_lost_percent",
                      sim_text_part_milli(result->work_lost_slot_ms, result->allocated_slot_ms));
    json_out_end(j);
}

static void fixed_json(struct json_out *j, const struct fleet_fixed *fixed)
{
    enum { MS_PER_HOUR_MILLI = 3600 };
    json_out_key(j, "fixed");
    if (!fixed->played) {
        json_out_null(j);
        return;
    }
    json_out_object(j);
    json_out_kv_u64(j, "nodes", fixed->nodes);
    json_out_kv_milli(j, "node_hours", fixed->node_ms / MS_PER_HOUR_MILLI);
    json_out_kv_milli(j, "cost", fixed->cost_milli);
    kv_seconds(j, "wait_mean", fixed->wait_mean_ms);
    json_out_end(j);
}

static void fleet_json(struct json_out *j, const struct result *result,
                       const struct scenario *scenario)
{
    const struct fleet *fleet = &result->fleet;
    enum { MS_PER_HOUR_MILLI = 3600 };
    json_out_key(j, "launched");
    json_out_object(j);
    json_out_kv_u64(j, "nodes", fleet->launched);
    json_out_kv_u64(j, "most", fleet->most);
    json_out_kv_milli(j, "node_hours", fleet->node_ms / MS_PER_HOUR_MILLI);
    json_out_kv_u64(j, "refused", fleet->refused);
    json_out_kv_milli(j, "cost", fleet_cost_milli(fleet));
    json_out_kv_text(j, "currency", play_fixed_currency(scenario));
    fixed_json(j, &result->fixed);
    json_out_end(j);
}

static void budgets_json(struct json_out *j, const struct paid_sums *paid)
{
    json_out_key(j, "budgets");
    json_out_object(j);
    json_out_kv_u64(j, "holders", paid->holders);
    json_out_kv_u64(j, "released", paid->released);
    json_out_kv_milli(j, "idle_slot_hours", paid->idle / MS_PER_HOUR);
    json_out_kv_u64(j, "loss_decisions", paid->decisions);
    json_out_kv_milli(j, "loss_slot_hours", paid->loss / MS_PER_HOUR);
    json_out_end(j);
}

static void refusals_json(struct json_out *j, const struct result *result)
{
    json_out_key(j, "refusals");
    json_out_array(j);
    for (uint64_t i = 0; i < result->refused && i < REFUSALS_TOLD_MAX; i++) {
        json_out_object(j);
        json_out_kv_text(j, "task", result->refusals[i].name);
        kv_seconds(j, "at", result->refusals[i].at_ms);
        json_out_kv_text(j, "code", names_reason(result->refusals[i].code));
        json_out_kv_text(j, "message", result->refusals[i].text);
        json_out_end(j);
    }
    json_out_end(j);
}

static void sizes_json(struct json_out *j, const struct result *result)
{
    json_out_key(j, "sizes");
    json_out_array(j);
    for (uint32_t i = 0; i < SIZE_CLASS_COUNT; i++) {
        if (result->wait_by_size[i].count == 0) {
            continue;
        }
        json_out_object(j);
        json_out_kv_text(j, "name", spread_class_name(i));
        spread_json(j, "wait", &result->wait_by_size[i]);
        spread_json(j, "completion", &result->completion_by_size[i]);
        spread_json(j, "slowdown", &result->slowdown_by_size[i]);
        json_out_end(j);
    }
    json_out_end(j);
}

static void accounts_json(struct json_out *j, const struct result *result)
{
    json_out_key(j, "accounts");
    json_out_array(j);
    for (uint32_t i = 0; i < result->account_count; i++) {
        const struct account_result *account = &result->accounts[i];
        json_out_object(j);
        json_out_kv_text(j, "name", account->name);
        json_out_kv_milli(j, "slots_mean", account->held_mean_milli);
        kv_known_milli(j, "guaranteed", account->guaranteed_milli);
        json_out_kv_milli(j, "shortfall_max", account->shortfall_milli);
        kv_seconds(j, "shortfall_time", account->shortfall_ms);
        kv_seconds(j, "shortfall_longest", account->shortfall_longest_ms);
        kv_seconds(j, "below_guarantee", account->below_ms);
        kv_seconds(j, "below_longest", account->below_longest_ms);
        kv_seconds(j, "promised_longest", account->promised_longest_ms);
        json_out_kv_milli(j, "share_short_day", account->share_short_day_milli);
        json_out_kv_u64(j, "evictions", account->evictions);
        json_out_kv_milli(j, "work_lost_slot_hours", slot_hours_milli(account->work_lost_slot_ms));
        spread_json(j, "wait", &account->wait);
        spread_json(j, "completion", &account->completion);
        spread_json(j, "slowdown", &account->slowdown);
        json_out_end(j);
    }
    json_out_end(j);
}

static void pools_json(struct json_out *j, const struct result *result)
{
    json_out_key(j, "pools");
    json_out_array(j);
    for (uint32_t i = 0; i < result->pool_count; i++) {
        const struct pool_result *pool = &result->pools[i];
        json_out_object(j);
        json_out_kv_text(j, "name", pool->name);
        json_out_kv_milli(j, "slots_mean", pool->capacity_milli);
        json_out_kv_milli(j, "allocated_mean", pool->allocated_milli);
        kv_known_milli(j, "fragmented_mean", pool->fragmented_milli);
        spread_json(j, "wait", &pool->wait);
        spread_json(j, "completion", &pool->completion);
        spread_json(j, "slowdown", &pool->slowdown);
        json_out_end(j);
    }
    json_out_end(j);
}

static void millis_json(struct json_out *j, const char *key, const int64_t *values, uint32_t count)
{
    json_out_key(j, key);
    json_out_array(j);
    for (uint32_t i = 0; i < count; i++) {
        json_out_milli(j, values[i]);
    }
    json_out_end(j);
}

/* Writes the account of each index of `used` and `share`. The last index of many stands for all
 * further accounts. */
static uint32_t sample_accounts_json(struct json_out *j, const struct engine *engine)
{
    uint32_t count = 0;
    json_out_key(j, "sample_accounts");
    json_out_array(j);
    while (count < SERIES_ACCOUNTS_MAX && engine_records_account_name(engine, count) != NULL) {
        const bool rest = count == SERIES_ACCOUNTS_MAX - 1 &&
                          engine_records_account_name(engine, SERIES_ACCOUNTS_MAX) != NULL;
        if (rest) {
            json_out_null(j);
        } else {
            json_out_text(j, engine_records_account_name(engine, count));
        }
        count++;
    }
    json_out_end(j);
    return count;
}

static void samples_json(struct json_out *j, const struct series *series, uint32_t accounts)
{
    json_out_key(j, "samples");
    json_out_array(j);
    for (size_t i = 0; i < series->count; i++) {
        const struct sample *sample = &series->at[i];
        json_out_object(j);
        kv_seconds(j, "at", sample->at_ms);
        json_out_kv_milli(j, "allocated", sample->allocated_milli);
        json_out_kv_milli(j, "capacity", sample->capacity_milli);
        json_out_kv_milli(j, "fragmented", sample->fragmented_milli);
        json_out_kv_milli(j, "kept", sample->kept_milli);
        json_out_kv_milli(j, "lost", sample->lost_milli);
        json_out_kv_u64(j, "waiting", sample->pending);
        millis_json(j, "used", sample->held_milli, accounts);
        millis_json(j, "share", sample->share_milli, accounts);
        json_out_end(j);
    }
    json_out_end(j);
}

void summary_json(const struct result *result, const struct engine *engine,
                  const struct series *series, struct buf *out)
{
    const struct scenario *scenario = engine_scenario(engine);
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j);
    json_out_kv_text(&j, "scenario", scenario->name);
    json_out_kv_u64(&j, "seed", scenario->seed);
    kv_seconds(&j, "span", result->span_ms);
    char begins[TIME_TEXT_MAX];
    time_text(scenario->begins_ms, begins);
    kv_first(&j, "begins", (uint64_t)scenario->begins_ms, begins);
    json_out_kv_bool(&j, "stopped", result->stopped);
    json_out_kv_u64(&j, "rows_left_out", scenario->rows_bad);
    kv_first(&j, "row_left_out_first", scenario->rows_bad, scenario->row_bad_first);
    json_out_kv_u64(&j, "names_changed", scenario->names_changed);
    kv_first(&j, "name_changed_first", scenario->names_changed, scenario->name_changed_first);
    tasks_json(&j, result);
    budgets_json(&j, &result->paid);
    fleet_json(&j, result, scenario);
    refusals_json(&j, result);
    json_out_kv_u64(&j, "nodes", result->nodes);
    json_out_kv_milli(&j, "slots_mean", result->capacity_milli);
    json_out_kv_milli(&j, "allocated_mean", result->allocated_milli);
    json_out_kv_milli(&j, "useful_mean", result->useful_milli);
    json_out_kv_milli(&j, "fragmented_mean", result->fragmented_milli);
    json_out_kv_milli(&j, "queue_mean", (int64_t)result->queue_mean_milli);
    json_out_kv_u64(&j, "queue_max", result->queue_max);
    spread_json(&j, "wait", &result->wait);
    spread_json(&j, "completion", &result->completion);
    spread_json(&j, "slowdown", &result->slowdown);
    spread_json(&j, "not_started", &result->not_started);
    sizes_json(&j, result);
    accounts_json(&j, result);
    pools_json(&j, result);
    samples_json(&j, series, sample_accounts_json(&j, engine));
    json_out_end(&j);
    buf_add_char(out, '\n');
}

/* ---- tasks ---- */

static void csv_milli(struct buf *out, int64_t milli)
{
    char text[64];
    const int64_t size = milli < 0 ? -milli : milli;
    (void)snprintf(text, sizeof text, ",%s%lld.%03lld", milli < 0 ? "-" : "",
                   (long long)(size / 1000), (long long)(size % 1000));
    buf_add_str(out, text);
}

static void csv_time(struct buf *out, int64_t ms)
{
    if (ms == NOT_YET) {
        buf_add_char(out, ','); /* the event never happened, so the field is empty */
    } else {
        csv_milli(out, ms);
    }
}

/* Returns the state at the end of the task, or at the end of the run. */
static const char *state_text(const struct engine *engine, size_t index)
{
    const struct task *task = query_task(engine_core(engine), (task_id){index + 1});
    const bool runs = task != NULL && task->active_count > 0;
    size_t count;
    const struct job_record *record = &engine_records(engine, &count)[index];
    if (record->ended_ms != NOT_YET || task == NULL) {
        return names_task_state(record->state);
    }
    return names_task_state(runs ? TASK_RUNNING : task->state);
}

void summary_json_tasks_csv(const struct engine *engine, struct buf *out)
{
    size_t count;
    const struct job_record *records = engine_records(engine, &count);
    buf_add_str(out, "task,name,account,pool,instances,slots,submitted,started,ended,wait,state,"
                     "cause,exit_code,evictions,losses,failures,work_lost,requeued\n");
    for (size_t i = 0; i < count; i++) {
        const struct job_record *record = &records[i];
        const bool started = record->started_ms != NOT_YET;
        const int64_t waited_ms = engine_records_waited(engine, record);
        const int64_t first_ms = started ? record->started_ms - record->submitted_ms : 0;
        buf_addf(out, "%zu,", i + 1);
        buf_add_csv(out, record->job->name);
        buf_add_char(out, ',');
        buf_add_csv(out, engine_records_account_name(engine, record->account));
        buf_addf(out, ",%s,%u", query_pool_name(engine_core(engine), record->pool),
                 record->instance_count);
        csv_milli(out, record->slots_milli);
        csv_time(out, record->submitted_ms);
        csv_time(out, record->started_ms);
        csv_time(out, record->ended_ms);
        csv_time(out, started ? waited_ms : NOT_YET);
        buf_addf(out, ",%s,%s,%d,%u,%u,%u", state_text(engine, i), names_end_cause(record->cause),
                 record->exit_code, record->evictions, record->losses, record->failures);
        csv_milli(out, (int64_t)(record->work_lost / 1000));
        csv_time(out, started ? waited_ms - first_ms : NOT_YET);
        buf_add_char(out, '\n');
    }
}
