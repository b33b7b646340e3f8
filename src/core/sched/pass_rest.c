/* pass_rest.c - the end of the turns of a pass: tasks that go on waiting for certain are noted together, without a turn for each.
 *
 * In a full pool with many projects most turns end the same way. The task's shape found no place in this pass, and the task's project
 * holds its share, so the project may take nothing from others. Such a turn only counts as work, and may name a blocked task
 * (hold_note). Once all tasks that are left are of this kind, the order of their turns decides nothing but which blocked tasks are
 * named. So turns go on until no more can be named, and the rest is counted.
 *
 * With caches off each task has its turn. So the tests that compare histories with and without caches (P12) compare both ways.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/oindex.h"
#include "core/model/shape.h"
#include "core/sched/keep/rights.h"
#include "core/sched/pass_internal.h"
#include "core/sched/take/preempt.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* A pass looks at each line so many times at most, to find out whether all tasks that are left go on waiting. */
enum { REST_LOOKS_MAX = 4 };

/* The work that the pass would count if each task that is left had its turn. */
struct rest {
    uint64_t looked; /* tasks looked at */
    uint64_t taken;  /* calls of action_take() */
};

/* Are all waiting instances of the task promised? Then its turn goes to the next task of the lane. */
static bool is_promised(const struct task *task)
{
    return !task->gang && task->claimed_count == task->waiting_count;
}

/* The first task of the lane that is not promised; NULL: none. */
static const struct task *lane_task(const struct pass *pass, const struct lane *lane,
                                    struct rest *rest)
{
    const struct oindex *order = &pass->core->orders[ORDER_ACCOUNT_QUEUE];
    struct okey key = lane->key;
    for (;;) {
        const struct task *task = query_task_in(pass->core, pass->pool->id, (task_id){key.at[3]});
        rest->looked++;
        if (!is_promised(task)) {
            return task;
        }
        const struct okey from = key;
        if (!oindex_next(order, from, &key) || key.at[0] != from.at[0] || key.at[1] != from.at[1]) {
            return NULL;
        }
    }
}

/* Is it certain that the next task of the lane finds no place and takes none, and that the lane ends with it? */
static bool lane_waits(struct pass *pass, const struct turns_line *line, struct lane *lane,
                       struct rest *rest)
{
    const struct shape *shape = query_task_shape(pass->core, lane->note->shape);
    if (lane->added > 0 || shape->form != NULL ||
        !(lane->note->missed_from == 1 || pass_remembers(pass, shape, 1))) {
        return false;
    }
    const struct task *task = lane_task(pass, lane, rest);
    if (task == NULL) {
        return true;
    }
    rest->taken++;
    return !task->gang && task->preemptible && !task->reserved && task->claimed_count == 0 &&
           action_waits(&pass->action, line->view, task, lane->note);
}

static bool line_waits(struct pass *pass, const struct turns_line *line, struct rest *rest)
{
    bool waits = line->bound == NULL && !line->view->bound;
    for (uint32_t i = 0; waits && i < line->queue.count; i++) {
        waits = lane_waits(pass, line, &line->queue.at[i], rest);
    }
    return waits;
}

/* Do the holders concern only tasks of their own projects? Yes, where no holder has a known start, and where each holder's departments
 * have a right to the whole pool in the resources that the holder waits for. Any other holder may hold back tasks of its department
 * (rights.h). */
static bool holders_apart(struct pass *pass)
{
    const struct overlay *overlay = &pass->trial.overlay;
    const struct turns *turns = &pass->turns;
    if (overlay->keep_timed) {
        return false;
    }
    for (uint32_t i = 0; i < overlay->holder_count; i++) {
        const uint32_t at = tally_view(&pass->trial.tally, overlay->holders[i].task)->index;
        const bool waits = turns->lines[at] != NULL && turns->lines[at]->queue.count > 0;
        if (waits || !rights_apart(&pass->trial, i)) {
            return false;
        }
    }
    return true;
}

/* Do all tasks of the lines from `rest_at` on go on waiting for certain? If not, `rest_at` becomes the line of the first other task. */
static bool lines_wait(struct pass *pass, struct rest *rest)
{
    const struct turns *turns = &pass->turns;
    for (; pass->rest_at < turns->all_count; pass->rest_at++) {
        const struct turns_line *line = turns->all[pass->rest_at];
        pass->rest_looked++;
        if (line->heap == NULL && line->queue.count > 0 && !line_waits(pass, line, rest)) {
            return false;
        }
    }
    return true;
}

/* Do all tasks that are left go on waiting for certain? The first task that does not is asked first at the next call. */
static bool all_wait(struct pass *pass, struct rest *ret)
{
    const bool all = pass->rest_at == 0;
    if (pass->rest_looked > (uint64_t)REST_LOOKS_MAX * pass->turns.all_count ||
        !lines_wait(pass, ret)) {
        return false;
    }
    if (!all) { /* the look began in the middle: tasks before `rest_at` may have changed since the last look */
        *ret = (struct rest){0, 0};
        pass->rest_at = 0;
    }
    return all || lines_wait(pass, ret);
}

/* The turns that are left, until no more blocked tasks can be named. */
static void blocked_name(struct pass *pass)
{
    struct turns_line *line;
    while (pass->hold.blocked_count < HOLD_BLOCKED_MAX &&
           (line = turns_first(&pass->turns)) != NULL) {
        const struct task *task = queue_first(&line->queue);
        if (is_promised(task)) {
            queue_advance(&line->queue);
        } else {
            (void)hold_note(&pass->hold, task, &line->blocked);
            queue_drop(&line->queue);
        }
        turns_update(&pass->turns, line);
    }
}

bool pass_rest(struct pass *pass)
{
    const struct turns *turns = &pass->turns;
    struct rest rest = {0, 0};
    must(!pass->stopped);
    if (pass->core->capacity == NULL || !pass->acts || !pass->hold.between ||
        pass->pool->policy != POLICY_FAIR_SHARE || pass->above != NULL ||
        pass->pool->user_slots_max > 0 || !holders_apart(pass) || !all_wait(pass, &rest) ||
        (pass->placed > 0 && pass->work + rest.looked > pass->in->pass.work_max) ||
        pass->action.work + rest.taken > ACTION_WORK_MAX) {
        return false;
    }
    for (uint32_t i = 0; i < turns->all_count; i++) {
        for (uint32_t at = 0; at < turns->all[i]->queue.count; at++) {
            turns->all[i]->queue.at[at].note->missed_from = 1;
        }
    }
    pass->work += rest.looked;
    pass->action.work += rest.taken;
    pass->waits |= rest.taken > 0;
    blocked_name(pass);
    return true;
}
