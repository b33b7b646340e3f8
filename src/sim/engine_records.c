/* engine_records.c - the records of jobs: what has become of each job, updated by the facts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/instance.h"
#include "sim/engine_internal.h"

struct job_record *engine_records_of(struct engine *engine, task_id task)
{
    must(task.v > 0);
    must(task.v <= engine->records.count);
    return &engine->records.at[task.v - 1];
}

struct run *engine_records_run(struct engine *engine, const struct attempt_key *key)
{
    struct job_record *record = engine_records_of(engine, key->task);
    must(record->runs != NULL);
    must(key->index < record->instance_count);
    return &record->runs[key->index];
}

static uint32_t account_of(struct engine *engine, const char *project)
{
    const size_t len = strlen(project);
    struct account_name *known = map_get(engine->account_index, project, len);
    if (known == NULL) {
        known = arena_new(&engine->arena, struct account_name, 1);
        known->name = arena_str(&engine->arena, project);
        known->index = (uint32_t)engine->accounts.count;
        (void)map_put(engine->account_index, project, len, known);
        vec_push(&engine->accounts, known->name);
    }
    return known->index;
}

static void submitted(struct engine *engine, const struct fact *fact)
{
    must(fact->task_submitted.task.v == engine->records.count + 1);
    must(engine->batch_next < engine->batch.count);
    const struct job *job = engine->batch.at[engine->batch_next++];
    /* The spec as the core accepted it: a wide task has been divided over several nodes. */
    const struct task_spec *spec = fact->task_submitted.spec;
    struct job_record record = {
        .job = job,
        .runs = xcalloc(spec->instances, sizeof *record.runs),
        .submitted_ms = engine_now_ms(engine),
        .started_ms = NOT_YET,
        .ended_ms = NOT_YET,
        .stopped_ms = engine_now_ms(engine),
        .slots_milli = fact->task_submitted.request->slots_milli * spec->instances,
        .instance_count = spec->instances,
        .account = account_of(engine, spec->project),
        .state = TASK_PENDING,
        .pool = fact->task_submitted.pool,
    };
    vec_push(&engine->records, record);
    engine->live_tasks++;
    if (engine->scenario->names_needed && job->name[0] != '\0') {
        (void)map_put(engine->tasks_named, job->name, strlen(job->name),
                      (void *)(uintptr_t)fact->task_submitted.task.v);
    }
}

static void allocated(struct engine *engine, const struct fact *fact)
{
    struct run *run = engine_records_run(engine, &fact->allocated.key);
    must(run->step == RUN_NONE);
    run->slots_milli = fact->allocated.slots_milli;
    run->started_ms = NOT_YET;
    run->lost_ms = 0;
    run->running = false;
}

/* Ends the wait of a task that waits. */
static void wait_end(const struct engine *engine, struct job_record *record)
{
    if (record->stopped_ms != NOT_YET) {
        record->waited_ms += engine_now_ms(engine) - record->stopped_ms;
        record->stopped_ms = NOT_YET;
    }
}

static void attempt_started(struct engine *engine, const struct fact *fact)
{
    struct job_record *record = engine_records_of(engine, fact->attempt_started.key.task);
    struct run *run = engine_records_run(engine, &fact->attempt_started.key);
    if (run->running) {
        return;
    }
    run->running = true;
    record->running_count++;
    record->started_ms = record->started_ms == NOT_YET ? engine_now_ms(engine) : record->started_ms;
    wait_end(engine, record);
}

static void running_end(const struct engine *engine, struct job_record *record, struct run *run)
{
    if (run->running) {
        must(record->running_count > 0);
        run->running = false;
        record->running_count--;
        record->stopped_ms = record->running_count == 0 ? engine_now_ms(engine) : NOT_YET;
    }
}

/* Counts the work of an interrupted attempt. Work since the last checkpoint that the core knows
 * is lost, earlier work is kept. */
static void interrupted(struct engine *engine, struct job_record *record, struct run *run)
{
    if (run->started_ms == NOT_YET) {
        return;
    }
    const struct instance *instance = query_instance(engine->core, run->key.task, run->key.index);
    const int64_t done_ms = engine->now_ms - run->started_ms;
    const int64_t kept_ms =
        instance->checkpoint_ms > 0 ? instance->checkpoint_ms - run->started_ms : 0;
    run->saved_ms += kept_ms;
    run->lost_ms = done_ms - kept_ms;
    record->work_lost += (__int128)run->slots_milli * run->lost_ms;
}

static void attempt_ended(struct engine *engine, const struct fact *fact)
{
    struct job_record *record = engine_records_of(engine, fact->attempt_ended.report.key.task);
    struct run *run = engine_records_run(engine, &fact->attempt_ended.report.key);
    const enum end_cause cause = fact->attempt_ended.cause;
    record->evictions += cause == END_PREEMPTED;
    record->losses += instance_lost(cause) || cause == END_LOSSES;
    record->failures += cause == END_EXIT && fact->attempt_ended.report.exit_code != 0;
    running_end(engine, record, run);
    if (fact->attempt_ended.again) {
        interrupted(engine, record, run);
    }
}

static void task_ended(struct engine *engine, const struct fact *fact)
{
    struct job_record *record = engine_records_of(engine, fact->task_ended.task);
    record->ended_ms = engine_now_ms(engine);
    wait_end(engine, record);
    record->state = fact->task_ended.state;
    record->cause = fact->task_ended.cause;
    record->exit_code = fact->task_ended.exit_code;
    engine->live_tasks--;
}

void engine_records_fact(struct engine *engine, const struct fact *fact)
{
    /* Facts of other types change no record. */
    if (fact->type == FACT_TASK_SUBMITTED) {
        submitted(engine, fact);
    } else if (fact->type == FACT_ALLOCATED) {
        allocated(engine, fact);
    } else if (fact->type == FACT_ATTEMPT_STARTED) {
        attempt_started(engine, fact);
    } else if (fact->type == FACT_ATTEMPT_ENDED) {
        attempt_ended(engine, fact);
    } else if (fact->type == FACT_TASK_ENDED) {
        task_ended(engine, fact);
    }
}

void engine_records_fact_end(struct engine *engine, const struct fact *fact)
{
    if (fact->type == FACT_ATTEMPT_ENDED) {
        engine_agents_forget(engine, engine_records_run(engine, &fact->attempt_ended.report.key));
    } else if (fact->type == FACT_TASK_ENDED) {
        struct job_record *record = engine_records_of(engine, fact->task_ended.task);
        free(steal(record->runs));
    }
}

/* ---- queries ---- */

const struct job_record *engine_records(const struct engine *engine, size_t *ret_count)
{
    *ret_count = engine->records.count;
    return engine->records.at;
}

const struct job_record *engine_records_at(const struct engine *engine, task_id task)
{
    must(task.v > 0);
    return task.v <= engine->records.count ? &engine->records.at[task.v - 1] : NULL;
}

int64_t engine_records_waited(const struct engine *engine, const struct job_record *record)
{
    const bool waits = record->ended_ms == NOT_YET && record->stopped_ms != NOT_YET;
    return record->waited_ms + (waits ? engine_now_ms(engine) - record->stopped_ms : 0);
}

struct held engine_records_held(const struct engine *engine, const struct attempt_key *key)
{
    const struct job_record *record = engine_records_at(engine, key->task);
    must(record != NULL);
    must(record->runs != NULL);
    const struct run *run = &record->runs[key->index];
    const int64_t started_ms =
        run->started_ms == NOT_YET ? NOT_YET : run->started_ms - engine->epoch_ms;
    return (struct held){run->slots_milli, engine->nodes.at[run->node]->id, started_ms,
                         run->lost_ms};
}

const char *engine_records_account_name(const struct engine *engine, uint32_t account)
{
    return account < engine->accounts.count ? engine->accounts.at[account] : NULL;
}
