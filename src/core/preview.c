/* preview.c - see preview.h. This file runs the inputs and the passes in copies of the core, and notes which tasks the facts stop,
 * end and start. preview_launch.c notes machines, preview_waits.c says which tasks wait, preview_later.c what happens once
 * something has left.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/preview.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/object.h"
#include "core/preview_internal.h"

#include <string.h>

/* Units of work. A pass of the server spends at most 20,000, which are a few milliseconds. */
enum { WORK_SETTLE = 40000, WORK_CHANGE = 80000 };

/* Rounds of deadlines and passes in one moment. A replacement takes one round for each node that is
 * replaced at once. */
enum { ROUNDS_MAX = 64 };

/* ---- notes ---- */

static int64_t times_bounded(int64_t slots_milli, int64_t ms)
{
    int64_t product;
    return __builtin_mul_overflow(slots_milli, ms, &product) ? INT64_MAX : product;
}

void preview_stop_note(struct preview *preview, const struct instance *instance,
                       const struct preview_stop *as, int64_t now_ms)
{
    uint32_t at = 0;
    while (at < preview->stop_count && preview->stops[at].task.v != instance->task.v) {
        at++;
    }
    if (at == PREVIEW_TASKS_MAX) {
        preview->stop_total++; /* counted by instance beyond the list: an upper bound */
        preview->cut = true;
        return;
    }
    struct preview_stop *stop = &preview->stops[at];
    if (at == preview->stop_count) {
        *stop = (struct preview_stop){
            .task = instance->task, .cause = as->cause, .later = as->later, .at_ms = as->at_ms};
        preview->stop_count++;
        preview->stop_total++;
    }
    const int64_t saved_ms = instance->checkpoint_ms > instance->started_ms
                                 ? instance->checkpoint_ms
                                 : instance->started_ms;
    const int64_t lost_ms = instance->started_ms != 0 && now_ms > saved_ms ? now_ms - saved_ms : 0;
    const int64_t slots_lost = times_bounded(instance->slots_milli, lost_ms);
    stop->instances++;
    stop->lost_ms = lost_ms > stop->lost_ms ? lost_ms : stop->lost_ms;
    stop->slots_lost =
        slots_lost > INT64_MAX - stop->slots_lost ? INT64_MAX : stop->slots_lost + slots_lost;
}

/* Notes that the fact stops the instance. Call before the fact is applied, because the fact may
 * reset the instance's times. */
static void stop_note(const struct preview_try *try, struct attempt_key key, enum end_cause cause)
{
    const struct instance *instance = query_instance(try->copy, key.task, key.index);
    must(instance != NULL);
    preview_stop_note(try->note, instance, &(struct preview_stop){.cause = cause}, try->now_ms);
}

static void end_note(struct preview *preview, task_id task, enum task_state state)
{
    preview->end_total++;
    if (preview->end_count < PREVIEW_TASKS_MAX) {
        preview->ends[preview->end_count++] = (struct preview_end){task, state};
    } else {
        preview->cut = true;
    }
}

/* The entry of the task, a new one if there is none; NULL: the list is full. */
static struct preview_start *start_of(struct preview *preview, task_id task, bool now)
{
    for (uint32_t i = 0; i < preview->start_count; i++) {
        if (preview->starts[i].task.v == task.v) {
            return &preview->starts[i];
        }
    }
    preview->start_total++;
    if (preview->start_count == PREVIEW_TASKS_MAX) {
        preview->cut = true; /* start_total counts the instances of further tasks */
        return NULL;
    }
    struct preview_start *start = &preview->starts[preview->start_count++];
    *start = (struct preview_start){.task = task, .now = now};
    return start;
}

static void start_note(const struct preview_try *try, const struct fact *fact)
{
    const task_id task = fact->allocated.key.task;
    struct preview_start *start =
        start_of(try->note, task, !try->later && fact->type == FACT_ALLOCATED);
    if (start == NULL || (try->later && start->promised)) {
        return;
    }
    start->promised |= fact->type == FACT_CLAIMED;
    start->instances++;
    uint32_t at = 0;
    while (at < start->place_count && start->places[at].node.v != fact->allocated.node.v) {
        at++;
    }
    if (at == start->place_count && at < PREVIEW_PLACES_MAX) {
        start->places[start->place_count++] = (struct preview_place){.node = fact->allocated.node};
    }
    if (at < PREVIEW_PLACES_MAX) {
        start->places[at].instances++;
        start->places[at].devices |= fact->allocated.devices;
    }
}

static void fact_note(const struct preview_try *try, const struct fact *fact)
{
    if (fact->type == FACT_EVICTED) {
        stop_note(try, fact->evicted.key, END_PREEMPTED);
    } else if (fact->type == FACT_ATTEMPT_STOPPING) {
        stop_note(try, fact->attempt_stopping.key, fact->attempt_stopping.cause);
    } else if (fact->type == FACT_TASK_ENDED && !try->later) {
        end_note(try->note, fact->task_ended.task, fact->task_ended.state);
    } else if (fact->type == FACT_ALLOCATED || fact->type == FACT_CLAIMED) {
        start_note(try, fact);
    } else {
        preview_launch_note(try, fact);
    }
}

/* ---- copies ---- */

void preview_facts(struct preview_try *try, const struct facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        if (try->note != NULL) {
            fact_note(try, &facts->at[i]);
        }
        if (facts->at[i].type == FACT_PASS) {
            const uint64_t work = facts->at[i].pass.work;
            try->work_left -= work < try->work_left ? work : try->work_left;
        }
        core_apply(try->copy, &facts->at[i]);
    }
}

bool preview_passes(struct preview_try *try)
{
    struct arena arena;
    pool_id pool;
    bool done = true;
    arena_init(&arena);
    while (query_pass_due(try->copy, try->now_ms, &pool)) {
        if (try->work_left == 0) {
            done = false;
            break;
        }
        const struct input pass = {.type = INPUT_PASS,
                                   .now_ms = try->now_ms,
                                   .actor = "scheduler",
                                   .cause = "",
                                   .pass = {.pool = pool, .work_max = try->work_left}};
        struct facts facts;
        arena_clear(&arena);
        fact_list_init(&facts, &arena);
        must(core_decide(try->copy, &pass, &facts) == VERDICT_OK);
        if (facts.count == 0) {
            core_pass_idle(try->copy, pool);
        }
        try->work_left--; /* a pass costs something, also where it says nothing about its work */
        preview_facts(try, &facts);
    }
    arena_done(&arena);
    return done;
}

/* ---- the inputs ---- */

static bool labels_equal(const struct node_spec *one, const struct node_spec *other)
{
    bool equal = one->label_count == other->label_count;
    for (uint32_t i = 0; equal && i < one->label_count; i++) {
        equal = strcmp(one->labels[i].key, other->labels[i].key) == 0 &&
                strcmp(one->labels[i].value, other->labels[i].value) == 0;
    }
    return equal;
}

static bool quota_equal(const struct core *a, const struct core *b, const struct input *in,
                        struct arena *arena)
{
    struct quota_spec one;
    struct quota_spec other;
    query_quota_spec(a, in->quota.account, in->quota.pool, arena, &one);
    query_quota_spec(b, in->quota.account, in->quota.pool, arena, &other);
    bool equal = one.amount_count == other.amount_count &&
                 object_equal(&quota_object, &one.rules, &other.rules);
    for (uint32_t i = 0; equal && i < one.amount_count; i++) {
        const struct quota_amount *x = &one.amounts[i];
        const struct quota_amount *y = &other.amounts[i];
        equal = strcmp(x->resource, y->resource) == 0 && x->guaranteed == y->guaranteed &&
                x->limit == y->limit && x->weight == y->weight;
    }
    return equal;
}

static bool account_equal(const struct core *a, const struct core *b, account_id id,
                          struct arena *arena)
{
    struct account_spec specs[2];
    query_account_spec(a, id, arena, &specs[0]);
    query_account_spec(b, id, arena, &specs[1]);
    return object_equal(&account_object, &specs[0], &specs[1]) &&
           query_account(a, id)->parent.v == query_account(b, id)->parent.v;
}

static bool flavor_equal(const struct core *a, const struct core *b, flavor_id id,
                         struct arena *arena)
{
    struct flavor_spec specs[2];
    query_flavor_spec(a, id, arena, &specs[0]);
    query_flavor_spec(b, id, arena, &specs[1]);
    return object_equal(&flavor_object, &specs[0], &specs[1]);
}

/* Do the objects of an edit say the same before and after? The core accepts an edit that repeats the present values, and records it. */
static bool edit_repeats(const struct core *a, const struct core *b, const struct input *in,
                         struct arena *arena)
{
    struct task_spec tasks[2];
    struct pool_spec pools[2];
    struct node_spec nodes[2];
    if (in->type == INPUT_TASK_EDIT) {
        query_task_spec(a, in->task.task, arena, &tasks[0]);
        query_task_spec(b, in->task.task, arena, &tasks[1]);
        return object_equal(&task_object, &tasks[0], &tasks[1]) &&
               query_task(b, in->task.task)->pool_next.v ==
                   query_task(a, in->task.task)->pool_next.v;
    }
    if (in->type == INPUT_POOL_EDIT) {
        query_pool_spec(a, in->pool.pool, arena, &pools[0]);
        query_pool_spec(b, in->pool.pool, arena, &pools[1]);
        return object_equal(&pool_object, &pools[0], &pools[1]);
    }
    if (in->type == INPUT_NODE_EDIT) {
        query_node_spec(a, in->node.node, arena, &nodes[0]);
        query_node_spec(b, in->node.node, arena, &nodes[1]);
        const struct node *one = query_node(a, in->node.node);
        const struct node *other = query_node(b, in->node.node);
        return one->draining == other->draining && one->locked == other->locked &&
               one->drain_by_ms == other->drain_by_ms &&
               one->leaving_count == other->leaving_count && labels_equal(&nodes[0], &nodes[1]);
    }
    if (in->type == INPUT_ACCOUNT_SET) {
        return in->account.account.v != 0 && account_equal(a, b, in->account.account, arena);
    }
    if (in->type == INPUT_FLAVOR_SET) {
        return in->flavor.flavor.v != 0 && flavor_equal(a, b, in->flavor.flavor, arena);
    }
    return in->type == INPUT_QUOTA_SET && quota_equal(a, b, in, arena);
}

/* Decides and applies one input. */
static enum verdict input_try(struct preview_try *try, const struct input *in, struct facts *facts)
{
    const task_id last = query_task_last(try->copy);
    enum verdict verdict = core_decide(try->copy, in, facts);
    if (verdict != VERDICT_OK) {
        return verdict;
    }
    preview_facts(try, facts);
    if (in->type == INPUT_TASK_SUBMIT) {
        try->note->submitted = (task_id){last.v + 1};
        try->note->submitted_count = in->submit.count;
    }
    if (in->type == INPUT_QUOTA_SET) {
        try->note->quota_account = in->quota.account;
        try->note->quota_pool = in->quota.pool;
    }
    try->note->changes |=
        facts->count > 0 && !edit_repeats(try->note->before, try->copy, in, facts->arena);
    return VERDICT_OK;
}

static enum verdict inputs_try(struct preview_try *try, const struct preview_ask *ask,
                               struct facts *facts)
{
    enum verdict first = VERDICT_OK;
    for (uint32_t i = 0; i < ask->count; i++) {
        must(ask->inputs[i].now_ms == try->now_ms);
        struct facts own;
        fact_list_init(&own, facts->arena);
        enum verdict verdict = input_try(try, &ask->inputs[i], &own);
        if (verdict != VERDICT_OK && try->note->refused++ == 0) {
            first = verdict;
            *facts = own;
        }
    }
    return try->note->refused < ask->count ? VERDICT_OK : first;
}

/* Runs the deadlines and passes of this moment, by turns, because each may bring the other about,
 * until nothing changes. False: the preview's work or rounds were spent before. */
static bool moment_end(struct preview_try *try)
{
    for (uint32_t i = 0; i < ROUNDS_MAX; i++) {
        const uint64_t before = query_seq(try->copy);
        if (!preview_launch_ticks(try) || !preview_passes(try)) {
            return false;
        }
        if (query_seq(try->copy) == before || query_deadline(try->copy) > try->now_ms) {
            return true;
        }
    }
    return false;
}

enum verdict preview_run(const struct core *core, const struct preview_ask *ask,
                         struct facts *facts, struct preview **ret)
{
    must(ask->count > 0);
    struct preview *preview = xcalloc(1, sizeof *preview);
    const int64_t now_ms = ask->inputs[0].now_ms;
    preview->before = core_copy(core);
    struct preview_try settle = {
        .copy = preview->before, .now_ms = now_ms, .work_left = WORK_SETTLE};
    (void)preview_launch_ticks(&settle);
    preview->cut = !preview_passes(&settle);
    preview->after = core_copy(preview->before);
    struct preview_try change = {
        .copy = preview->after, .now_ms = now_ms, .work_left = WORK_CHANGE, .note = preview};
    enum verdict verdict = inputs_try(&change, ask, facts);
    if (verdict != VERDICT_OK) {
        preview_free(preview);
        return verdict;
    }
    preview->cut |= !moment_end(&change);
    if (!ask->brief) {
        preview_leave(preview, now_ms);
        preview_later(preview, now_ms);
        preview_waits(preview, ask);
    }
    *ret = preview;
    return VERDICT_OK;
}

bool preview_starts(const struct preview *preview, task_id task)
{
    const struct task *row = query_task(preview->after, task);
    return row != NULL && (row->claimed_count > 0 || row->active_count > 0);
}

void preview_free(struct preview *preview)
{
    if (preview != NULL) {
        core_free(preview->before);
        core_free(preview->after);
        free(preview);
    }
}
