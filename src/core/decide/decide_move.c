/* decide_move.c - a task's place in the queue.
 *
 * A project's tasks of one priority hold ranks in the pool's order. A move gives the ranks between the
 * old and the new place out anew, one step each, and makes none: so it can be repeated for ever, and
 * for the tasks of other projects nothing changes.
 *
 *   ranks      3  8  9  20          `move D --ahead-of B`
 *   before     A  B  C  D
 *   after      A  D  B  C
 *
 * Tasks that do not stand in the queue (running, paused, waiting for others) keep their ranks unless
 * they are one of the two. SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/limits.h"
#include "core/model/oindex.h"
#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/fact.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

/* Tasks of all projects that lie between are passed over, so many at most. */
enum { MOVE_LOOK_MAX = 10 * MOVE_TASKS_MAX };

struct move_line {
    task_id *at; /* those that change places, in their order; then as they will stand */
    int64_t *ranks;
    uint32_t count;
};

static bool comes_first(const struct task *a, const struct task *b)
{
    return oindex_key_compare(key_queue(a), key_queue(b)) < 0;
}

/* May the task stand beside the other: are they in one line? */
static enum verdict line_same(struct step *step, const struct task *task, const struct task *other)
{
    bool pool = other->pool.v == task->pool.v;
    if (!pool || other->account.v != task->account.v) {
        step_refuse(step, REASON_OTHER_QUEUE, pool ? "project" : "pool")->task = other->id;
        return VERDICT_CONFLICT;
    }
    if (other->priority != task->priority) {
        struct reason *reason = step_refuse(step, REASON_OTHER_PRIORITY, "");
        reason->task = task->id;
        reason->need = other->priority;
        return VERDICT_CONFLICT;
    }
    return VERDICT_OK;
}

/* The task to stand beside; else NULL and the verdict. */
static const struct task *other_of(struct step *step, const struct task *task, enum verdict *ret)
{
    task_id id = step->in->task.move.other;
    const struct task *other = query_task(step->core, id);
    if (id.v == 0 || id.v > query_task_last(step->core).v) {
        step_refuse(step, REASON_UNKNOWN_OBJECT, "task")->task = id;
        *ret = VERDICT_NOT_FOUND;
    } else if (other == NULL || task_state_ended(other->state)) {
        step_refuse(step, REASON_TASK_ENDED, "")->task = id;
        *ret = VERDICT_CONFLICT;
    } else {
        *ret = line_same(step, task, other);
    }
    return *ret == VERDICT_OK ? other : NULL;
}

static bool line_add(struct move_line *line, const struct task *task)
{
    if (line->count > MOVE_TASKS_MAX) {
        return false;
    }
    line->at[line->count] = task->id;
    line->ranks[line->count++] = task->rank;
    return true;
}

/* The project's tasks from the first of the two to the last; false: there are too many. */
static bool line_between(const struct core *core, const struct task *first, const struct task *last,
                         struct move_line *ret)
{
    const struct oindex *queue = &core->orders[ORDER_QUEUE];
    const struct okey end = key_queue(last);
    struct okey key = key_queue(first);
    bool fits = line_add(ret, first);
    for (uint32_t looked = 0; fits && oindex_next(queue, key, &key); looked++) {
        if (oindex_key_compare(key, end) >= 0) {
            break;
        }
        const struct task *task = query_task(core, (task_id){key.at[3]});
        must(task != NULL);
        fits =
            looked < MOVE_LOOK_MAX && (task->account.v != first->account.v || line_add(ret, task));
    }
    return fits && line_add(ret, last);
}

/* Put the task, which is the first or the last of the line, beside the other, which is the last or the
 * first. */
static void line_turn(struct move_line *line, task_id task, bool behind)
{
    if (line->at[0].v == task.v) {
        uint32_t to = behind ? line->count - 1 : line->count - 2;
        memmove(line->at, line->at + 1, to * sizeof *line->at);
        line->at[to] = task;
    } else {
        uint32_t to = behind ? 1 : 0;
        memmove(line->at + to + 1, line->at + to, (line->count - 1 - to) * sizeof *line->at);
        line->at[to] = task;
    }
}

/* Those whose rank is another one afterwards. */
static uint32_t line_changes(const struct core *core, const struct move_line *line,
                             struct task_rank *ret)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < line->count; i++) {
        if (query_task(core, line->at[i])->rank != line->ranks[i]) {
            ret[count++] = (struct task_rank){line->at[i], line->ranks[i]};
        }
    }
    return count;
}

enum verdict decide_move(struct step *step)
{
    enum verdict verdict = VERDICT_OK;
    const struct task *task = step_task(step, &verdict);
    const struct task *other = task != NULL ? other_of(step, task, &verdict) : NULL;
    if (other == NULL || other == task) {
        return verdict;
    }
    struct arena *arena = step->out->arena;
    struct move_line line = {.at = arena_new(arena, task_id, MOVE_TASKS_MAX + 1),
                             .ranks = arena_new(arena, int64_t, MOVE_TASKS_MAX + 1)};
    bool ahead = comes_first(task, other);
    if (!line_between(step->core, ahead ? task : other, ahead ? other : task, &line)) {
        step_refuse(step, REASON_MOVE_TOO_FAR, "")->task = task->id;
        step->out->refusal.need = MOVE_TASKS_MAX;
        return VERDICT_REFUSED;
    }
    line_turn(&line, task->id, step->in->task.move.behind);
    struct task_rank *ranks = arena_new(arena, struct task_rank, line.count);
    uint32_t count = line_changes(step->core, &line, ranks);
    if (count == 0) {
        return VERDICT_OK; /* it stands there */
    }
    struct fact *fact = step_fact(step, FACT_TASK_MOVED);
    fact->task_moved.task = task->id;
    fact->task_moved.other = other->id;
    fact->task_moved.behind = step->in->task.move.behind;
    fact->task_moved.ranks = ranks;
    fact->task_moved.rank_count = count;
    return VERDICT_OK;
}
