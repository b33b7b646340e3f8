/* preview_later.c - what follows once attempts have left their places: which tasks start when the stopped attempts have left, and which
 * running task must end before a waiting task starts.
 *
 * Surprising: the second answer is found by trying. Tasks that hold what the waiting task lacks are ended in a copy, and the passes are
 * run, because a task that comes first in the queue may take the place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/oindex.h"
#include "core/preview_internal.h"
#include "core/state/key.h"
#include "core/state/state.h"

enum {
    WORK_LATER = 40000, /* units of work, as in preview.c */
    WORK_FIRST = 60000, /* for all tries together */
    HOLDERS_MAX = 12,   /* running tasks that are tried */
    STEPS_MAX = 8,      /* tasks that end one after another */
    STEP_NODES_MAX =
        4000, /* of a pool in which tasks end one after another: each step looks at all nodes */
    EXIT_STOPPED = 143, /* of a program that ended by SIGTERM */
};

/* Reports that the attempts of the task have ended, of a stopped task only those that were told to stop. False: the task has more
 * instances than the preview looks at. */
static bool leave(struct preview_try *try, task_id id, bool stopped)
{
    const struct task *task = query_task(try->copy, id);
    if (task == NULL || task->instance_count > PREVIEW_LEAVE_MAX) {
        return false;
    }
    struct arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; task != NULL && i < task->instance_count; i++) {
        const struct instance *instance = query_instance(try->copy, id, i);
        must(instance != NULL);
        if (!(stopped ? instance->state == INSTANCE_STOPPING : instance_active(instance))) {
            continue;
        }
        const struct report report = {.type = REPORT_ENDED,
                                      .key = {id, i, instance->attempt},
                                      .incarnation = instance->incarnation,
                                      .at_ms = try->now_ms,
                                      .exit_code = stopped ? EXIT_STOPPED : 0};
        const struct input in = {
            .type = INPUT_REPORT,
            .now_ms = try->now_ms,
            .actor = "preview",
            .cause = "",
            .report = {.node = instance->node, .reports = &report, .count = 1}};
        struct facts facts;
        fact_list_init(&facts, &arena);
        must(core_decide(try->copy, &in, &facts) == VERDICT_OK);
        preview_facts(try, &facts);
        task = query_task(try->copy, id); /* the last end may have taken the task away */
    }
    arena_done(&arena);
    return true;
}

void preview_later(struct preview *preview, int64_t now_ms)
{
    const uint32_t stops = preview->stop_count; /* the passes below may stop further tasks */
    struct preview_try try = {.now_ms = now_ms, .work_left = WORK_LATER, .note = preview};
    if (stops == 0) {
        return;
    }
    try.copy = core_copy(preview->after);
    try.later = true;
    for (uint32_t i = 0; i < stops; i++) {
        preview->cut |= !leave(&try, preview->stops[i].task, true);
    }
    preview->cut |= !preview_passes(&try);
    core_free(try.copy);
}

/* ---- which task must end first ---- */

struct blocker {
    task_id task;
    int64_t end_ms;   /* when the task should end; INT64_MAX: not known */
    int64_t limit_ms; /* when its time limit is over; 0: none */
};

struct blockers {
    const struct core *core;
    task_id waiting;
    uint32_t count;
    struct blocker at[HOLDERS_MAX]; /* the earliest end first */
};

static bool earlier(const struct blocker *a, const struct blocker *b)
{
    return a->end_ms != b->end_ms ? a->end_ms < b->end_ms : a->task.v < b->task.v;
}

static void holder_add(struct blockers *holders, task_id id, int64_t now_ms)
{
    const struct task *task = query_task(holders->core, id);
    bool known = task == NULL || task->active_count == 0 || id.v == holders->waiting.v;
    for (uint32_t i = 0; i < holders->count && !known; i++) {
        known = holders->at[i].task.v == id.v;
    }
    if (known || holders->count == HOLDERS_MAX) {
        return;
    }
    const int64_t from_ms = task->running_ms != 0 ? task->running_ms : now_ms;
    const int64_t expect_ms = task->expect_ms > 0 ? i64_add(from_ms, task->expect_ms) : INT64_MAX;
    const int64_t limit_ms =
        task->time_limit_ms > 0 ? i64_add(from_ms, task->time_limit_ms) : INT64_MAX;
    const struct blocker holder = {.task = id,
                                   .end_ms = expect_ms < limit_ms ? expect_ms : limit_ms,
                                   .limit_ms = limit_ms == INT64_MAX ? 0 : limit_ms};
    uint32_t at = holders->count++;
    while (at > 0 && earlier(&holder, &holders->at[at - 1])) {
        holders->at[at] = holders->at[at - 1];
        at--;
    }
    holders->at[at] = holder;
}

/* Gathers the tasks that hold what the waiting task lacks: tasks on the nearest nodes, or tasks of its project. */
static void holders_find(struct blockers *holders, const struct explanation *why, int64_t now_ms)
{
    const struct core *core = holders->core;
    const struct task *task = query_task(core, holders->waiting);
    if (task == NULL) {
        return;
    }
    for (uint32_t i = 0; i < why->blocker_count; i++) {
        holder_add(holders, why->blockers[i], now_ms);
    }
    for (uint32_t i = 0; i < why->near_count; i++) {
        struct okey key = {{why->near[i].node.v, 0, 0, 0}};
        while (holders->count < HOLDERS_MAX &&
               oindex_next(&core->orders[ORDER_ON_NODE], key, &key) &&
               key.at[0] == why->near[i].node.v) {
            holder_add(holders, (task_id){key.at[1]}, now_ms);
        }
    }
    const uint64_t account = ACCOUNT_KEY(task->pool, task->account);
    struct okey key = {{account, 0, 0, 0}};
    while (why->near_count == 0 && holders->count < HOLDERS_MAX &&
           oindex_next(&core->orders[ORDER_ACCOUNT_RUNNING], key, &key) && key.at[0] == account) {
        holder_add(holders, (task_id){key.at[3]}, now_ms);
    }
}

static bool started(const struct core *core, const struct blockers *holders, uint32_t active)
{
    const struct task *task = query_task(core, holders->waiting);
    return task != NULL && task->active_count > active;
}

/* Tries which task alone must end. */
static void first_alone(const struct blockers *holders, struct preview_try *try,
                        struct preview_wait *wait)
{
    const uint32_t active = query_task(holders->core, wait->task)->active_count;
    for (uint32_t i = 0; i < holders->count && wait->first.v == 0 && try->work_left > 0; i++) {
        try->copy = core_copy(holders->core);
        if (leave(try, holders->at[i].task, false) && preview_passes(try) &&
            started(try->copy, holders, active)) {
            wait->first = holders->at[i].task;
            wait->first_ms = holders->at[i].limit_ms;
        }
        core_free(try->copy);
    }
}

/* Ends one task after another in one copy, each time the one that should end next, until the waiting task starts. Tasks that start in
 * between may have to end too. */
static void first_of_several(const struct blockers *holders, struct preview_try *try,
                             struct preview_wait *wait)
{
    const uint32_t active = query_task(holders->core, wait->task)->active_count;
    struct blockers next = *holders;
    bool goes_on = true;
    try->copy = core_copy(holders->core);
    next.core = try->copy;
    for (uint32_t i = 0; i < STEPS_MAX && goes_on && next.count > 0 && wait->first.v == 0; i++) {
        struct explanation why;
        const struct blocker ends = next.at[0];
        goes_on = leave(try, ends.task, false) && preview_passes(try);
        if (goes_on && started(try->copy, holders, active)) {
            wait->first = ends.task;
            wait->first_others = i;
            wait->first_ms = ends.limit_ms;
        }
        explain_task(try->copy, wait->task, &why);
        next.count = 0;
        holders_find(&next, &why, try->now_ms);
    }
    core_free(try->copy);
}

void preview_later_first(const struct preview *preview, int64_t now_ms, struct preview_wait *wait)
{
    struct blockers holders = {.core = preview->after, .waiting = wait->task};
    struct preview_try try = {.now_ms = now_ms, .work_left = WORK_FIRST};
    const struct task *task = query_task(preview->after, wait->task);
    const struct pool *pool = query_pool(preview->after, task->pool);
    if (pool == NULL || !pool_starts(pool) || task->depends_left > 0) {
        return; /* the end of a running task lets nothing start */
    }
    holders_find(&holders, &wait->why, now_ms);
    first_alone(&holders, &try, wait);
    if (wait->first.v == 0 && pool->node_count <= STEP_NODES_MAX) {
        first_of_several(&holders, &try, wait);
    }
}
