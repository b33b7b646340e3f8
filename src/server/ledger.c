/* ledger.c - see ledger.h and docs/dev/adr/0006-one-loop-held-effects.md.
 *
 * L1 a fact is applied in the order in which it will be stored, and once;
 * L2 nothing that rests on a fact leaves the process before the commit of the fact has succeeded;
 * L3 at most one commit is under way;
 * L4 after a failed commit memory is never shown again: the core is rebuilt from disk.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "server/ledger.h"

#include "base/log.h"
#include "server/archive.h"
#include "server/crash.h"

enum {
    FACT_BYTES_MAX = 64 * 1024 * 1024, /* one encoded fact */
    RETRY_MS_MIN = 100,
    RETRY_MS_MAX = 5000,
    /* How many facts, bytes and requests may wait for the disk before a request of a class is
     * refused. */
    FACTS_WAITING_SUBMIT_MAX = 200000,
    FACTS_WAITING_READ_MAX = 400000,
    HOLDS_SUBMIT_MAX = 2048,
    HOLDS_READ_MAX = 3072,
    BYTES_WAITING_SUBMIT_MAX = 128 * 1024 * 1024,
    BYTES_WAITING_MAX = 512 * 1024 * 1024,
};

struct ledger {
    struct loop *loop;
    struct core *core;
    struct store_thread *store;
    struct ledger_hooks hooks;
    enum ledger_state state;
    struct error failure; /* why the ledger is not open */
    bool probing;
    int64_t retry_ms;
    struct loop_timer *retry;
    int64_t base_ms; /* recorded time at boot time base_boot_ms */
    int64_t base_boot_ms;
    struct batch *gather;
    struct batch *flight; /* the batch that the store thread has; NULL: the store thread is idle */
    struct batch *spare;
    struct parked_list readers; /* requests that wait for the core to be rebuilt */
    struct buf scratch;
    struct arena stored; /* of the fact that was read back last */
    struct effects effects;
    size_t holds;
    uint64_t seq_committed;
    uint64_t commits;
    uint64_t commit_failures;
    uint64_t commit_us_total;
    uint64_t logs_refused;
};

static void retry_due(void *ctx);

struct ledger *ledger_new(struct loop *loop, struct core *core, int64_t wall_ms,
                          const struct ledger_hooks *hooks)
{
    struct ledger *ledger = xcalloc(1, sizeof *ledger);
    ledger->loop = loop;
    ledger->core = core;
    ledger->hooks = *hooks;
    /* Time never goes backwards, also over restarts, and never stands still. When the wall clock is
     * behind the last recorded time, time goes on from the recorded time at its own pace. */
    ledger->base_ms = wall_ms > query_time_ms(core) ? wall_ms : query_time_ms(core);
    ledger->base_boot_ms = loop_now_again_ms(loop); /* reading the state may have taken long */
    ledger->gather = batch_new();
    ledger->spare = batch_new();
    TAILQ_INIT(&ledger->readers);
    ledger->retry = loop_timer_new(loop, retry_due, ledger);
    ledger->retry_ms = RETRY_MS_MIN;
    ledger->seq_committed = query_seq(core);
    buf_init(&ledger->scratch, FACT_BYTES_MAX);
    arena_init(&ledger->stored);
    return ledger;
}

void ledger_attach(struct ledger *ledger, struct store_thread *store)
{
    ledger->store = store;
}

/* Calls every hold in the list with the outcome. A callback may hold again: the new hold goes to a
 * newer batch, so this list only shrinks. */
static void holds_release(struct ledger *ledger, struct parked_list *holds,
                          const struct error *failure)
{
    struct parked_answer *hold;
    while ((hold = TAILQ_FIRST(holds)) != NULL) {
        TAILQ_REMOVE(holds, hold, link);
        hold->list = NULL;
        ledger->holds--;
        hold->fn(hold, failure);
    }
}

void ledger_free(struct ledger *ledger)
{
    if (ledger == NULL) {
        return;
    }
    struct error stopping;
    (void)fail(&stopping, ERR_BUSY, "the server is stopping");
    if (ledger->flight != NULL) {
        holds_release(ledger, &ledger->flight->holds, &stopping);
    }
    holds_release(ledger, &ledger->gather->holds, &stopping);
    holds_release(ledger, &ledger->readers, &stopping);
    batch_free(ledger->flight);
    batch_free(ledger->gather);
    batch_free(ledger->spare);
    loop_timer_free(ledger->retry);
    effect_done(&ledger->effects);
    buf_done(&ledger->scratch);
    arena_done(&ledger->stored);
    core_free(ledger->core);
    free(ledger);
}

enum ledger_state ledger_state(const struct ledger *ledger)
{
    return ledger->state;
}

const struct core *ledger_core(const struct ledger *ledger)
{
    return ledger->core;
}

int64_t ledger_now_ms(const struct ledger *ledger)
{
    int64_t now = ledger->base_ms + (loop_now_ms(ledger->loop) - ledger->base_boot_ms);
    int64_t last = ledger->core != NULL ? query_time_ms(ledger->core) : 0;
    return now > last ? now : last;
}

int64_t ledger_boot_ms(const struct ledger *ledger, int64_t time_ms)
{
    return ledger->base_boot_ms + (time_ms - ledger->base_ms);
}

enum err ledger_writable(const struct ledger *ledger, struct error *e)
{
    if (ledger->state == LEDGER_OPEN) {
        return ERR_OK;
    }
    return fail(e, ERR_BUSY, "nothing can be changed now: %s", ledger->failure.text);
}

size_t ledger_facts_waiting(const struct ledger *ledger)
{
    size_t in_flight = ledger->flight != NULL ? ledger->flight->facts.count : 0;
    return ledger->gather->facts.count + in_flight;
}

enum err ledger_room(const struct ledger *ledger, enum room_class class, struct error *e)
{
    size_t bytes = ledger->gather->bytes + (ledger->flight != NULL ? ledger->flight->bytes : 0);
    size_t facts = ledger_facts_waiting(ledger);
    bool full = bytes >= BYTES_WAITING_MAX;
    if (class == ROOM_SUBMIT) {
        full = full || bytes >= BYTES_WAITING_SUBMIT_MAX || facts >= FACTS_WAITING_SUBMIT_MAX ||
               ledger->holds >= HOLDS_SUBMIT_MAX;
    } else if (class == ROOM_READ) {
        full = full || facts >= FACTS_WAITING_READ_MAX || ledger->holds >= HOLDS_READ_MAX;
    }
    if (full) {
        return fail(e, ERR_BUSY, "%zu changes and %zu requests wait for the disk; try again", facts,
                    ledger->holds);
    }
    return ERR_OK;
}

#ifdef WEIR_CHECKED
/* What was read back is written as the same bytes. */
static void check_coding(struct str bytes, const struct fact *stored)
{
    struct buf twice;
    buf_init(&twice, FACT_BYTES_MAX);
    fact_encode(stored, &twice);
    must(str_equal(bytes, (struct str){twice.data, twice.len}));
    buf_done(&twice);
}
#endif

/* The fact as a restart will read it. It is this one that is applied: a fact that cannot be read back
 * or applied never reaches the disk, and what memory has is what the disk will say. Costs a
 * microsecond for all facts of a task together. */
static void fact_read_back(struct ledger *ledger, const struct fact *fact, struct fact *ret)
{
    struct error e;
    buf_clear(&ledger->scratch);
    fact_encode(fact, &ledger->scratch);
    must(!ledger->scratch.full);
    struct str bytes = {ledger->scratch.data, ledger->scratch.len};
    arena_clear(&ledger->stored);
    must(fact_decode(bytes, &ledger->stored, ret, &e) == ERR_OK);
#ifdef WEIR_CHECKED
    check_coding(bytes, ret);
#endif
}

static void fact_take(struct ledger *ledger, const struct fact *decided)
{
    struct fact stored;
    fact_read_back(ledger, decided, &stored);
    const struct fact *fact = &stored;
    if (fact->type == FACT_TASK_KILL_ASKED || fact->type == FACT_TASK_ENDED) {
        archive_waits_end(ledger->core, fact, ledger->gather);
    }
    core_apply(ledger->core, fact);
    batch_fact(ledger->gather, &(struct store_fact){
                                   .seq = query_seq(ledger->core),
                                   .time_ms = fact->time_ms,
                                   .type = (uint32_t)fact->type,
                                   .body = {ledger->scratch.data, ledger->scratch.len},
                               });
    if (fact->type == FACT_ATTEMPT_ENDED) {
        archive_attempt(ledger->core, fact, ledger->gather);
    }
    ledger->effects.count = 0;
    core_react(ledger->core, fact, &ledger->effects);
    for (size_t i = 0; i < ledger->effects.count; i++) {
        const struct effect *effect = &ledger->effects.at[i];
        if (effect->type == EFFECT_ARCHIVE) {
            archive_task(ledger->core, effect->key.task, ledger->gather);
        } else {
            vec_push(&ledger->gather->effects, *effect);
        }
    }
}

enum verdict ledger_input(struct ledger *ledger, struct input *in, struct facts *out)
{
    must(ledger->state == LEDGER_OPEN);
    in->now_ms = ledger_now_ms(ledger);
    enum verdict verdict = core_decide(ledger->core, in, out);
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    for (size_t i = 0; i < out->count; i++) {
        fact_take(ledger, &out->at[i]);
    }
#ifdef WEIR_CHECKED
    core_check(ledger->core);
#endif
    return VERDICT_OK;
}

void ledger_pass_idle(struct ledger *ledger, pool_id pool)
{
    core_pass_idle(ledger->core, pool);
}

void ledger_log(struct ledger *ledger, const struct store_log *log)
{
    batch_log(ledger->gather, log);
}

void ledger_token(struct ledger *ledger, const struct store_token *token)
{
    vec_push(&ledger->gather->tokens, *token);
}

void ledger_forget(struct ledger *ledger, task_id task)
{
    vec_push(&ledger->gather->forgotten, task.v);
}

static void hold_in(struct ledger *ledger, struct parked_list *list, struct parked_answer *hold)
{
    hold->list = list;
    TAILQ_INSERT_TAIL(list, hold, link);
    ledger->holds++;
}

void ledger_hold(struct ledger *ledger, struct parked_answer *hold)
{
    must(hold->list == NULL);
    struct batch *batch = batch_empty(ledger->gather) ? ledger->flight : ledger->gather;
    if (batch == NULL) {
        hold->fn(hold, NULL);
        return;
    }
    hold_in(ledger, &batch->holds, hold);
}

void ledger_await_core(struct ledger *ledger, struct parked_answer *hold)
{
    must(ledger->state == LEDGER_REBUILDING && hold->list == NULL);
    hold_in(ledger, &ledger->readers, hold);
}

void ledger_unhold(struct ledger *ledger, struct parked_answer *hold)
{
    if (hold->list != NULL) {
        TAILQ_REMOVE(hold->list, hold, link);
        hold->list = NULL;
        ledger->holds--;
    }
}

static void job_send(struct ledger *ledger, enum store_job_kind kind, struct batch *batch)
{
    struct store_job *job = xcalloc(1, sizeof *job);
    job->kind = kind;
    job->batch = batch;
    store_thread_do(ledger->store, job);
}

void ledger_hand_over(struct ledger *ledger)
{
    if (ledger->flight != NULL || batch_empty(ledger->gather)) {
        return;
    }
    crash_point_submit("decide-before-commit", ledger->gather);
    ledger->flight = ledger->gather;
    ledger->gather = ledger->spare != NULL ? steal(ledger->spare) : batch_new();
    job_send(ledger, STORE_COMMIT, ledger->flight);
}

bool ledger_quiet(const struct ledger *ledger)
{
    return ledger->flight == NULL && batch_empty(ledger->gather);
}

/* L4: drops the core with its facts that were never stored, and rebuilds the core from disk. */
static void fall_back(struct ledger *ledger, struct batch *failed, const struct error *why)
{
    ledger->commit_failures++;
    ledger->failure = *why;
    log_error("commit failed, the state is read again from disk", kv_error(why));
    ledger->state = LEDGER_REBUILDING;
    core_free(ledger->core);
    ledger->core = NULL;
    struct error told;
    (void)fail(&told, ERR_BUSY, "the change could not be stored: %s", why->text);
    holds_release(ledger, &failed->holds, &told);
    batch_clear(failed);
    holds_release(ledger, &ledger->gather->holds, &told);
    batch_clear(ledger->gather);
    job_send(ledger, STORE_REBUILD, NULL);
}

static void retry_later(struct ledger *ledger)
{
    loop_timer_set(ledger->retry, loop_now_ms(ledger->loop) + ledger->retry_ms);
    ledger->retry_ms = ledger->retry_ms * 2 < RETRY_MS_MAX ? ledger->retry_ms * 2 : RETRY_MS_MAX;
}

static void retry_due(void *ctx)
{
    struct ledger *ledger = ctx;
    if (ledger->state == LEDGER_REBUILDING) {
        job_send(ledger, STORE_REBUILD, NULL);
        return;
    }
    must(ledger->state == LEDGER_READ_ONLY);
    struct store_token token;
    ledger->hooks.probe(ledger->hooks.ctx, &token);
    ledger->probing = true;
    ledger_token(ledger, &token);
    ledger_hand_over(ledger);
}

static void rebuilt(struct ledger *ledger, const struct store_job *job)
{
    must(ledger->state == LEDGER_REBUILDING);
    if (job->err != ERR_OK) {
        ledger->failure = job->error;
        log_warn("the state cannot be read, trying again", kv_error(&job->error));
        struct error told;
        (void)fail(&told, ERR_BUSY, "the state cannot be read: %s", ledger->failure.text);
        holds_release(ledger, &ledger->readers, &told);
    } else {
        ledger->core = job->core;
        ledger->seq_committed = query_seq(job->core);
        ledger->state = LEDGER_READ_ONLY;
        holds_release(ledger, &ledger->readers, NULL);
    }
    retry_later(ledger);
}

static void probed(struct ledger *ledger, const struct store_job *job)
{
    ledger->probing = false;
    if (job->err != ERR_OK) {
        ledger->failure = job->error;
        retry_later(ledger);
        return;
    }
    ledger->state = LEDGER_OPEN;
    ledger->retry_ms = RETRY_MS_MIN;
    log_info("the disk takes writes again");
    ledger->hooks.healed(ledger->hooks.ctx);
}

static void committed(struct ledger *ledger, struct batch *batch, const struct store_job *job)
{
    if (batch->facts.count > 0) {
        ledger->seq_committed = batch->facts.at[batch->facts.count - 1].seq;
    }
    ledger->commits++;
    ledger->commit_us_total += (uint64_t)job->spent_us;
    crash_point_submit("commit-before-answer", batch);
    holds_release(ledger, &batch->holds, NULL);
    crash_point_order("commit-before-order", batch);
    ledger->hooks.committed(ledger->hooks.ctx, batch);
}

void ledger_job_done(struct ledger *ledger, struct store_job *job)
{
    if (job->kind == STORE_REBUILD) {
        rebuilt(ledger, job);
        free(job);
        return;
    }
    must(job->kind == STORE_COMMIT);
    must(job->batch == ledger->flight);
    struct batch *batch = ledger->flight;
    ledger->flight = NULL;
    ledger->logs_refused += job->aside;
    if (ledger->probing) {
        holds_release(ledger, &batch->holds, NULL);
        probed(ledger, job);
    } else if (job->err == ERR_OK) {
        committed(ledger, batch, job);
    } else {
        fall_back(ledger, batch, &job->error);
    }
    batch_clear(batch);
    if (ledger->spare == NULL) {
        ledger->spare = batch;
    } else {
        batch_free(batch);
    }
    free(job);
}

uint64_t ledger_seq_committed(const struct ledger *ledger)
{
    return ledger->seq_committed;
}

void ledger_numbers(const struct ledger *ledger, struct host_numbers *ret)
{
    ret->seq_committed = ledger->seq_committed;
    ret->commits = ledger->commits;
    ret->commit_failures = ledger->commit_failures;
    ret->commit_us_total = ledger->commit_us_total;
    ret->logs_refused = ledger->logs_refused;
    ret->facts_waiting = ledger_facts_waiting(ledger);
    ret->holds_waiting = ledger->holds;
}
