/* pass.c - the scheduler: one pass over one pool.
 *
 *   claims that can start ─▶ tasks in the pool's order: each starts, or takes from others, or waits ─▶ holders, budgets, wake-up
 *
 * README.md has a picture of a task's way through the pass. turns.h names the project whose turn it is and its first task.
 * A task that fits no node is skipped with all equal tasks of the pool. A task that a bound forbids is skipped with all equal tasks
 * of its project. A blocked task may become a holder: places are kept for it (keep/hold.h, keep/rights.h).
 *
 * Surprising: the budget counts tasks looked at and instances placed, not nodes visited. Caches change how many nodes are visited and
 * must not change where a pass stops. A pass stops only after it placed something, so every incomplete pass makes progress.
 * Keeps S2 and S4 to S7 of README.md. SPDX-License-Identifier: Apache-2.0 */
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
#include "core/sched/open.h"
#include "core/sched/order/view.h"
#include "core/sched/pass_internal.h"
#include "core/sched/place/claims.h"
#include "core/sched/place/form_open.h"
#include "core/sched/place/place.h"
#include "core/sched/place/search.h"
#include "core/sched/take/action.h"
#include "core/state/capacity.h"
#include "core/state/elastic.h"
#include "core/state/history.h"
#include "core/state/query.h"

bool pass_keep_or_blocked(struct pass *pass, const struct asker *asker, uint32_t count)
{
    must(pass->hold.kept <= pass->hold.count);
    if (pass->hold.kept < pass->hold.count) {
        if (search_total(&pass->trial.overlay, asker, count) < count) {
            return false;
        }
        hold_keep(&pass->hold);
    }
    return true;
}

bool pass_remembers(const struct pass *pass, const struct shape *shape, uint32_t count)
{
    return !(pass->acts && pass->action.claimed) &&
           capacity_missed(pass->core->capacity, shape, count);
}

void pass_denied(struct pass *pass, const struct asker *asker, uint32_t count)
{
    struct asker free = *asker;
    free.trail = NULL;
    free.passes = UINT32_MAX;
    if (!pass->hold.denied && pass->trial.overlay.keeping) {
        pass->hold.denied = search_total(&pass->trial.overlay, &free, count) >= count;
    }
}

enum outcome pass_bounds(struct pass *pass, const struct task *task, const struct lane *lane,
                         const struct vector *amounts)
{
    must(task->pool.v == pass->pool->id.v);
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

/* Bounds the asker by what its accounts may still take. Only needed where an amount is known on the node alone: cpu and memory that
 * come with the slots, and parts of devices by memory. */
static void asker_bound(const struct pass *pass, struct asker *asker)
{
    const struct request *request = asker->request;
    const bool by_memory = request_by_memory(request);
    must(!asker->bounded);
    if (request->cpu_milli >= 0 && request->memory_bytes >= 0 && !by_memory) {
        return;
    }
    (void)tally_left(&pass->trial.tally, asker->task, VIEW_NOW, &asker->left);
    asker->bounded = asker->left.at[DIM_CPU] != VECTOR_UNLIMITED ||
                     asker->left.at[DIM_MEMORY] != VECTOR_UNLIMITED ||
                     (by_memory && asker->left.at[DIM_SLOTS] != VECTOR_UNLIMITED);
    if (asker->bounded) {
        /* A trail holds for all accounts, so a bounded search must not use it. */
        asker->trail = NULL;
    }
}

/* Do the bounds of the task's accounts forbid its next instances, whatever room there is? */
static bool gated(const struct pass *pass, const struct task *task, uint32_t count)
{
    if (tally_unbounded(&pass->trial.tally, task)) {
        return false;
    }
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    struct asker asker = {.task = task, .request = &shape->request};
    struct vector amounts;
    must(count > 0);
    form_chunk_next_amounts(pass->core, task, count, SLOTS_LEAST, &amounts);
    if (tally_gate(&pass->trial.tally, task, VIEW_NOW, &amounts).gate != GATE_OPEN) {
        return true;
    }
    asker_bound(pass, &asker);
    return !form_open_bound(&pass->trial, &asker, form_grouped(shape_form(shape)) ? 1 : count);
}

/* Does the cap of the task's user forbid its next instances? */
static bool capped(const struct pass *pass, const struct task *task)
{
    struct vector amounts;
    form_chunk_next_amounts(pass->core, task, task_chunk(task), SLOTS_LEAST, &amounts);
    return tally_user_capped(&pass->trial.tally, task, VIEW_NOW, &amounts);
}

/* A request for parts of devices by memory takes more slots on some nodes than on others. So the cap of the user may be what forbids
 * such a request. */
enum outcome pass_outcome_bound(const struct pass *pass, const struct task *task)
{
    const bool by_memory = request_by_memory(&query_task_shape(pass->core, task->shape)->request);
    return by_memory && pass->pool->user_slots_max > 0 ? OUTCOME_CAPPED : OUTCOME_GATED;
}

/* Places the next `count` instances of a task, or says why they have no place. */
static enum outcome place_next(struct pass *pass, const struct task *task, struct lane *lane,
                               uint32_t count)
{
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    struct vector amounts;
    must(lane->note->shape.v == task->shape.v);
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
    if (missed || pass_remembers(pass, shape, count)) {
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
        pass_denied(pass, asker, count);
        return form_open_bound(&pass->trial, asker, count) ? OUTCOME_BLOCKED
                                                           : pass_outcome_bound(pass, task);
    }
    lane->added += count;
    pass->placed += count;
    pass->work += count;
    return OUTCOME_PLACED;
}

/* A task of this shape has just been blocked. May another task of the shape fit? Only where the starts of holders are known and an
 * instance that ends at once would fit on kept places: another task may have a shorter time limit. */
static bool shape_goes_on(struct pass *pass, const struct task *task, uint32_t count)
{
    const struct shape *shape = query_task_shape(pass->core, task->shape);
    must(count > 0);
    if (!pass->trial.overlay.keep_timed || pass->hold.at[0].task->shape.v == shape->id.v ||
        pass_remembers(pass, shape, count)) {
        return false;
    }
    const struct asker brief = {.request = &shape->request, .end_ms = INT64_MIN};
    const uint32_t least = form_grouped(shape_form(shape)) ? 1 : count;
    return search_total(&pass->trial.overlay, &brief, least) == least;
}

/* ---- the tasks in the pool's order ---- */

/* How many waiting instances of a task have neither a place of this pass nor a promised one. While a gang has a claim, all its
 * waiting instances count as promised. */
static uint32_t waiting_left(const struct task *task, const struct lane *lane)
{
    const uint32_t promised =
        task->gang && task->claimed_count > 0 ? task->waiting_count : task->claimed_count;
    must(promised + lane->added <= task->waiting_count);
    return task->waiting_count - promised - lane->added;
}

/* A gang that has grown stands further back in the order of its project. */
static void after_placed(struct queue *queue, const struct task *task, struct lane *lane)
{
    if (waiting_left(task, lane) == 0) {
        queue_advance(queue);
    } else if (task->gang) {
        queue_again(queue, task_grown(task) + lane->added <= task->min_count ? 1 : 2);
    }
}

/* Notes a blocked task. Tasks of its shape are skipped from now on, where the failure of the task holds for its shape. */
static void after_blocked(struct pass *pass, struct turns_line *line, const struct task *task,
                          struct lane *lane, uint32_t count, bool skipped)
{
    struct queue *queue = &line->queue;
    must(count > 0);
    const bool holder = hold_note(&pass->hold, task, &line->blocked);
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
    if (holder || skipped) {
        queue_advance(queue); /* an equal task behind the holder may have or need a reservation */
    } else {
        queue_drop(queue);
    }
}

/* Notes a task that a bound holds back. The project's quota is kept for the first such task of the project. */
static void bound_note(struct pass *pass, struct turns_line *line, const struct task *task,
                       uint32_t count)
{
    if (line->bound == NULL) {
        line->bound = first_bound_new(&pass->trial, task, count, pass->in->now_ms);
    }
}

/* Does the trial evict instances of this gang? Such a gang does not wait for more instances until the evicted ones have left. */
static bool gang_evicted(const struct pass *pass, const struct task *task)
{
    const struct trial *trial = &pass->trial;
    if (!pass->acts || !pass->action.claimed || !task->gang || task->active_count == 0) {
        return false;
    }
    for (size_t i = 0; i < trial->count; i++) {
        if (trial->decisions[i].kind == DECISION_EVICT && trial->decisions[i].task == task) {
            return true;
        }
    }
    return false;
}

/* The task got no free place. Takes places of running tasks for it, where the pool's policy allows that. */
static enum chunk_result take_next(struct pass *pass, const struct task *task, struct lane *lane)
{
    if (!pass->acts) {
        return CHUNK_FAILED;
    }
    return action_take(&pass->action, pass->bound, task, lane);
}

/* The task goes on waiting: notes it, and the equal tasks that need not be looked at. `skipped`: an equal task may take places. */
static void after_waiting(struct pass *pass, struct turns_line *line, enum outcome outcome,
                          uint32_t count, bool skipped)
{
    struct queue *queue = &line->queue;
    const struct task *task = queue_first(queue);
    struct lane *lane = queue_lane(queue);
    if (outcome == OUTCOME_HELD && pass->hold.between) {
        (void)hold_note(&pass->hold, task, &line->blocked);
    } else if (outcome != OUTCOME_HELD) {
        bound_note(pass, line, task, count);
    }
    if (outcome == OUTCOME_BLOCKED) {
        after_blocked(pass, line, task, lane, count, skipped);
    } else if (outcome == OUTCOME_CAPPED || skipped) {
        queue_advance(queue);
    } else {
        queue_drop(queue);
    }
}

/* One turn of a project: the next instances of its first task. */
static void line_serve(struct pass *pass, struct turns_line *line)
{
    struct queue *queue = &line->queue;
    const struct task *task = queue_first(queue);
    struct lane *lane = queue_lane(queue);
    must(task != NULL); /* turns_first() gives only projects that have a waiting task */
    pass->work += task != pass->last;
    pass->last = task;
    pass->bound = line->bound;
    if (waiting_left(task, lane) == 0 || gang_evicted(pass, task)) {
        queue_advance(queue); /* every instance has a place or a promised one */
        return;
    }
    const uint32_t count = turns_chunk(task, lane->added);
    const enum outcome outcome = place_next(pass, task, lane, count);
    if (outcome == OUTCOME_PLACED) {
        line->turns++;
        bound_above_placed(pass->above, task);
        after_placed(queue, task, lane);
        return;
    }
    pass->waits = true;
    const enum chunk_result taken = take_next(pass, task, lane);
    if (taken == CHUNK_CLAIMED) {
        bound_above_placed(pass->above, task);
        if (task->gang) {
            queue_advance(queue);
        }
        return;
    }
    after_waiting(pass, line, outcome, count, taken == CHUNK_SKIPPED);
}

/* Turns of projects until no project has a task to look at, all tasks that are left wait for certain, or the budget is spent. */
static void pass_run(struct pass *pass)
{
    struct turns_line *line;
    must(!pass->stopped);
    while ((line = turns_first(&pass->turns)) != NULL && !pass_rest(pass)) {
        if (pass->placed > 0 && pass->work >= pass->in->pass.work_max) {
            pass->stopped = true;
            return;
        }
        line_serve(pass, line);
        turns_update(&pass->turns, line);
    }
}

/* Is the quota that the task's next instances need kept for another task? */
static bool quota_kept(struct pass *pass, const struct task *task)
{
    const uint32_t at = tally_view(&pass->trial.tally, task)->index;
    struct vector amounts;
    must(at < pass->trial.tally.shares->count);
    form_chunk_next_amounts(pass->core, task, task_chunk(task), SLOTS_LEAST, &amounts);
    return first_bound_holds(&pass->trial, turns_bound(&pass->turns, at), task, VIEW_NOW,
                             &amounts) ||
           bound_above_holder(&pass->trial, pass->above, task, VIEW_NOW, &amounts) != NULL;
}

/* Does something other than room on nodes hold the task back: a bound, a cap, quota kept for another task? */
static bool barred(void *ctx, const struct task *task)
{
    struct pass *pass = ctx;
    must(task->pool.v == pass->pool->id.v);
    const bool open = pass->above == NULL && tally_unbounded(&pass->trial.tally, task);
    if (!open && quota_kept(pass, task)) {
        return true;
    }
    if (task->by_groups) {
        return !reserve_form_open(&pass->trial, task); /* bounds forbid every choice */
    }
    return !open && (gated(pass, task, task_chunk(task)) || capped(pass, task));
}

static void pass_pool(struct pass *pass)
{
    if (!pool_starts(pass->pool)) {
        return;
    }
    must(pass->placed == 0);
    /* After a promise was given up the pass stops. The next pass sees the instance in the queue, with caches as without (P12). */
    pass->placed += claims_start(&pass->trial, &pass->stopped);
    pass->work += pass->placed;
    if (pass->stopped) {
        return;
    }
    pass->again = pass->placed > 0; /* a gang that reached its minimum by a claim may grow */
    turns_init(&pass->turns, pass->core, pass->pool, &pass->trial.tally, pass->arena);
    pass->above =
        turns_bounded(&pass->turns) ? bound_above_find(&pass->trial, pass->in->now_ms) : NULL;
    pass->acts = action_any(pass->pool);
    if (pass->acts) {
        action_init(&pass->action, &pass->trial, pass->above, &pass->hold, pass->in->now_ms);
    }
    hold_begin(&pass->hold, barred, pass);
    pass_run(pass);
    if (!pass->stopped) {
        pass->wake_ms = pass->acts ? action_wake_ms(&pass->action) : 0;
    }
    pass->work += pass->acts ? pass->action.work : 0;
    pass->again |= pass->acts && pass->action.claimed;
}

/* Remembers the shapes that found no place until something becomes free in the pool. Nothing is remembered while places are kept:
 * these may change although nothing becomes free. An unproven search is not remembered: such a search may find a place when less is free. */
static void misses_learn(const struct pass *pass, uint64_t fact_count)
{
    struct capacity *capacity = pass->core->capacity;
    if (capacity == NULL || pass->trial.overlay.holder_count > 0) {
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

static void wake_earlier(struct pass *pass, int64_t at_ms)
{
    pass->wake_ms =
        at_ms != 0 && (pass->wake_ms == 0 || at_ms < pass->wake_ms) ? at_ms : pass->wake_ms;
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
        return; /* not complete: the next pass computes the shares from the new usage history */
    }
    struct pass pass = {.core = core, .pool = pool, .in = in, .out = out, .arena = out->arena};
    const size_t count = out->count;
    pass.wake_ms = pool->wake_ms > in->now_ms ? pool->wake_ms : 0;
    trial_init_kept(&pass.trial, core, pool->id, pass.arena);
    pass.trial.overlay.now_ms = in->now_ms;
    pass.trial.overlay.visited = &out->visited;
    hold_init(&pass.hold, core, pool, &pass.trial);
    pass_pool(&pass);
    (void)trial_facts(&pass.trial, in, out);
    if (pool_starts(pool)) {
        hold_settle(&pass.hold, pass.stopped, barred, &pass, in, out);
        wake_earlier(&pass, pass.hold.wake_ms);
    }
    if (out->count == count && !pass.stopped) {
        wake_earlier(&pass, open_decide(&pass.trial, in, out));
    }
    wake_fact(&pass);
    if (out->count == count) {
        misses_learn(&pass, 0);
        trial_done(&pass.trial);
        return;
    }
    struct fact *fact = fact_list_add(out, in, FACT_PASS);
    fact->pass.pool = pool->id;
    fact->pass.work = pass.work;
    fact->pass.placed = pass.placed;
    /* Complete: no task waits, and no provider may be asked for nodes. Else a further pass looks again. */
    fact->pass.complete =
        !pass.stopped && !pass.waits && !pass.again && !pass.hold.changed && !elastic_pool(pool);
    misses_learn(&pass, out->count - count);
    trial_done(&pass.trial);
}
