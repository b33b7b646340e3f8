/* action.c - the round through the waiting tasks.
 *
 * Each task tries all actions before the next task has its turn. So no later task takes by consolidation the room for which an
 * earlier task would evict.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/action.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/sort.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/spec.h"
#include "core/sched/keep/bound_above.h"
#include "core/sched/keep/first_bound.h"
#include "core/sched/keep/rights.h"
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

/* How many waiting instances of a task the trial has placed. */
struct placed_task {
    uint64_t task;
    uint32_t count;
    uint32_t index; /* the highest placed instance, plus one */
};

struct action_round {
    struct action *action;
    struct turns turns;
    struct placed_task *placed; /* ascending by task */
    size_t placed_count;
};

static bool action_due(struct action *action, const struct task *task)
{
    const int64_t from_ms = runtime_evict_from_ms(task->submitted_ms, task->evicted_ms,
                                                  runtime_delay_ms(task, action->pool));
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

bool action_shape_speaks(const struct action *action, const struct task *task)
{
    return query_task_shape(action->trial->core, task->shape)->form == NULL ||
           task->active_count == 0;
}

enum chunk_result action_solve(struct action *action, const struct solve_ask *ask,
                               uint64_t work_max)
{
    const uint64_t most = work_max < action->claimant_max ? work_max : action->claimant_max;
    return solve_run(action->solve, ask, most, &action->work) == SOLVE_FOUND ? CHUNK_CLAIMED
                                                                             : CHUNK_FAILED;
}

/* ---- what the trial has placed ---- */

static int placed_order(const void *left, const void *right)
{
    const struct placed_task *a = left;
    const struct placed_task *b = right;
    return a->task != b->task ? (a->task < b->task ? -1 : 1)
                              : (a->index < b->index ? -1 : a->index > b->index);
}

static void placed_load(struct action_round *round)
{
    const struct trial *trial = round->action->trial;
    struct placed_task *all = arena_new(trial->arena, struct placed_task, trial->count);
    size_t count = 0;
    for (size_t i = 0; i < trial->count; i++) {
        const struct decision *decision = &trial->decisions[i];
        const bool waits =
            query_instance_claim(trial->core, decision->task->id, decision->index) == NULL;
        if (waits && (decision->kind == DECISION_START || decision->kind == DECISION_CLAIM)) {
            must(decision->index < decision->task->instance_count);
            all[count++] = (struct placed_task){decision->task->id.v, 1, decision->index + 1};
        }
    }
    if (count > 0) {
        sort_items(all, count, sizeof all[0], placed_order);
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && all[kept - 1].task == all[i].task) {
            all[kept - 1].count++;
            all[kept - 1].index = all[i].index;
        } else {
            all[kept++] = all[i];
        }
    }
    round->placed = all;
    round->placed_count = kept;
}

static struct placed_task placed_of(const struct action_round *round, const struct task *task)
{
    const struct placed_task wanted = {.task = task->id.v};
    size_t from = 0;
    size_t to = round->placed_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (round->placed[middle].task < wanted.task) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    const bool found = from < round->placed_count && round->placed[from].task == wanted.task;
    must(!found || round->placed[from].index <= task->instance_count);
    return found ? round->placed[from] : wanted;
}

/* ---- the round ---- */

/* The next instances of a gang with a form. A gang may have several choices of instances; `choice` is the number of one, from 0.
 * False: there is no such choice. */
static bool chunk_form(const struct action_round *round, const struct task *task, struct lane *lane,
                       uint32_t choice, struct chunk *ret)
{
    const struct trial *trial = round->action->trial;
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
static bool chunk_plain(const struct action_round *round, const struct task *task,
                        struct lane *lane, struct chunk *ret)
{
    const struct core *core = round->action->trial->core;
    const struct placed_task placed = placed_of(round, task);
    if (lane->index < placed.index) {
        lane->index = placed.index;
    }
    const uint32_t promised =
        task->gang && task->claimed_count > 0 ? task->waiting_count : task->claimed_count;
    if (task->waiting_count <= promised + placed.count + lane->added) {
        return false;
    }
    *ret = (struct chunk){
        .task = task, .note = lane->note, .count = turns_chunk(task, placed.count + lane->added)};
    uint32_t *indices = arena_new(round->action->trial->arena, uint32_t, ret->count);
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
static bool chunk_next(const struct action_round *round, const struct task *task, struct lane *lane,
                       uint32_t choice, struct chunk *ret)
{
    struct trial *trial = round->action->trial;
    must(task->pool.v == trial->pool.v);
    const bool formed = query_task_shape(trial->core, task->shape)->form != NULL;
    if (!(formed ? chunk_form(round, task, lane, choice, ret)
                 : choice == 0 && chunk_plain(round, task, lane, ret))) {
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
    return solve_set_later(action->solve, &ask) ? CHUNK_CLAIMED : CHUNK_FAILED;
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
    action->failed |= result == CHUNK_FAILED;
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
static bool chunk_held(const struct action *action, const struct turns_line *line,
                       const struct chunk *chunk, const struct okey *key)
{
    struct trial *trial = action->trial;
    return first_bound_holds(trial, line->bound, chunk->task, VIEW_LATER, &chunk->amounts) ||
           bound_above_holder(trial, action->above, chunk->task, VIEW_LATER, &chunk->amounts) !=
               NULL ||
           rights_held(trial, chunk->task, key, &chunk->amounts) != NULL;
}

typedef enum chunk_result (*chunk_fn)(struct action *action, const struct chunk *chunk);

/* Tries the chunk, then each further choice of the task's next instances, until a choice is claimed or skipped. `*chunk` becomes
 * the last choice tried. `line` NULL: whether the amounts are kept for another task is not asked. */
static enum chunk_result choices_try(const struct action_round *round,
                                     const struct turns_line *line, struct lane *lane, chunk_fn try,
                                     struct chunk *chunk)
{
    const struct task *task = chunk->task;
    must(chunk->count > 0);
    enum chunk_result result = CHUNK_HELD;
    struct chunk next = *chunk;
    for (uint32_t choice = 1;; choice++) {
        if (line == NULL || !chunk_held(round->action, line, &next, &lane->key)) {
            result = try(round->action, &next);
        }
        if (result == CHUNK_CLAIMED || result == CHUNK_SKIPPED) {
            *chunk = next;
            return result;
        }
        if (!chunk_next(round, task, lane, choice, &next)) {
            return result;
        }
    }
}

static void line_try(struct action_round *round, struct turns_line *line, chunk_fn try)
{
    struct queue *queue = &line->queue;
    const struct task *task = queue_first(queue);
    struct lane *lane = queue_lane(queue);
    struct chunk chunk;
    must(task != NULL); /* turns_first() gives only projects that have a waiting task */
    round->action->work++;
    if (!chunk_next(round, task, lane, 0, &chunk)) {
        queue_advance(queue);
        return;
    }
    const enum chunk_result result = choices_try(round, line, lane, try, &chunk);
    if (result != CHUNK_CLAIMED && line->bound == NULL) {
        line->bound =
            first_bound_new(round->action->trial, task, chunk.count, round->action->now_ms);
    }
    switch (result) {
    case CHUNK_CLAIMED:
        bound_above_placed(round->action->above, task);
        lane->added += chunk.count;
        lane->index = chunk.indices[chunk.count - 1] + 1;
        if (task->gang) {
            queue_advance(queue);
        }
        break;
    case CHUNK_FAILED:
        if (action_shape_speaks(round->action, task)) {
            queue_drop(queue);
        } else {
            queue_advance(queue);
        }
        break;
    case CHUNK_SKIPPED:
        queue_advance(queue);
        break;
    case CHUNK_HELD:
        if (round->action->pool->user_slots_max > 0) {
            queue_advance(queue); /* the next task may be of a user whose cap is not reached */
        } else {
            queue_drop(queue);
        }
        break;
    }
}

static void round_run(struct action *action, chunk_fn try)
{
    struct action_round round = {.action = action};
    struct turns_line *line;
    must(action->pool->id.v == action->trial->pool.v);
    placed_load(&round);
    turns_init(&round.turns, action->trial->core, action->pool, &action->trial->tally,
               action->trial->arena);
    while ((line = turns_first(&round.turns)) != NULL) {
        if (action->work >= ACTION_WORK_MAX) {
            return;
        }
        line_try(&round, line, try);
        turns_update(&round.turns, line);
    }
}

bool action_any(const struct pool *pool)
{
    return !pool->preemption_off &&
           (pool->policy == POLICY_FAIR_SHARE || pool->policy == POLICY_PRIORITY);
}

struct action_result action_run_all(struct trial *trial, struct bounds_above *above, int64_t now_ms,
                                    uint64_t *work)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    struct action_result result = {0};
    if (!action_any(pool)) {
        return result;
    }
    struct action action = {.trial = trial,
                            .above = above,
                            .pool = pool,
                            .now_ms = now_ms,
                            .solve = solve_new(trial, now_ms),
                            .wake_ms = INT64_MAX,
                            .claimant_max = CLAIMANT_WORK_MAX};
    const size_t mark = trial_mark(trial);
    if (some_leave(trial->core, trial->pool)) {
        round_run(&action, later_try);
    }
    round_run(&action, chunk_try);
    *work += action.work;
    const int64_t free_ms = solve_wake_ms(action.solve);
    const int64_t wake_ms = free_ms < action.wake_ms ? free_ms : action.wake_ms;
    must(trial_mark(trial) >= mark);
    result.wake_ms = wake_ms > TIME_MS_MAX ? 0 : wake_ms;
    result.again = trial_mark(trial) > mark || action.failed;
    return result;
}

bool action_would(struct trial *trial, const struct task *task, int64_t now_ms, uint64_t work_max,
                  uint64_t *work, int64_t *ret_wake_ms)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    *ret_wake_ms = INT64_MAX;
    must(task->pool.v == trial->pool.v);
    if (!action_any(pool)) {
        return false;
    }
    struct action action = {.trial = trial,
                            .pool = pool,
                            .now_ms = now_ms,
                            .solve = solve_new(trial, now_ms),
                            .wake_ms = INT64_MAX,
                            .claimant_max = work_max};
    const struct action_round round = {.action = &action};
    struct shape_note note = {.shape = task->shape};
    struct lane lane = {.key = key_account_queue(task), .note = &note};
    struct chunk chunk;
    const size_t mark = trial_mark(trial);
    const bool found = chunk_next(&round, task, &lane, 0, &chunk) &&
                       choices_try(&round, NULL, &lane, chunk_try, &chunk) == CHUNK_CLAIMED;
    trial_rollback(trial, mark);
    *work += action.work;
    *ret_wake_ms = solve_wake_ms(action.solve);
    return found;
}
