/* laws.c - see laws.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "laws.h"

#include "base/map.h"
#include "core/sched/explain/owed.h"
#include "oracle.h"
#include "law.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* For the message on abort: a broken law or must() ends the program. */
static const struct engine *engine_now;

static void on_abort(int signal_number)
{
    char line[128];
    (void)signal_number;
    const int len = snprintf(line, sizeof line, "in step %" PRIu64 ", at %" PRId64 " ms\n",
                             engine_counts(engine_now).events, engine_now_ms(engine_now));
    (void)!write(STDERR_FILENO, line, len > 0 ? (size_t)len : 0);
}

void laws_init(struct laws *laws, uint64_t rows_a_step)
{
    *laws = (struct laws){.rows_a_step = rows_a_step, .taken = map_new()};
    ledger_init(&laws->ledger);
    oracle_budgets_init(&laws->budgets);
    laws_wait_init(&laws->wait);
    arena_init(&laws->arena);
    (void)signal(SIGABRT, on_abort);
}

void laws_done(struct laws *laws)
{
    ledger_done(&laws->ledger);
    oracle_budgets_done(&laws->budgets);
    laws_wait_done(&laws->wait);
    arena_done(&laws->arena);
    map_free(laws->taken);
}

/* ---- how often ---- */

static uint64_t rows_of(const struct core *core)
{
    uint64_t rows = 0;
    for (const struct pool *pool = query_pool_next(core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(core, pool->id)) {
        rows += pool->task_count + pool->node_count;
    }
    return rows;
}

/* The cost of one row in these checks, compared with a row in the check of a pool at rest. */
enum { STATE_COST = 16, WHY_COST = 16 };

/* True when enough credit has been gathered for this check. */
static bool affords(const struct laws *laws, struct laws_credit *credit, uint64_t rows)
{
    credit->rows += laws->rows_a_step;
    const bool now = laws->rows_a_step == 0 || credit->rows >= rows;
    credit->rows = now ? 0 : credit->rows;
    credit->count += now;
    credit->left_out += !now;
    return now;
}

/* ---- inputs ---- */

static void submitted_check(struct laws *laws, const struct core *core, const struct fact *fact)
{
    const struct task_spec *spec = fact->task_submitted.spec;
    const uint32_t least = spec->min_instances > 0 ? spec->min_instances : spec->instances;
    law(spec->group_count > 0 ||
            oracle_possible(core, fact->task_submitted.pool, fact->task_submitted.request,
                            spec->gang ? least : 1),
        "P9: what can never run is refused");
    oracle_groups_possible(core, fact);
    oracle_form_possible(core, fact);
    laws->submitted++;
}

/* True when the fact only carries out what the core has ordered. */
static bool follows(const struct fact *fact)
{
    return fact->type == FACT_ATTEMPT_STARTED ||
           (fact->type == FACT_ATTEMPT_ENDED && fact->attempt_ended.cause == END_PREEMPTED);
}

static void news_count(struct laws *laws, const struct input *in, const struct facts *facts)
{
    bool own = true;
    for (size_t i = 0; i < facts->count; i++) {
        own = own && follows(&facts->at[i]);
    }
    laws->news += in->type != INPUT_PASS && !own;
}

/* ---- decisions ---- */

/* P6: if a victim left for a claimant, the claimant must not leave for the victim before
 * something new has come from outside. */
static void taken_note(struct laws *laws, task_id victim, task_id claimant)
{
    const uint64_t key[2] = {victim.v, claimant.v};
    const uint64_t turned[2] = {claimant.v, victim.v};
    const uintptr_t before = (uintptr_t)map_get(laws->taken, turned, sizeof turned);
    law(before != laws->news + 1, "P6: no two evict each other in turn");
    (void)map_put(laws->taken, key, sizeof key, (void *)(uintptr_t)(laws->news + 1));
}

static void fact_check(struct laws *laws, const struct core *core, const struct fact *fact)
{
    if (fact->type == FACT_ALLOCATED) {
        oracle_not_over_listed(core, fact->allocated.key);
        oracle_limits_summed(core, fact->allocated.key);
        laws->starts++;
    } else if (fact->type == FACT_EVICTED) {
        taken_note(laws, fact->evicted.key.task, fact->evicted.why.claimant);
        laws->evictions++;
    } else if (fact->type == FACT_TASK_SUBMITTED) {
        submitted_check(laws, core, fact);
    }
}

/* ---- a pool at rest ---- */

static bool pass_complete(const struct facts *facts)
{
    return facts->count == 0 || facts->at[facts->count - 1].type != FACT_PASS ||
           facts->at[facts->count - 1].pass.complete;
}

/* P6: the same pass once more decides nothing. */
static void pass_again(struct laws *laws, const struct core *core, const struct input *in)
{
    struct facts facts;
    arena_clear(&laws->arena);
    fact_list_init(&facts, &laws->arena);
    law(core_decide(core, in, &facts) == VERDICT_OK, "a pass is never refused");
    law(facts.count == 0, "P6: a pool at rest stays there");
}

/* P4: no project with a quota that was set waits for amounts that others hold beyond theirs. A
 * project whose guarantee is computed may wait: it is the rest of the pool, and places may be
 * kept for a task ahead. */
static void owed_check(struct laws *laws, const struct core *core, const struct input *in)
{
    const struct pool *pool = query_pool(core, in->pass.pool);
    const struct owed *owed;
    size_t count = 0;
    arena_clear(&laws->arena);
    if (pool->policy == POLICY_FAIR_SHARE && !pool->preemption_off && !pool->paused) {
        count = owed_find(core, pool->id, in->now_ms, &laws->arena, &owed);
    }
    for (size_t i = 0; i < count; i++) {
        law(query_quota_computed(core, owed[i].account, pool->id, (resource_id){RESOURCE_SLOTS}),
            "P4: nobody is owed what others hold beyond theirs");
    }
}

static void rest_check(struct laws *laws, const struct core *core, const struct input *in)
{
    const pool_id id = in->pass.pool;
    if (!affords(laws, &laws->rest, rows_of(core))) {
        return;
    }
    ledger_take(&laws->ledger, core);
    oracle_nothing_idles(&laws->ledger, id, in->now_ms);
    oracle_budgets_rest(&laws->budgets, &laws->ledger, id, in->now_ms);
    if (laws->rows_a_step == 0) {
        laws_wait_rest(&laws->wait, &laws->ledger, id, in->now_ms);
    }
    pass_again(laws, core, in);
    owed_check(laws, core, in);
    if (affords(laws, &laws->why, WHY_COST * rows_of(core))) {
        oracle_reasons(core, id);
        if (laws->rows_a_step == 0) {
            record_state(&laws->record, core);
        }
    }
}

/* ---- the run ---- */

static void step(void *ctx, const struct engine *engine, const struct input *in,
                 const struct facts *facts)
{
    struct laws *laws = ctx;
    const struct core *core = engine_core(engine);
    engine_now = engine;
    laws->steps++;
    laws->now_ms = in->now_ms;
    laws->record.visited += facts->visited;
    news_count(laws, in, facts);
    for (size_t i = 0; i < facts->count; i++) {
        fact_check(laws, core, &facts->at[i]);
    }
    oracle_evictions(&laws->ledger, core, facts);
    oracle_floors(&laws->ledger, core, facts);
    oracle_starts_last(core, facts, in->now_ms);
    oracle_budgets_step(&laws->budgets, &laws->ledger, core, in, facts);
    if (in->type == INPUT_PASS) {
        oracle_gangs_whole(core, facts);
        oracle_form_together(core, facts);
        if (pass_complete(facts)) {
            rest_check(laws, core, in);
        }
    }
    if (affords(laws, &laws->state, STATE_COST * rows_of(core))) {
        core_check(core);
    }
}

static void refused(void *ctx, const struct engine *engine, const struct refusal *refusal)
{
    struct laws *laws = ctx;
    engine_now = engine;
    law(refusal->reason.code >= REASON_UNKNOWN_POOL, "P8: a refusal says what binds");
    laws->refused++;
}

static void ended(void *ctx, const struct engine *engine, const struct fact *fact)
{
    struct laws *laws = ctx;
    if (fact->type == FACT_ATTEMPT_ENDED) {
        const struct held held = engine_records_held(engine, &fact->attempt_ended.report.key);
        if (held.started_ms >= 0) {
            laws_wait_ran(&laws->wait, engine_now_ms(engine) - held.started_ms);
        }
    }
}

/* Called when deadlines have been looked at. */
static void instant(void *ctx, const struct engine *engine, int64_t next_ms)
{
    const struct laws *laws = ctx;
    (void)next_ms;
    oracle_gangs_in_time(engine_core(engine), laws->now_ms);
}

struct watcher laws_watcher(struct laws *laws)
{
    return (struct watcher){
        .ctx = laws, .fact = ended, .step = step, .refused = refused, .instant = instant};
}

static uint64_t percent(const struct laws_credit *credit)
{
    const uint64_t all = credit->count + credit->left_out;
    return all == 0 ? 100 : credit->count * 100 / all;
}

void laws_say(const struct laws *laws)
{
    printf("%" PRIu64 " steps: %" PRIu64 " starts, %" PRIu64 " evictions (%" PRIu64
           " of them paid by the loss budget), %" PRIu64 " submissions, %" PRIu64
           " refusals; the state %" PRIu64 " times (%" PRIu64 " %%), pools at rest %" PRIu64
           " times (%" PRIu64 " %%), the idle budget paid after %" PRIu64
           " of them, reasons %" PRIu64 " times, %" PRIu64 " waits, the longest %" PRIu64
           " thousandths of its bound: all laws held\n",
           laws->steps, laws->starts, laws->evictions, laws->budgets.judged, laws->submitted,
           laws->refused, laws->state.count, percent(&laws->state), laws->rest.count,
           percent(&laws->rest), laws->budgets.paying, laws->why.count, laws->wait.count,
           laws->wait.most);
    printf("decided %06" PRIx32 "\n", record_number(&laws->record));
}
