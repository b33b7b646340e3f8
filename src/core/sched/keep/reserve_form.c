/* reserve_form.c - the places that a gang with a form will use: planned as if nothing ran, on the nodes with the oldest instances first.
 *
 * The plan stays the same while the gang waits: no task starts on kept nodes, so no other node becomes older than a kept one (S6 of
 * README.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "core/model/fit.h"
#include "core/model/form.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/sched/keep/reserve_internal.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/view.h"
#include "core/sched/place/arrange.h"
#include "core/sched/place/empty_nodes.h"
#include "core/sched/place/form_open.h"
#include "core/sched/place/nodeset.h"
#include "core/sched/place/place_form.h"
#include "core/sched/place/trial.h"
#include "core/state/capacity.h"
#include "core/state/query.h"

/* When the newest instance began that must end so that one instance of the request fits on the node. */
static int64_t node_age(void *context, const struct request *request, const struct node *node)
{
    const struct reserve_choice *choice = context;
    struct candidate candidate = {.node = node, .count = 1};
    struct space_room room;
    struct space place;
    ++*choice->overlay->visited;
    reserve_wait(choice, request, &candidate, &room, &place);
    return candidate.newest_ms;
}

/* Do all instances that the plan puts on this node fit `place`? The instances that fit take their amounts of `place`. */
static bool plan_fits(const struct nodeset *plan, const struct node *node, struct space *place,
                      struct space_room *room, struct keep *keep)
{
    for (uint32_t i = 0; i < plan->placed_count; i++) {
        const uint32_t index = plan->placed[i];
        const struct request *request = &form_leaf(plan->form, index)->request;
        struct grant grant;
        if (plan->at[index] != node) {
            continue;
        }
        if (fit_count(place, request, 1) == 0) {
            return false;
        }
        fit_grant(place, request, &grant);
        space_take(place, room, request, &grant);
        reserve_planned(keep, &grant);
    }
    return true;
}

/* Keeps a node of the plan: lets instances end until the planned instances fit. What is left beside the planned instances is for
 * other tasks. node_keep() in reserve.c does the same for equal instances. */
static struct keep *plan_keep(const struct reserve_choice *choice, const struct nodeset *plan,
                              const struct node *node)
{
    struct overlay *overlay = choice->overlay;
    struct spot *spot = overlay_touch(overlay, node);
    struct keep *keep = arena_new(overlay->arena, struct keep, 1);
    struct space_room room;
    struct space place;
    uint32_t count = 0;
    int64_t end_ms = reserve_changing(spot) ? reserve_leaving_end_ms(overlay->core, node) : 0;
    struct occupant *list = reserve_occupants(choice, node, &count);
    keep->task = choice->holder->task;
    keep->at = overlay_holder(overlay, keep->task);
    keep->end_known = true;
    space_copy(overlay_space(spot, VIEW_LATER), &room, &place);
    for (;;) {
        space_copy(&place, &keep->room, &keep->left);
        keep->planned[0] = keep->planned[1] = keep->planned[2] = 0;
        if (plan_fits(plan, node, &keep->left, &keep->room, keep)) {
            break;
        }
        struct occupant *next = reserve_next_end(choice, list, count);
        if (next == NULL) {
            keep->end_known = false; /* the node has become smaller than the plan needs */
            break;
        }
        next->ended = true;
        space_give(&place, &room, next->request, &next->grant);
        reserve_busy(overlay, next, &keep->ready_ms, keep->busy);
        end_ms = next->end_ms > end_ms ? next->end_ms : end_ms;
    }
    spot->keep = keep;
    keep->end_known = keep->end_known && end_ms != INT64_MAX;
    keep->end_ms = end_ms;
    return keep;
}

/* Does an earlier instance of the plan use the same node? */
static bool kept_already(const struct nodeset *plan, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++) {
        if (plan->at[plan->placed[i]] == plan->at[plan->placed[before]]) {
            return true;
        }
    }
    return false;
}

/* Finds the first choice of the task's next instances that the usable nodes could take if nothing else ran there. With `opened` the
 * accounts must allow the choice, too. Returns the number of its instances; 0: there is no such choice. */
static uint32_t choice_possible(const struct trial *trial, const struct task *task, bool opened,
                                const struct node **at, uint32_t *indices, struct arena *arena)
{
    const struct core *core = trial->core;
    const struct form *form = shape_form(query_task_shape(core, task->shape));
    const struct pool *pool = query_pool(core, trial->pool);
    uint32_t count = form_chunk(core, task, at, 0, indices);
    for (uint32_t choice = 0; count > 0; count = form_chunk(core, task, at, ++choice, indices)) {
        struct nodeset *empty_nodes =
            empty_nodes_new(core, pool, form, at, EMPTY_NODES_USABLE, arena);
        const bool open = !opened || form_open(trial, task, indices, count);
        const bool fits = open && arrange(empty_nodes, indices, count) == ARRANGE_DONE;
        nodeset_back(empty_nodes, 0);
        if (fits) {
            break;
        }
    }
    return count;
}

/* Could the next instances of a gang with a form run on the usable nodes if nothing else ran there? Instances with a place or a
 * promised place stay there. With `opened`, instances that this trial has placed do, too. */
static bool form_possible(const struct trial *trial, const struct task *task, bool opened)
{
    struct arena arena;
    arena_init(&arena);
    uint32_t *indices = arena_new(&arena, uint32_t, task->instance_count);
    const struct node **at =
        opened ? place_form_known(trial, task) : form_chunk_at(trial->core, task, &arena);
    const bool any = choice_possible(trial, task, opened, at, indices, &arena) > 0;
    arena_done(&arena);
    return any;
}

bool reserve_form_possible(const struct trial *trial, const struct task *task)
{
    const struct core *core = trial->core;
    const struct shape *shape = query_task_shape(core, task->shape);
    if (shape->form == NULL) {
        return reserve_possible(&trial->overlay, shape, task_chunk(task));
    }
    /* A gang without any place or promise is like every other gang of its shape, so the answer is remembered for the shape. */
    const bool whole = task->waiting_count == task->instance_count && task->claimed_count == 0;
    bool possible;
    if (!whole || !capacity_empty_takes(core->capacity, shape, task->instance_count, &possible)) {
        possible = form_possible(trial, task, false);
    }
    if (whole) {
        capacity_empty_note(core->capacity, shape, possible ? task->instance_count : 0, !possible);
    }
    return possible;
}

bool reserve_form_open(const struct trial *trial, const struct task *task)
{
    return task->by_groups ? form_possible(trial, task, true) : reserve_form_possible(trial, task);
}

/* The instances start together when the last place is free. Sets this moment in all keeps and returns it; 0: not known. */
static int64_t keeps_time(struct overlay *overlay, struct keep *const *keeps, uint32_t count,
                          int64_t named_ms, bool known)
{
    int64_t end_ms = 0;
    for (uint32_t i = 0; i < count; i++) {
        known = known && keeps[i]->end_known;
        end_ms = keeps[i]->end_ms > end_ms ? keeps[i]->end_ms : end_ms;
    }
    end_ms = named_ms > 0 && named_ms < end_ms ? named_ms : end_ms;
    for (uint32_t i = 0; i < count; i++) {
        keeps[i]->end_known = known;
        keeps[i]->end_ms = end_ms;
    }
    overlay->keeping = true;
    overlay->keep_timed |= known;
    return !known ? 0 : end_ms > overlay->now_ms ? end_ms : overlay->now_ms;
}

int64_t reserve_form_task(struct trial *trial, const struct holder *holder)
{
    struct overlay *overlay = &trial->overlay;
    const struct core *core = trial->core;
    const struct task *task = holder->task;
    const struct shape *shape = query_task_shape(core, task->shape);
    if (shape->form == NULL) {
        return reserve_keep(overlay, holder);
    }
    if (holder->timed_only || overlay->keeping) {
        return 0;
    }
    overlay_leaving(overlay);
    uint32_t *indices = arena_new(trial->arena, uint32_t, task->instance_count);
    const struct node **at = place_form_known(trial, task);
    uint32_t count =
        task->by_groups ? choice_possible(trial, task, true, at, indices, trial->arena) : 0;
    count = count > 0 ? count : form_chunk(core, task, at, 0, indices);
    struct nodeset *plan = empty_nodes_new(core, query_pool(core, trial->pool), shape_form(shape),
                                           at, EMPTY_NODES_USABLE, trial->arena);
    struct reserve_choice choice = {.overlay = overlay, .holder = holder};
    empty_nodes_by_age(plan, node_age, &choice);
    const bool whole = count > 0 && arrange(plan, indices, count) == ARRANGE_DONE;
    struct keep **keeps = arena_new(trial->arena, struct keep *, plan->placed_count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->placed_count; i++) {
        if (!kept_already(plan, i)) {
            keeps[kept++] = plan_keep(&choice, plan, plan->at[plan->placed[i]]);
        }
    }
    return keeps_time(overlay, keeps, kept, holder->until_ms, whole);
}
