/* victims_piece.c - may a search take this piece? See victims_internal.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/instance.h"
#include "core/model/pool.h"
#include "core/model/spec.h"
#include "core/model/task.h"
#include "core/sched/keep/budget.h"
#include "core/sched/order/runtime.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/victims.h"
#include "core/sched/take/victims_internal.h"

/* For work that is at most so many turns old the loss budget may go into debt. */
enum { DEBT_TURNS = 2 };

/* Is the task a gang of which the trial starts further instances? Instances that the trial starts cannot be evicted in the same pass,
 * and the rest of a gang leaves only as a whole. */
bool victims_piece_growing(const struct victims *victims, const struct task *task)
{
    for (uint32_t i = 0; task->gang && i < victims->growing_count; i++) {
        if (victims->growing[i] == task) {
            return true;
        }
    }
    return false;
}

/* Is the search for tasks of lower priority, and does this piece have no lower priority than the claimant? Pieces that follow in the
 * order of a project have no lower priority than this piece. A search over the whole pool goes on to pieces of the claimant's own
 * priority where the user has put running tasks behind others: is_behind() then judges each piece. */
bool victims_piece_important(const struct victims *victims, const struct piece *piece)
{
    const struct victims_ask *ask = victims->ask;
    const bool lower = ask->of == VICTIMS_OF_OWN || ask->of == VICTIMS_OF_LOWER;
    const bool equals = ask->of == VICTIMS_OF_LOWER && victims->pool->overtaken_count > 0;
    return lower && (equals ? piece->task->priority > ask->task->priority
                            : piece->task->priority >= ask->task->priority);
}

/* May the claimant take the piece by priority, or because the user put the piece's task behind the claimant in the queue? True for
 * every piece of a search that asks for no priority. */
static bool is_behind(const struct victims_ask *ask, const struct piece *piece)
{
    const struct task *task = piece->task;
    return ask->of != VICTIMS_OF_LOWER || task->priority < ask->task->priority ||
           (task->overtaken && task->rank > ask->task->rank);
}

/* Would the piece have to move, and has it run for too long? */
bool victims_piece_old(const struct victims *victims, const struct piece *piece)
{
    return victims->ask->of == VICTIMS_OF_ALL && piece->age_ms > MOVE_RUN_MS_MAX;
}

void victims_piece_cost(const struct victims *victims, struct piece *piece)
{
    const struct core *core = victims->trial->core;
    for (const struct instance *instance = pieces_cache_next(core, piece, NULL);
         !piece->cost_known && instance != NULL;
         instance = pieces_cache_next(core, piece, instance)) {
        const int64_t unsaved_ms = victims->now_ms - instance_unsaved_ms(instance);
        piece->cost = bucket_plus(piece->cost, budget_lost(victims->trial, instance));
        piece->old |= unsaved_ms > DEBT_TURNS * victims->pool->turn_ms;
    }
    piece->cost_known = true;
}

/* Can the loss budget pay for the piece? */
static bool affordable(const struct victims *victims, struct piece *piece)
{
    victims_piece_cost(victims, piece);
    return budget_affords(victims->trial, piece->cost, !piece->old);
}

/* Is the piece's turn over, and can the loss budget pay for the piece? Notes the end of the turn. True for searches that turns do not
 * bind. */
bool victims_piece_due(struct victims *victims, const struct donor *donor, struct piece *piece)
{
    const int64_t turn_ms = victims->pool->turn_ms;
    const int64_t safe_ms = piece->task->safe_ms > turn_ms ? piece->task->safe_ms : turn_ms;
    if (!donor->turns) {
        return true;
    }
    if (piece->attempt_ms < safe_ms) {
        const int64_t free_ms = victims->now_ms - piece->attempt_ms + safe_ms;
        victims->wake_ms = free_ms < victims->wake_ms ? free_ms : victims->wake_ms;
        return false;
    }
    return affordable(victims, piece);
}

/* May the search take the piece, apart from other pieces of its gang? Notes the end of a minimum runtime that protects the piece. */
static bool is_eligible(struct victims *victims, const struct donor *donor, struct piece *piece)
{
    const struct victims_ask *ask = victims->ask;
    if (piece->taken || piece->task->id.v == ask->task->id.v || victims_piece_old(victims, piece) ||
        victims_piece_growing(victims, piece->task) || !is_behind(ask, piece) ||
        !victims_piece_due(victims, donor, piece)) {
        return false;
    }
    const int64_t min_ms = piece->extra ? 0 : donor->min_runtime_ms;
    if (!runtime_protected(piece->since_ms, min_ms, victims->now_ms)) {
        return true;
    }
    const int64_t free_ms = piece->since_ms + min_ms;
    if (free_ms <= victims->now_ms) {
        victims->moment = true; /* nothing but this very moment protects the piece */
        return false;
    }
    victims->wake_ms = free_ms < victims->wake_ms ? free_ms : victims->wake_ms;
    return false;
}

/* The pieces of a gang leave in a fixed order. So a piece is eligible only if each piece that must leave before it is eligible, too (P2). */
bool victims_piece_eligible(struct victims *victims, const struct donor *donor, struct piece *piece)
{
    if (!is_eligible(victims, donor, piece)) {
        return false;
    }
    if (!piece->whole && piece->from == piece->to) {
        return true; /* no piece must leave before */
    }
    uint32_t count;
    struct piece *gang = pieces_cache_gang(&victims->cache, piece, &count);
    for (uint32_t i = 0; i < count && &gang[i] != piece; i++) {
        if (!gang[i].taken && pieces_cut_before(&gang[i], piece) &&
            !is_eligible(victims, donor, &gang[i])) {
            return false;
        }
    }
    return true;
}
