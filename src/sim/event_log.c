/* event_log.c - see event_log.h. A line has the time, what happened, and to which object.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/event_log.h"

#include "base/amount.h"
#include "base/map.h"
#include "core/sched/explain/explain.h"
#include "wire/reason_text.h"

enum { TIME_WIDTH = 10, WHAT_WIDTH = 10, SENTENCE_MAX = 4096 };

/* The reservations of a pool that the log has shown. */
struct kept {
    pool_id pool;
    uint32_t count;
    task_id at[RESERVATIONS_MAX];
};

struct event_log {
    VEC(struct kept) kept;
    struct buf *out;
    bool why;
    struct map *sentences;  /* every sentence so far -> itself, so that each exists once */
    VEC(const char *) said; /* task id -> the last sentence; NULL: none yet */
    struct map *of_group;   /* struct explain_group -> its sentence at this moment */
    struct arena arena;
};

struct event_log *event_log_new(struct buf *out, bool why)
{
    struct event_log *event_log = xcalloc(1, sizeof *event_log);
    event_log->out = out;
    event_log->why = why;
    event_log->sentences = map_new();
    arena_init(&event_log->arena);
    return event_log;
}

void event_log_free(struct event_log *event_log)
{
    if (event_log != NULL) {
        map_free(event_log->sentences);
        vec_done(&event_log->said);
        vec_done(&event_log->kept);
        arena_done(&event_log->arena);
        free(event_log);
    }
}

void event_log_freep(struct event_log **event_log)
{
    event_log_free(*event_log);
}

/* ---- pieces of a line ---- */

static void line(struct event_log *event_log, const struct engine *engine, const char *what)
{
    char at[AMOUNT_TEXT_MAX];
    amount_duration_text(engine_now_ms(engine), at);
    buf_addf(event_log->out, "%*s  %-*s ", TIME_WIDTH, at, WHAT_WIDTH, what);
}

static void task_text(struct event_log *event_log, const struct engine *engine, task_id task)
{
    const struct job_record *record = engine_records_at(engine, task);
    buf_addf(event_log->out, "%llu", (unsigned long long)task.v);
    if (record != NULL && record->job->name[0] != '\0') {
        buf_addf(event_log->out, " %s", record->job->name);
    }
}

static void attempt_text(struct event_log *event_log, const struct engine *engine,
                         const struct attempt_key *key)
{
    const struct job_record *record = engine_records_at(engine, key->task);
    buf_addf(event_log->out, "%llu", (unsigned long long)key->task.v);
    if (record->instance_count > 1) {
        buf_addf(event_log->out, ".%u", key->index);
    }
    if (key->attempt > 1) {
        buf_addf(event_log->out, ":%u", key->attempt);
    }
    if (record->job->name[0] != '\0') {
        buf_addf(event_log->out, " %s", record->job->name);
    }
}

static void devices_text(struct event_log *event_log, uint64_t devices)
{
    const char *before = " gpu ";
    for (unsigned i = 0; i < NODE_DEVICES_MAX; i++) {
        if (devices >> i & 1) {
            buf_addf(event_log->out, "%s%u", before, i);
            before = ",";
        }
    }
}

/* ---- facts ---- */

/* Writes "4 x 1 slot, 2 foo". */
static void request_text(struct event_log *event_log, const struct engine *engine, uint32_t count,
                         const struct request *request)
{
    const struct core *core = engine_core(engine);
    if (count > 1) {
        buf_addf(event_log->out, "%u x ", count);
    }
    if (!request_by_memory(request)) {
        reason_text_amount(core, (resource_id){RESOURCE_SLOTS}, request->slots_milli,
                           event_log->out);
    }
    if (request->gpu_memory_bytes > 0) {
        buf_add_str(event_log->out, request_by_memory(request) ? "" : ", ");
        reason_text_amount(core, (resource_id){RESOURCE_GPU_MEMORY}, request->gpu_memory_bytes,
                           event_log->out);
        if (request->share_devices > 1) {
            buf_addf(event_log->out, " of each of %u devices", request->share_devices);
        }
    }
    for (uint32_t i = 0; i < request->named_count; i++) {
        buf_add_str(event_log->out, ", ");
        reason_text_amount(core, request->named[i].resource, request->named[i].milli,
                           event_log->out);
    }
}

static void submitted(struct event_log *event_log, const struct engine *engine,
                      const struct fact *fact)
{
    const struct job_record *record = engine_records_at(engine, fact->task_submitted.task);
    const struct form *form = fact->task_submitted.form;
    line(event_log, engine, "submitted");
    task_text(event_log, engine, fact->task_submitted.task);
    buf_add_str(event_log->out, ": ");
    if (!form_grouped(form)) {
        request_text(event_log, engine, record->instance_count, fact->task_submitted.request);
    }
    for (uint32_t i = 0; form_grouped(form) && i < form->group_count; i++) {
        const struct form_group *group = &form->groups[i];
        if (group->below == 0) {
            buf_add_str(event_log->out, group->first > 0 ? " + " : "");
            request_text(event_log, engine, group->count, &group->request);
        }
    }
    buf_add_char(event_log->out, '\n');
}

static void attempt_ended(struct event_log *event_log, const struct engine *engine,
                          const struct fact *fact)
{
    const enum end_cause cause = fact->attempt_ended.cause;
    if (!fact->attempt_ended.again && cause == END_EXIT &&
        engine_records_at(engine, fact->attempt_ended.report.key.task)->instance_count == 1) {
        return; /* the end of the task says the same */
    }
    line(event_log, engine, fact->attempt_ended.again ? "requeued" : "ended");
    attempt_text(event_log, engine, &fact->attempt_ended.report.key);
    buf_addf(event_log->out, ": %s", names_end_cause(cause));
    if (cause == END_EXIT) {
        buf_addf(event_log->out, " %d", fact->attempt_ended.report.exit_code);
    }
    buf_add_char(event_log->out, '\n');
}

static void task_ended(struct event_log *event_log, const struct engine *engine,
                       const struct fact *fact)
{
    line(event_log, engine, names_task_state(fact->task_ended.state));
    task_text(event_log, engine, fact->task_ended.task);
    if (fact->task_ended.state != TASK_COMPLETED) {
        buf_addf(event_log->out, ": %s, exit code %d", names_end_cause(fact->task_ended.cause),
                 fact->task_ended.exit_code);
    }
    buf_add_char(event_log->out, '\n');
}

static void node_line(struct event_log *event_log, const struct engine *engine, node_id node,
                      const char *what)
{
    line(event_log, engine, "node");
    buf_addf(event_log->out, "%s: %s\n", query_node_name(engine_core(engine), node), what);
}

static struct kept *kept_of(struct event_log *event_log, pool_id pool)
{
    for (size_t i = 0; i < event_log->kept.count; i++) {
        if (event_log->kept.at[i].pool.v == pool.v) {
            return &event_log->kept.at[i];
        }
    }
    vec_push(&event_log->kept, (struct kept){.pool = pool});
    return &event_log->kept.at[event_log->kept.count - 1];
}

static bool kept_has(const struct kept *kept, task_id task)
{
    for (uint32_t i = 0; i < kept->count; i++) {
        if (kept->at[i].v == task.v) {
            return true;
        }
    }
    return false;
}

static void kept(struct event_log *event_log, const struct engine *engine, const struct fact *fact)
{
    struct kept *before = kept_of(event_log, fact->reserved.pool);
    for (uint32_t i = 0; i < fact->reserved.count; i++) {
        const struct reservation *reservation = &fact->reserved.at[i];
        if (kept_has(before, reservation->task)) {
            continue;
        }
        line(event_log, engine, "keeps");
        buf_add_str(event_log->out, "places for ");
        task_text(event_log, engine, reservation->task);
        if (reservation->until_ms > 0) {
            char until[AMOUNT_TEXT_MAX];
            amount_duration_text(reservation->until_ms - engine_epoch_ms(engine), until);
            buf_addf(event_log->out, ", to start by %s", until);
        }
        buf_add_char(event_log->out, '\n');
    }
    before->count = fact->reserved.count;
    for (uint32_t i = 0; i < before->count; i++) {
        before->at[i] = fact->reserved.at[i].task;
    }
}

static void attempt_line(struct event_log *event_log, const struct engine *engine,
                         const struct fact *fact)
{
    if (fact->type == FACT_ALLOCATED) {
        line(event_log, engine, "starts");
        attempt_text(event_log, engine, &fact->allocated.key);
        buf_addf(event_log->out, " on %s",
                 query_node_name(engine_core(engine), fact->allocated.node));
        devices_text(event_log, fact->allocated.devices);
    } else {
        line(event_log, engine, "stops");
        attempt_text(event_log, engine, &fact->attempt_stopping.key);
        buf_addf(event_log->out, ": %s", names_end_cause(fact->attempt_stopping.cause));
    }
    buf_add_char(event_log->out, '\n');
}

static void evicted(struct event_log *event_log, const struct engine *engine,
                    const struct fact *fact)
{
    line(event_log, engine, "evicted");
    attempt_text(event_log, engine, &fact->evicted.key);
    buf_addf(event_log->out, ": %s", names_eviction_rule(claim_eviction_told(&fact->evicted.why)));
    if (fact->evicted.why.claimant.v != 0) {
        buf_add_str(event_log->out, ", for ");
        task_text(event_log, engine, fact->evicted.why.claimant);
    }
    buf_add_char(event_log->out, '\n');
}

static void node_state(struct event_log *event_log, const struct engine *engine,
                       const struct fact *fact)
{
    const bool joins = engine_now_ms(engine) <= 0 && fact->node_state.state == NODE_UP;
    if (!joins) {
        node_line(event_log, engine, fact->node_state.node,
                  names_node_state(fact->node_state.state));
    }
}

static void node_edited(struct event_log *event_log, const struct engine *engine,
                        const struct fact *fact)
{
    node_line(event_log, engine, fact->node_edited.node,
              fact->node_edited.edit.drain ? "draining" : "resumed");
}

static void task_line(struct event_log *event_log, const struct engine *engine,
                      const struct fact *fact)
{
    const char *what = fact->type == FACT_TASK_QUEUED   ? "queued"
                       : fact->type == FACT_TASK_PAUSED ? "paused"
                                                        : "kill asked";
    line(event_log, engine, what);
    task_text(event_log, engine, fact->task.task);
    buf_add_char(event_log->out, '\n');
}

static void task_edited(struct event_log *event_log, const struct engine *engine,
                        const struct fact *fact)
{
    line(event_log, engine, "edited");
    task_text(event_log, engine, fact->task_edited.task);
    if (fact->task_edited.edit.fields & TASK_EDIT_priority) {
        buf_addf(event_log->out, ": priority %u", fact->task_edited.edit.spec->priority);
    }
    buf_add_char(event_log->out, '\n');
}

static void task_moved(struct event_log *event_log, const struct engine *engine,
                       const struct fact *fact)
{
    line(event_log, engine, "moved");
    task_text(event_log, engine, fact->task_moved.task);
    buf_add_str(event_log->out, fact->task_moved.behind ? ": behind " : ": ahead of ");
    task_text(event_log, engine, fact->task_moved.other);
    buf_add_char(event_log->out, '\n');
}

static void pool_set(struct event_log *event_log, const struct engine *engine,
                     const struct fact *fact)
{
    if (engine_now_ms(engine) > 0) {
        line(event_log, engine, "pool");
        buf_addf(event_log->out, "%s: %s\n", fact->pool_set.spec->name,
                 fact->pool_set.spec->paused ? "paused" : "open");
    }
}

static void account_set(struct event_log *event_log, const struct engine *engine,
                        const struct fact *fact)
{
    const struct account_spec *spec = fact->account_set.spec;
    if (engine_now_ms(engine) > 0) {
        line(event_log, engine, names_account_kind(spec->kind));
        buf_addf(event_log->out, "%s\n", spec->name);
    }
}

static void bound_text(struct event_log *event_log, const struct quota_term *term, int64_t bound)
{
    if (bound == QUOTA_UNLIMITED || bound == QUOTA_UNSET) {
        buf_add_str(event_log->out, bound == QUOTA_UNSET ? "default" : "unlimited");
    } else {
        reason_text_amount_bare(term->resource, bound, event_log->out);
    }
}

static void quota_set(struct event_log *event_log, const struct engine *engine,
                      const struct fact *fact)
{
    const struct core *core = engine_core(engine);
    const struct quota_row *row = fact->quota_set.row;
    const struct account *account = query_account(core, fact->quota_set.account);
    if (engine_now_ms(engine) == 0) {
        return;
    }
    line(event_log, engine, "quota");
    buf_addf(event_log->out, "%s %s in %s:", names_account_kind(account->kind),
             query_account_name(core, account->id), query_pool_name(core, fact->quota_set.pool));
    for (uint32_t i = 0; i < row->term_count; i++) {
        const struct quota_term *term = &row->terms[i];
        char weight[AMOUNT_TEXT_MAX];
        amount_milli_text(term->weight, weight);
        buf_addf(event_log->out, "%s %s guaranteed ", i == 0 ? "" : ",",
                 query_resource_name(core, term->resource));
        bound_text(event_log, term, term->guaranteed);
        buf_add_str(event_log->out, " limit ");
        bound_text(event_log, term, term->limit);
        buf_addf(event_log->out, " weight %s", weight);
    }
    buf_addf(event_log->out, "%s\n", row->term_count == 0 ? " all defaults" : "");
}

/* A further pool is open for a task: "opens 3 train in demand: no-capacity". */
static void pool_opened(struct event_log *event_log, const struct engine *engine,
                        const struct fact *fact)
{
    line(event_log, engine, "opens");
    task_text(event_log, engine, fact->pool_opened.task);
    buf_addf(event_log->out, " in %s: %s\n",
             query_pool_name(engine_core(engine), fact->pool_opened.pool),
             names_fallback_why(fact->pool_opened.why));
}

static void fact_seen(void *ctx, const struct engine *engine, const struct fact *fact)
{
    typedef void (*tell_fn)(struct event_log * event_log, const struct engine *engine,
                            const struct fact *fact);
    static const tell_fn tellers[FACT_TYPE_MAX + 1] = {
        [FACT_TASK_SUBMITTED] = submitted,
        [FACT_ALLOCATED] = attempt_line,
        [FACT_ATTEMPT_STOPPING] = attempt_line,
        [FACT_ATTEMPT_ENDED] = attempt_ended,
        [FACT_TASK_ENDED] = task_ended,
        [FACT_NODE_STATE] = node_state,
        [FACT_NODE_EDITED] = node_edited,
        [FACT_RESERVED] = kept,
        [FACT_TASK_QUEUED] = task_line,
        [FACT_TASK_PAUSED] = task_line,
        [FACT_TASK_KILL_ASKED] = task_line,
        [FACT_TASK_EDITED] = task_edited,
        [FACT_TASK_MOVED] = task_moved,
        [FACT_POOL_SET] = pool_set,
        [FACT_ACCOUNT_SET] = account_set,
        [FACT_QUOTA_SET] = quota_set,
        [FACT_EVICTED] = evicted,
        [FACT_POOL_OPENED] = pool_opened,
    };
    must((unsigned)fact->type <= FACT_TYPE_MAX);
    if (tellers[fact->type] != NULL) { /* facts of other types are of no interest to a person */
        tellers[fact->type](ctx, engine, fact);
    }
}

static void refused_seen(void *ctx, const struct engine *engine, const struct refusal *refusal)
{
    struct event_log *event_log = ctx;
    line(event_log, engine, "refused");
    buf_addf(event_log->out,
             "%s: ", refusal->job->name[0] != '\0' ? refusal->job->name : "no name");
    reason_text(engine_core(engine), &refusal->reason, event_log->out);
    buf_add_char(event_log->out, '\n');
}

/* ---- reasons ---- */

/* Returns why a task waits; "": it does not wait. Equal texts are the same pointer, so that a
 * new reason is found by comparing pointers. */
static const char *sentence_of(struct event_log *event_log, const struct engine *engine,
                               task_id task)
{
    struct explanation why;
    struct buf sentence;
    explain_task(engine_core(engine), task, &why);
    buf_init(&sentence, SENTENCE_MAX);
    reason_text(engine_core(engine), &why.reason, &sentence);
    const char *text = buf_text(&sentence);
    char *known = map_get(event_log->sentences, text, sentence.len + 1);
    if (known == NULL) {
        known = arena_str(&event_log->arena, text);
        (void)map_put(event_log->sentences, text, sentence.len + 1, known);
    }
    buf_done(&sentence);
    return known;
}

/* Explains tasks of one group once for each moment. */
static const char *sentence_shared(struct event_log *event_log, const struct engine *engine,
                                   const struct task *task)
{
    struct explain_group group;
    if (!explain_group(engine_core(engine), task, &group)) {
        return sentence_of(event_log, engine, task->id);
    }
    char *found = map_get(event_log->of_group, &group, sizeof group);
    if (found == NULL) {
        const char *sentence = sentence_of(event_log, engine, task->id);
        found = map_get(event_log->sentences, sentence, strlen(sentence) + 1);
        (void)map_put(event_log->of_group, &group, sizeof group, found);
    }
    return found;
}

static void why_one(struct event_log *event_log, const struct engine *engine,
                    const struct task *task)
{
    const char *sentence = sentence_shared(event_log, engine, task);
    while (event_log->said.count <= task->id.v) {
        vec_push(&event_log->said, NULL);
    }
    if (sentence[0] != '\0' && event_log->said.at[task->id.v] != sentence) {
        line(event_log, engine, "waits");
        task_text(event_log, engine, task->id);
        buf_addf(event_log->out, ": %s\n", sentence);
        event_log->said.at[task->id.v] = sentence;
    }
}

static void instant_seen(void *ctx, const struct engine *engine, int64_t next_ms)
{
    (void)next_ms;
    struct event_log *event_log = ctx;
    if (!event_log->why) {
        return;
    }
    const struct core *core = engine_core(engine);
    event_log->of_group = map_new();
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->state == TASK_PENDING) {
            why_one(event_log, engine, task);
        }
    }
    map_free(event_log->of_group);
    event_log->of_group = NULL;
}

struct watcher event_log_watcher(struct event_log *event_log)
{
    return (struct watcher){
        .ctx = event_log, .fact = fact_seen, .refused = refused_seen, .instant = instant_seen};
}
