/* pass.c - the scheduler: one pass over one pool.
 *
 *   claims that can start now ─▶ tasks in the pool's order ─▶ the head, and what is kept for it
 *
 * The order (turns.h) names the project whose turn it is and its first task. A task that does not fit is passed by, and all that
 * are equal to it; one that its accounts' bounds forbid likewise, within its project. The first one that does not fit is the head;
 * when it has been that for the pool's patience, places are kept for it from its turn in the order on, so tasks ahead of it are
 * not held back. Between projects turns change with what they hold; there one project after the other has the head, its
 * first task that does not fit, until that fits, and what is kept for it is kept from the start of the pass on (blocked.h, rights.h).
 *
 * Surprising: the budget counts tasks looked at and instances placed, not nodes visited, because
 * caches change how many nodes are visited and must not change where a pass stops. It stops only
 * after having placed something, so every incomplete pass makes progress. Keeps S2, S4 to S7 of
 * README.md. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/pass.h"

#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/form.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/space.h"
#include "core/sched/keep/bound_above.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/view.h"
#include "core/sched/pass_internal.h"
#include "core/sched/place/claims.h"
#include "core/sched/place/place.h"
#include "core/sched/place/search.h"
#include "core/sched/take/action.h"
#include "core/state/capacity.h"
#include "core/state/history.h"
#include "core/state/query.h"

static bool budget_spent(const struct pass *pass)
{
    return pass->placed > 0 && pass->work >= pass->in->pass.work_max;
}

/* Choosing the places to keep looks at what has changed: done when the first task comes that would fit. */
bool pass_keep_or_blocked(struct pass *pass, const struct asker *asker, uint32_t count)
{
    if (pass->waiting.kept < pass->waiting.count) {
        if (search_total(&pass->trial.overlay, asker, count) < count) {
            return false;
        }
        blocked_keep(&pass->waiting);
    }
    return true;
}

enum outcome pass_bounds(struct pass *pass, const struct task *task, const struct lane *lane,
                         const struct vector *amounts)
{
    if (tally_gate(&pass->trial.tally, task, VIEW_NOW, amounts).gate != GATE_OPEN ||
        bound_above_holder(&pass->trial, pass->above, task, VIEW_NOW, amounts) != NULL) {
        return OUTCOME_GATED;
    }
    if (tally_user_capped(&pass->trial.tally, task, VIEW_NOW, amounts)) {
        return OUTCOME_CAPPED;
    }
    if (first_bound_holds(&pass->trial, pass->bound, task, VIEW_NOW, amounts)) {
        return pass->pool->user_slots_max > 0 ? OUTCOME_CAPPED : OUTCOME_GATED;
    }
    return rights_held(&pass->trial, task, &lane->key, amounts) != NULL ? OUTCOME_HELD
                                                                        : OUTCOME_PLACED;
}

/* Cpu and memory that come with the slots, and parts of devices by memory, are known only on the node: what is left of them bounds the
 * search. */
static void asker_bound(const struct pass *pass, struct asker *asker)
{
    const struct request *request = asker->request;
    const bool by_memory = request_by_memory(request);
    if (request->cpu_milli >= 0 && request->memory_bytes >= 0 && !by_memory) {
        return;
    }
    (void)tally_left(&pass->trial.tally, asker->task, VIEW_NOW, &asker->left);
    asker->bounded = asker->left.at[DIM_CPU] != VECTOR_UNLIMITED ||
                     asker->left.at[DIM_MEMORY] != VECTOR_UNLIMITED ||
                     (by_memory && asker->left.at[DIM_SLOTS] != VECTOR_UNLIMITED);
    if (asker->bounded) {
        asker->trail = NULL; /* of all accounts */
    }
}

/* Could some node, empty, take these instances within the bounds of their accounts? If not, no room helps. */
bool pass_bound_allows(const struct pass *pass, const struct asker *asker, uint32_t count)
{
    if (!asker->bounded) {
        return true;
    }
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(pass->core, pass->pool->id, after)) != NULL) {
        after = node->id;
        struct space_room room;
        struct space empty;
        space_empty(node, &room, &empty);
        if (fit_usable(node) && fit_count(&empty, asker->request, 1) == 1 &&
            search_within(node, asker, count) == count) {
            return true;
        }
    }
    return false;
}

/* Is it its accounts that hold back the next instances of a task, whatever room there is? */
static bool gated(const struct pass *pass, const struct task *task, uint32_t count)
{
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    struct asker asker = {.task = task, .request = &shape->request};
    struct vector amounts;
    form_chunk_next_amounts(pass->core, task, count, SLOTS_LEAST, &amounts);
    if (tally_gate(&pass->trial.tally, task, VIEW_NOW, &amounts).gate != GATE_OPEN) {
        return true;
    }
    asker_bound(pass, &asker);
    return !pass_bound_allows(pass, &asker, form_grouped(shape_form(shape)) ? 1 : count);
}

/* Is it the cap of its user? */
static bool capped(const struct pass *pass, const struct task *task)
{
    struct vector amounts;
    form_chunk_next_amounts(pass->core, task, task_chunk(task), SLOTS_LEAST, &amounts);
    return tally_user_capped(&pass->trial.tally, task, VIEW_NOW, &amounts);
}

/* What is left on the nodes is too little for it: to its accounts, or, where the nodes say how many slots it is, perhaps to its user
 * alone. */
enum outcome pass_outcome_bound(const struct pass *pass, const struct task *task)
{
    const bool by_memory = request_by_memory(&query_task_shape(pass->core, task->shape)->request);
    return by_memory && pass->pool->user_slots_max > 0 ? OUTCOME_CAPPED : OUTCOME_GATED;
}

static enum outcome place_next(struct pass *pass, const struct task *task, struct lane *lane,
                               uint32_t count)
{
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    struct vector amounts;
    if (shape->form != NULL) {
        return pass_form_place(pass, task, lane);
    }
    turns_amounts(pass->core, task, count, SLOTS_LEAST, &amounts);
    const enum outcome bounds = pass_bounds(pass, task, lane, &amounts);
    if (bounds != OUTCOME_PLACED) {
        return bounds;
    }
    struct shape_note *note = lane->note;
    const uint32_t passes = rights_all(&pass->trial, task, &lane->key, &amounts);
    const bool missed =
        note->missed_from > 0 && count >= note->missed_from && passes == 0 && !task->reserved;
    if (missed || capacity_missed(pass->core->capacity, shape, count)) {
        return gated(pass, task, count) ? pass_outcome_bound(pass, task) : OUTCOME_BLOCKED;
    }
    struct asker *asker = arena_new(pass->arena, struct asker, 1);
    *asker = (struct asker){
        .task = task,
        .request = &shape->request,
        .end_ms = overlay_end_ms(task, pass->in->now_ms),
        .trail = &note->trail,
        .passes = passes,
    };
    asker_bound(pass, asker);
    lane->bounded = asker->bounded;
    if (!pass_keep_or_blocked(pass, asker, count) ||
        !place_chunk(&pass->trial, asker, count, &lane->index)) {
        return pass_bound_allows(pass, asker, count) ? OUTCOME_BLOCKED
                                                     : pass_outcome_bound(pass, task);
    }
    lane->added += count;
    pass->placed += count;
    pass->work += count;
    return OUTCOME_PLACED;
}

/* One of this shape has just been turned away. May another of them be looked at? Only where it
 * would fit if nothing were kept, and short ones may use what is kept. */
static bool shape_goes_on(struct pass *pass, const struct task *task, uint32_t count)
{
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    if (!pass->trial.overlay.keep_timed || pass->waiting.holders[0]->shape.v == shape->id.v ||
        capacity_missed(pass->core->capacity, shape, count)) {
        return false;
    }
    const struct asker brief = {.request = &shape->request, .end_ms = INT64_MIN};
    const uint32_t least = form_grouped(shape_form(shape)) ? 1 : count;
    return search_total(&pass->trial.overlay, &brief, least) == least;
}

/* ---- the run ---- */

static uint32_t waiting_left(const struct task *task, const struct lane *lane)
{
    const uint32_t promised =
        task->gang && task->claimed_count > 0 ? task->waiting_count : task->claimed_count;
    return task->waiting_count - promised - lane->added;
}

static void after_placed(struct queue *queue, const struct task *task, struct lane *lane)
{
    if (waiting_left(task, lane) == 0) {
        queue_advance(queue);
    } else if (task->gang) {
        queue_again(queue, task_grown(task) + lane->added <= task->min_count ? 1 : 2);
    }
}

static void after_blocked(struct pass *pass, struct turns_line *line, const struct task *task,
                          struct lane *lane, uint32_t count)
{
    struct queue *queue = &line->queue;
    const bool holder = blocked_note(&pass->waiting, task, lane->added > 0, &line->blocked);
    if (shape_goes_on(pass, task, count)) {
        queue_advance(queue);
        return;
    }
    struct shape_note *note = lane->note;
    if (!pass_form_speaks(query_task_shape(pass->core, task->shape), task, lane)) {
        queue_advance(queue);
        return;
    }
    if (!lane->bounded && (note->missed_from == 0 || count < note->missed_from)) {
        note->missed_from = count;
    }
    if (holder) {
        queue_advance(
            queue); /* another one behind it, equal to it, may hold or want a reservation, too */
    } else {
        queue_drop(queue);
    }
}

/* It does not start: it may be the first in its project, for whom what falls free of its bounds is kept. */
static void bound_note(struct pass *pass, struct turns_line *line, const struct task *task,
                       uint32_t count)
{
    if (line->bound == NULL) {
        line->bound = first_bound_new(&pass->trial, task, count, pass->in->now_ms);
    }
}

/* The next instances of the first task of a project. */
static void line_serve(struct pass *pass, struct turns_line *line)
{
    struct queue *queue = &line->queue;
    const struct task *task = queue_first(queue);
    struct lane *lane = queue_lane(queue);
    pass->work += task != pass->last;
    pass->last = task;
    pass->bound = line->bound;
    if (waiting_left(task, lane) == 0) {
        line->waits = true;
        queue_advance(queue); /* all of it is promised a place */
        return;
    }
    const uint32_t count = turns_chunk(task, lane->added);
    const enum outcome outcome = place_next(pass, task, lane, count);
    line->waits |= outcome != OUTCOME_PLACED;
    switch (outcome) {
    case OUTCOME_PLACED:
        line->turns++;
        bound_above_placed(pass->above, task);
        pass->again |= pass->above != NULL; /* another one may be the first of its project now */
        after_placed(queue, task, lane);
        pass->emptied |= queue->count == 0 && !line->waits;
        break;
    case OUTCOME_BLOCKED:
        bound_note(pass, line, task, count);
        after_blocked(pass, line, task, lane, count);
        break;
    case OUTCOME_GATED:
        bound_note(pass, line, task, count);
        queue_drop(queue);
        break;
    case OUTCOME_HELD:
        (void)blocked_note(&pass->waiting, task, lane->added > 0, &line->blocked);
        queue_drop(queue);
        break;
    case OUTCOME_CAPPED:
        bound_note(pass, line, task, count);
        queue_advance(queue);
        break;
    }
}

static void pass_run(struct pass *pass)
{
    struct turns_line *line;
    while ((line = turns_first(&pass->turns)) != NULL) {
        if (budget_spent(pass)) {
            pass->stopped = true;
            return;
        }
        line_serve(pass, line);
        turns_update(&pass->turns, line);
    }
}

/* Is what it would take of a quota kept for another? */
static bool quota_kept(struct pass *pass, const struct task *task)
{
    const uint32_t at = tally_view(&pass->trial.tally, task)->index;
    struct vector amounts;
    form_chunk_next_amounts(pass->core, task, task_chunk(task), SLOTS_LEAST, &amounts);
    return first_bound_holds(&pass->trial, pass->turns.lines[at].bound, task, VIEW_NOW, &amounts) ||
           bound_above_holder(&pass->trial, pass->above, task, VIEW_NOW, &amounts) != NULL;
}

/* Does something other than room hold the task back? */
static bool barred(void *ctx, const struct task *task)
{
    struct pass *pass = ctx;
    if (quota_kept(pass, task)) {
        return true;
    }
    if (task->by_groups) {
        return !reserve_form_open(&pass->trial, task); /* in none of its choices */
    }
    return gated(pass, task, task_chunk(task)) || capped(pass, task);
}

static void pass_pool(struct pass *pass)
{
    if (pass->pool->paused) {
        return;
    }
    /* What no longer waits for a promise that was given up is known once that is applied (P12): the next pass goes on. */
    pass->placed += claims_start(&pass->trial, &pass->stopped);
    pass->work += pass->placed;
    if (pass->stopped) {
        return;
    }
    pass->again = pass->placed > 0; /* a gang that has just its minimum may want more */
    turns_init(&pass->turns, pass->core, pass->pool, &pass->trial.tally, pass->arena);
    pass->above = bound_above_find(&pass->trial, pass->in->now_ms);
    blocked_begin(&pass->waiting, barred, pass);
    pass_run(pass);
    if (!pass->stopped) {
        blocked_unbar(&pass->waiting, barred, pass);
        if (action_any(pass->pool)) {
            blocked_keep(&pass->waiting); /* against those, too, who take */
        }
        const struct action_result result =
            action_run_all(&pass->trial, pass->above, pass->in->now_ms, &pass->work);
        pass->again |= result.again;
        pass->wake_ms = result.wake_ms;
        blocked_elect(&pass->waiting, barred, pass);
    }
}

/* What was found to fit nowhere need not be tried again until something falls free. What is kept may move without that; and where the
 * search was not complete, less room may make it find what more did not. */
static void misses_learn(const struct pass *pass, uint64_t fact_count)
{
    struct capacity *capacity = pass->core->capacity;
    if (capacity == NULL || pass->waiting.count > 0) {
        return;
    }
    capacity_learn(capacity, pass->pool->id, pass->core->seq + fact_count);
    const struct shape_notes *notes = &pass->turns.notes;
    for (uint32_t i = 0; i < notes->room; i++) {
        if (notes->at[i] != NULL && notes->at[i]->missed_from > 0 && !notes->at[i]->unproven) {
            capacity_learn_miss(capacity, notes->at[i]->shape, notes->at[i]->missed_from);
        }
    }
}

static void wake_fact(struct pass *pass)
{
    if (pass->wake_ms != pass->pool->wake_ms) {
        struct fact *fact = fact_list_add(pass->out, pass->in, FACT_POOL_WAKE);
        fact->pool_wake.pool = pass->pool->id;
        fact->pool_wake.at_ms = pass->wake_ms;
    }
}

void pass_decide(const struct core *core, const struct input *in, struct facts *out)
{
    must(in->type == INPUT_PASS);
    const struct pool *pool = query_pool(core, in->pass.pool);
    if (pool == NULL || pool->deleted) {
        return;
    }
    if (history_stale(pool, in->now_ms)) {
        fact_list_add(out, in, FACT_HISTORY_TICKED)->history_ticked.pool = pool->id;
        fact_list_add(out, in, FACT_PASS)->pass.pool = pool->id;
        return; /* not complete: the next one divides what there is by it */
    }
    struct pass pass = {.core = core, .pool = pool, .in = in, .out = out, .arena = out->arena};
    const size_t count = out->count;
    pass.wake_ms = pool->wake_ms > in->now_ms ? pool->wake_ms : 0;
    trial_init(&pass.trial, core, pool->id, pass.arena);
    pass.trial.overlay.now_ms = in->now_ms;
    pass.trial.overlay.visited = &out->visited;
    blocked_init(&pass.waiting, core, pool, &pass.trial);
    pass_pool(&pass);
    (void)trial_facts(&pass.trial, in, out);
    blocked_facts(&pass.waiting, pass.stopped, in, out);
    wake_fact(&pass);
    if (out->count == count) {
        misses_learn(&pass, 0);
        trial_done(&pass.trial);
        return;
    }
    /* What was placed behind the head may have used up what its accounts may have: another one is head then. */
    const bool head_gated = pass.placed > 0 && blocked_barred(&pass.waiting, barred, &pass);
    struct fact *fact = fact_list_add(out, in, FACT_PASS);
    fact->pass.pool = pool->id;
    fact->pass.work = pass.work;
    fact->pass.placed = pass.placed;
    /* With the last of another project the head may be another one, too. */
    const bool head_alone = pass.emptied && pass.waiting.between && pass.waiting.head != NULL;
    /* What was placed beside or ahead of the holder may have moved its places, or its turn: look again. */
    fact->pass.complete = !pass.stopped && !pass.again && !pass.waiting.impatient && !head_gated &&
                          !head_alone && !pass.waiting.grew &&
                          !(pass.waiting.count > 0 && pass.placed > 0);
    misses_learn(&pass, out->count - count);
    trial_done(&pass.trial);
}
