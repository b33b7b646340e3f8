/* action.c - the actions of one task, at its turn.
 *
 * A task tries all actions before the next task has its turn. So no later task starts on the room that an earlier task would take,
 * and no start is taken back by a claimant that stood ahead.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/action.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/sched/keep/bound_above.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/keep/hold.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/runtime.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/turns.h"
#include "core/sched/order/view.h"
#include "core/sched/place/place.h"
#include "core/sched/place/place_form.h"
#include "core/sched/take/consolidate.h"
#include "core/sched/take/preempt.h"
#include "core/sched/take/reclaim.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

/* From when on the task may take from others. */
static int64_t take_from_ms(const struct action *action, const struct task *task)
{
    return runtime_evict_from_ms(task->submitted_ms, task->evicted_ms,
                                 runtime_delay_ms(task, action->pool));
}

static bool action_due(struct action *action, const struct task *task)
{
    const int64_t from_ms = take_from_ms(action, task);
    must(action->wake_ms > action->now_ms);
    if (from_ms <= action->now_ms) {
        return true;
    }
    action->wake_ms = from_ms < action->wake_ms ? from_ms : action->wake_ms;
    return false;
}

struct claimant action_claimant(const struct action *action, const struct chunk *chunk)
{
    must(chunk->count > 0);
    return (struct claimant){
        .pool = &action->trial->tally.shares->pool,
        .account = tally_view(&action->trial->tally, chunk->task),
        .request = chunk->amounts,
        .preemptible = chunk->task->preemptible,
        .saturation_milli = SATURATION_MILLI_DEFAULT,
    };
}

bool action_guaranteed(const struct claimant *claimant)
{
    return account_within_guarantee(claimant->pool, claimant->account, &claimant->request);
}

bool action_shape_speaks(const struct action *action, const struct task *task)
{
    return query_task_shape(action->trial->core, task->shape)->form == NULL ||
           task->active_count == 0;
}

/* Kept places must stay free in a search. Many claimants fail before they search, so the holders choose their places only now. */
static void places_keep(struct action *action)
{
    if (action->hold != NULL) {
        hold_keep(action->hold);
    }
}

enum chunk_result action_solve(struct action *action, const struct solve_ask *ask,
                               uint64_t work_max)
{
    const uint64_t most = work_max < action->claimant_max ? work_max : action->claimant_max;
    places_keep(action);
    return solve_run(action->solve, ask, most, &action->work) == SOLVE_FOUND ? CHUNK_CLAIMED
                                                                             : CHUNK_FAILED;
}

/* ---- the next instances of a task ---- */

/* The next instances of a gang with a form. A gang may have several choices of instances; `choice` is the number of one, from 0.
 * False: there is no such choice. */
static bool chunk_form(const struct action *action, const struct task *task, struct lane *lane,
                       uint32_t choice, struct chunk *ret)
{
    const struct trial *trial = action->trial;
    uint32_t *indices = arena_new(trial->arena, uint32_t, task->instance_count);
    if (task->claimed_count > 0) {
        return false;
    }
    *ret = (struct chunk){.task = task, .note = lane->note, .indices = indices};
    ret->count = form_chunk(trial->core, task, place_form_known(trial, task), choice, indices);
    must(ret->count <= task->instance_count);
    form_chunk_amounts(trial->core, task, indices, ret->count, SLOTS_MOST, &ret->amounts);
    return ret->count > 0;
}

/* The next instances of a task without a form. False: every instance has its place or a promised one. */
static bool chunk_plain(const struct action *action, const struct task *task, struct lane *lane,
                        struct chunk *ret)
{
    const struct core *core = action->trial->core;
    const uint32_t promised =
        task->gang && task->claimed_count > 0 ? task->waiting_count : task->claimed_count;
    if (task->waiting_count <= promised + lane->added) {
        return false;
    }
    *ret =
        (struct chunk){.task = task, .note = lane->note, .count = turns_chunk(task, lane->added)};
    uint32_t *indices = arena_new(action->trial->arena, uint32_t, ret->count);
    uint32_t at = lane->index;
    for (uint32_t i = 0; i < ret->count; i++, at++) {
        at = place_waiting(core, task, at);
        must(at < task->instance_count);
        indices[i] = at;
    }
    ret->indices = indices;
    turns_amounts(core, task, ret->count, SLOTS_MOST, &ret->amounts);
    return true;
}

/* The next instances of a task. False: every instance has its place or a promised one, or there is no choice `choice`. */
static bool chunk_next(const struct action *action, const struct task *task, struct lane *lane,
                       uint32_t choice, struct chunk *ret)
{
    struct trial *trial = action->trial;
    must(task->pool.v == trial->pool.v);
    const bool formed = query_task_shape(trial->core, task->shape)->form != NULL;
    if (!(formed ? chunk_form(action, task, lane, choice, ret)
                 : choice == 0 && chunk_plain(action, task, lane, ret))) {
        return false;
    }
    ret->passes = rights_all(trial, task, &lane->key, &ret->amounts);
    return true;
}

/* Instances that are leaving anyway make room. This room is promised in the pool's order, before any further instance is evicted. */
static enum chunk_result later_try(struct action *action, const struct chunk *chunk)
{
    must(chunk->count > 0);
    if (tally_user_capped(&action->trial->tally, chunk->task, VIEW_LATER, &chunk->amounts)) {
        return CHUNK_SKIPPED;
    }
    const struct solve_ask ask = {.task = chunk->task,
                                  .indices = chunk->indices,
                                  .count = chunk->count,
                                  .passes = chunk->passes};
    places_keep(action);
    /* Where neither bounds nor holders tell tasks apart, what one instance did not find an equal one does not find either. */
    const struct trial *trial = action->trial;
    const bool alike = chunk->count == 1 && chunk->passes == 0 && !trial->overlay.keep_timed &&
                       query_task_shape(trial->core, chunk->task->shape)->form == NULL &&
                       tally_unbounded(&trial->tally, chunk->task);
    if (alike && chunk->note->left_at == trial->count + 1) {
        return CHUNK_FAILED;
    }
    if (solve_set_later(action->solve, &ask)) {
        return CHUNK_CLAIMED;
    }
    chunk->note->left_at = alike ? trial->count + 1 : chunk->note->left_at;
    return CHUNK_FAILED;
}

/* Consolidation, then reclaim, then preemption: the action that costs others least comes first. */
static enum chunk_result chunk_try(struct action *action, const struct chunk *chunk)
{
    must(chunk->count > 0);
    const bool fair = action->pool->policy == POLICY_FAIR_SHARE;
    if (tally_user_capped(&action->trial->tally, chunk->task, VIEW_LATER, &chunk->amounts) ||
        !action_due(action, chunk->task)) {
        return CHUNK_SKIPPED;
    }
    enum chunk_result result = fair ? consolidate_try(action, chunk) : CHUNK_FAILED;
    if (fair && result == CHUNK_FAILED) {
        result = reclaim_try(action, chunk);
    }
    result = result == CHUNK_FAILED ? preempt_try(action, chunk) : result;
    return result;
}

/* Is some instance leaving a node of the pool? */
static bool some_leave(const struct core *core, pool_id pool)
{
    struct okey key = {{pool.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_NODE_CHANGING], key, &key) && key.at[0] == pool.v) {
        const struct node *node = query_node(core, (node_id){(uint32_t)key.at[1]});
        must(node != NULL);
        if (node->leaving_count > 0) {
            return true;
        }
    }
    return false;
}

/* Are the amounts of the chunk kept for another task: by a bound of its project, by a bound of an account above, or by the right of
 * the holder of a reservation? */
static bool chunk_held(const struct action *action, const struct first_bound *bound,
                       const struct chunk *chunk, const struct okey *key)
{
    struct trial *trial = action->trial;
    return first_bound_holds(trial, bound, chunk->task, VIEW_LATER, &chunk->amounts) ||
           bound_above_holder(trial, action->above, chunk->task, VIEW_LATER, &chunk->amounts) !=
               NULL ||
           rights_held(trial, chunk->task, key, &chunk->amounts) != NULL;
}

/* Claims the places that leaving instances will free; if they are too few, evicts or moves instances. */
static enum chunk_result chunk_take(struct action *action, const struct chunk *chunk)
{
    const enum chunk_result later = action->leaving ? later_try(action, chunk) : CHUNK_FAILED;
    return later == CHUNK_FAILED ? chunk_try(action, chunk) : later;
}

typedef enum chunk_result (*chunk_fn)(struct action *action, const struct chunk *chunk);

/* Tries the chunk, then each further choice of the task's next instances, until a choice is claimed or skipped. `*chunk` becomes
 * the last choice tried. With `asks`: a choice whose amounts are kept for another task is not tried. */
static enum chunk_result choices_try(struct action *action, const struct first_bound *bound,
                                     bool asks, struct lane *lane, chunk_fn try,
                                     struct chunk *chunk)
{
    const struct task *task = chunk->task;
    must(chunk->count > 0);
    enum chunk_result result = CHUNK_HELD;
    struct chunk next = *chunk;
    for (uint32_t choice = 1;; choice++) {
        if (!asks || !chunk_held(action, bound, &next, &lane->key)) {
            result = try(action, &next);
        }
        if (result == CHUNK_CLAIMED || result == CHUNK_SKIPPED) {
            *chunk = next;
            return result;
        }
        if (!chunk_next(action, task, lane, choice, &next)) {
            return result;
        }
    }
}

bool action_any(const struct pool *pool)
{
    return !pool->preemption_off &&
           (pool->policy == POLICY_FAIR_SHARE || pool->policy == POLICY_PRIORITY);
}

void action_init(struct action *action, struct trial *trial, struct bounds_above *above,
                 struct hold *hold, int64_t now_ms)
{
    *action = (struct action){
        .trial = trial,
        .above = above,
        .hold = hold,
        .pool = query_pool(trial->core, trial->pool),
        .now_ms = now_ms,
        .solve = solve_new(trial, now_ms),
        .wake_ms = INT64_MAX,
        .claimant_max = CLAIMANT_WORK_MAX,
        .leaving = some_leave(trial->core, trial->pool),
    };
    must(action_any(action->pool));
}

enum chunk_result action_take(struct action *action, const struct first_bound *bound,
                              const struct task *task, struct lane *lane)
{
    struct chunk chunk;
    if (action->work >= ACTION_WORK_MAX || !chunk_next(action, task, lane, 0, &chunk)) {
        return CHUNK_SKIPPED;
    }
    action->work++;
    solve_refresh(action->solve);
    const enum chunk_result result = choices_try(action, bound, true, lane, chunk_take, &chunk);
    if (result == CHUNK_CLAIMED) {
        lane->added += chunk.count;
        lane->index = chunk.indices[chunk.count - 1] + 1;
        action->claimed = true;
        action->leaving = true;
    }
    return result;
}

bool action_waits(struct action *action, const struct account_view *account,
                  const struct task *task, struct shape_note *note)
{
    const struct trial *trial = action->trial;
    if ((action->leaving && note->left_at != trial->count + 1) ||
        take_from_ms(action, task) > action->now_ms) {
        return false;
    }
    const struct claimant claimant = {.pool = &trial->tally.shares->pool,
                                      .account = account,
                                      .request = turns_note(trial->core, note, task)->amounts,
                                      .preemptible = true};
    solve_refresh(action->solve);
    return (note->unmoved_from == 1 || !consolidate_may(action, &claimant, task)) &&
           reclaim_rules_start(&claimant) != CLAIM_MAY_START &&
           !preempt_lower(action, account, task);
}

int64_t action_wake_ms(const struct action *action)
{
    const int64_t free_ms =
        victims_moment(action->solve->victims) ? action->now_ms + 1 : solve_wake_ms(action->solve);
    const int64_t wake_ms = free_ms < action->wake_ms ? free_ms : action->wake_ms;
    return wake_ms > TIME_MS_MAX ? 0 : wake_ms;
}

bool action_would(struct trial *trial, const struct task *task, int64_t now_ms, uint64_t work_max,
                  uint64_t *work, int64_t *ret_wake_ms)
{
    *ret_wake_ms = INT64_MAX;
    must(task->pool.v == trial->pool.v);
    if (!action_any(query_pool(trial->core, trial->pool))) {
        return false;
    }
    struct action action;
    action_init(&action, trial, NULL, NULL, now_ms);
    action.claimant_max = work_max;
    struct shape_note note = {.shape = task->shape};
    struct lane lane = {.key = key_account_queue(task), .note = &note};
    struct chunk chunk;
    const size_t mark = trial_mark(trial);
    const int64_t lost = trial->lost;
    const bool found = chunk_next(&action, task, &lane, 0, &chunk) &&
                       choices_try(&action, NULL, false, &lane, chunk_try, &chunk) == CHUNK_CLAIMED;
    trial_rollback(trial, mark);
    trial->lost = lost;
    *work += action.work;
    *ret_wake_ms = solve_wake_ms(action.solve);
    return found;
}
