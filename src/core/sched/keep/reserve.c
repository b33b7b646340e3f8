/* reserve.c - which places the holder of a reservation will use.
 *
 * By known ends: if enough nodes have known ends, the nodes are kept that become free soonest. Then the holder's start is known. Other
 * tasks may start on kept nodes only if they end before, so the start never moves later. An end is known by a time limit. A learned
 * length also counts as a known end, but only until the start that was named when the reservation was given: learned lengths may be
 * wrong again and again.
 *
 * By age: otherwise the instances of each node are thought to end in the order in which they began, until the holder fits. The newest
 * instance that must end gives the age of the node, and the oldest nodes are kept. What is left beside the holder is for others.
 *
 * Why not mix the two? Most tasks have no time limit. A change to a node with a known end could throw away a wait that is nearly over.
 * By age, no other task starts on a kept node, and another node is taken only if it is older. So the holder starts within the length
 * of one task (S6 of README.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/keep/reserve.h"

#include "base/arena.h"
#include "base/checked.h"
#include "base/must.h"
#include "core/model/bucket.h"
#include "core/model/fit.h"
#include "core/model/length.h"
#include "core/model/oindex.h"
#include "core/sched/keep/reserve_internal.h"
#include "core/sched/order/view.h"
#include "core/state/capacity.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* When an instance of this task that started at `from_ms` ends; INT64_MAX: not known. */
static int64_t run_end_ms(const struct reserve_choice *choice, const struct task *task,
                          int64_t from_ms)
{
    if (task->time_limit_ms > 0) {
        return i64_add(from_ms, task->time_limit_ms);
    }
    if (!choice->by_end || !choice->holder->learned || task->expect_from == LENGTH_UNKNOWN) {
        return INT64_MAX;
    }
    const int64_t end_ms = i64_add(from_ms, task->expect_ms);
    return end_ms > choice->overlay->now_ms ? end_ms : INT64_MAX; /* a passed end says nothing */
}

static int64_t instance_end_ms(const struct reserve_choice *choice, const struct task *task,
                               const struct instance *instance)
{
    if (instance->state == INSTANCE_STOPPING) {
        return instance->stop_deadline_ms;
    }
    return run_end_ms(choice, task,
                      instance->started_ms != 0 ? instance->started_ms : instance->allocated_ms);
}

/* When an instance that began at `from_ms` is expected to end. An instance that ran longer than expected, or of which nothing is known,
 * is expected to run as long again. */
static int64_t expected_end_ms(const struct overlay *overlay, const struct task *task,
                               int64_t from_ms)
{
    enum { AGAIN_MS_MIN = 60000 };
    const int64_t now_ms = overlay->now_ms;
    const int64_t ran_ms = now_ms - from_ms;
    int64_t end_ms = task->expect_from == LENGTH_UNKNOWN ? 0 : i64_add(from_ms, task->expect_ms);
    if (end_ms <= now_ms) {
        end_ms = i64_add(now_ms, ran_ms > AGAIN_MS_MIN ? ran_ms : AGAIN_MS_MIN);
    }
    const int64_t limit_ms =
        task->time_limit_ms > 0 ? i64_add(from_ms, task->time_limit_ms) : INT64_MAX;
    return end_ms < limit_ms ? end_ms : limit_ms;
}

void reserve_busy(const struct overlay *overlay, const struct occupant *occupant, int64_t *ready_ms,
                  int64_t busy[3])
{
    const int64_t left_ms =
        occupant->expect_ms > overlay->now_ms ? occupant->expect_ms - overlay->now_ms : 0;
    const int64_t held[3] = {occupant->grant.slots_milli, occupant->grant.cpu_milli,
                             occupant->grant.memory_bytes / KEEP_MEMORY_UNIT};
    for (uint32_t i = 0; i < 3; i++) {
        busy[i] = bucket_plus(busy[i], bucket_times(held[i], left_ms));
    }
    *ready_ms = occupant->expect_ms > *ready_ms ? occupant->expect_ms : *ready_ms;
}

bool reserve_changing(const struct spot *spot)
{
    return spot != NULL && spot->later != NULL;
}

/* The node as the step has changed it; NULL: the step has not touched the node, or the choice is `bare`. */
static const struct spot *spot_of(const struct reserve_choice *choice, const struct node *node)
{
    return choice->bare ? NULL : overlay_find(choice->overlay, node->id);
}

static uint32_t placed_count(const struct spot *spot)
{
    uint32_t count = 0;
    for (const struct placed *p = spot == NULL ? NULL : spot->placed; p != NULL; p = p->next) {
        count++;
    }
    return count;
}

struct occupant *reserve_occupants(const struct reserve_choice *choice, const struct node *node,
                                   uint32_t *ret_count)
{
    const struct overlay *overlay = choice->overlay;
    const struct core *core = overlay->core;
    const struct spot *spot = spot_of(choice, node);
    const uint32_t room = node->instance_count + placed_count(spot);
    struct occupant *list = arena_new(overlay->arena, struct occupant, room);
    uint32_t count = 0;
    struct okey key = {{node->id.v, 0, 0, 0}};
    struct oindex_walk walk;
    for (bool more = oindex_walk_from(&walk, &core->orders[ORDER_ON_NODE], key, &key);
         more && key.at[0] == node->id.v; more = oindex_walk_next(&walk, &key)) {
        const struct task *task = query_task(core, (task_id){key.at[1]});
        const struct instance *instance = query_instance_row(core, key.at[3]);
        if (reserve_changing(spot) && instance->state == INSTANCE_STOPPING) {
            continue;
        }
        must(count < room);
        list[count++] = (struct occupant){
            .begun_ms = instance->allocated_ms,
            .end_ms = instance_end_ms(choice, task, instance),
            .expect_ms = instance->state == INSTANCE_STOPPING
                             ? instance->stop_deadline_ms
                             : expected_end_ms(overlay, task, instance->allocated_ms),
            .task = task->id.v,
            .index = instance->index,
            .request = query_task_request(core, task, instance->index),
            .grant = {instance->devices, instance->slots_milli, instance->cpu_milli,
                      instance->memory_bytes},
        };
    }
    for (const struct placed *p = spot == NULL ? NULL : spot->placed; p != NULL; p = p->next) {
        if (p->claim) {
            continue; /* a claim has not started, so its end is not known */
        }
        must(count < room);
        list[count++] = (struct occupant){
            .begun_ms = overlay->now_ms,
            .end_ms = run_end_ms(choice, p->asker->task, overlay->now_ms),
            .expect_ms = expected_end_ms(overlay, p->asker->task, overlay->now_ms),
            .task = p->asker->task->id.v,
            .index = p->index,
            .request = p->asker->request,
            .grant = p->grant,
        };
    }
    *ret_count = count;
    return list;
}

static bool holding_before(const struct reserve_choice *choice, const struct occupant *a,
                           const struct occupant *b)
{
    if (choice->by_end && a->end_ms != b->end_ms) {
        return a->end_ms < b->end_ms;
    }
    if (a->begun_ms != b->begun_ms) {
        return a->begun_ms < b->begun_ms;
    }
    return a->task != b->task ? a->task < b->task : a->index < b->index;
}

int64_t reserve_leaving_end_ms(const struct core *core, const struct node *node)
{
    int64_t end_ms = 0;
    struct okey key = {{node->id.v, 0, 0, 0}};
    while (node->leaving_count > 0 && oindex_next(&core->orders[ORDER_ON_NODE], key, &key) &&
           key.at[0] == node->id.v) {
        const struct instance *instance = query_instance_row(core, key.at[3]);
        if (instance->state == INSTANCE_STOPPING && instance->stop_deadline_ms > end_ms) {
            end_ms = instance->stop_deadline_ms;
        }
    }
    return end_ms;
}

/* The list is not sorted, because a caller asks for few ends. */
struct occupant *reserve_next_end(const struct reserve_choice *choice, struct occupant *list,
                                  uint32_t count)
{
    struct occupant *first = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (!list[i].ended && (first == NULL || holding_before(choice, &list[i], first))) {
            first = &list[i];
        }
    }
    return first;
}

/* How many instances of the request, at most `max`, a usable node takes if nothing runs there. */
static uint32_t node_holds(const struct node *node, const struct request *request, uint32_t max)
{
    struct space_room room;
    struct space place;
    if (!fit_usable(node)) {
        return 0;
    }
    space_empty(node, &room, &place);
    return fit_count(&place, request, max);
}

/* When the first end of the list passes. A learned end that has passed is not known any more. INT64_MAX: no end is learned. */
static int64_t ends_lapse_ms(const struct reserve_choice *choice, const struct occupant *list,
                             uint32_t count)
{
    int64_t first_ms = INT64_MAX;
    for (uint32_t i = 0; choice->by_end && choice->holder->learned && i < count; i++) {
        if (list[i].end_ms > choice->overlay->now_ms && list[i].end_ms < first_ms) {
            first_ms = list[i].end_ms;
        }
    }
    return first_ms;
}

void reserve_wait(const struct reserve_choice *choice, const struct request *request,
                  struct candidate *candidate, struct space_room *room, struct space *ret)
{
    const struct overlay *overlay = choice->overlay;
    const struct spot *spot = spot_of(choice, candidate->node);
    struct space now;
    space_now(candidate->node, &now);
    space_copy(spot == NULL ? &now : overlay_space(spot, VIEW_LATER), room, ret);
    candidate->newest_ms = 0;
    candidate->end_ms =
        reserve_changing(spot) ? reserve_leaving_end_ms(overlay->core, candidate->node) : 0;
    candidate->ends = 0;
    candidate->lapse_ms = INT64_MAX;
    candidate->ready_ms = candidate->end_ms;
    candidate->busy[0] = candidate->busy[1] = candidate->busy[2] = 0;
    uint32_t fits = fit_count(ret, request, candidate->count);
    if (fits == candidate->count) {
        return;
    }
    uint32_t count = 0;
    struct occupant *list = reserve_occupants(choice, candidate->node, &count);
    struct occupant *next;
    candidate->lapse_ms = ends_lapse_ms(choice, list, count);
    while (fits < candidate->count && (next = reserve_next_end(choice, list, count)) != NULL) {
        if (choice->by_end && next->end_ms == INT64_MAX) {
            candidate->end_ms = INT64_MAX; /* by_end: a node without a known end is no candidate */
            break;
        }
        next->ended = true;
        space_give(ret, room, next->request, &next->grant);
        reserve_busy(overlay, next, &candidate->ready_ms, candidate->busy);
        candidate->newest_ms = next->begun_ms;
        candidate->end_ms = next->end_ms > candidate->end_ms ? next->end_ms : candidate->end_ms;
        candidate->ends++;
        fits = fit_count(ret, request, candidate->count);
    }
    candidate->count = fits;
}

/* How many instances of the request all empty usable nodes take together, at most `enough`. */
static uint32_t pool_holds(const struct overlay *overlay, const struct request *request,
                           uint32_t enough)
{
    uint32_t left = enough;
    const struct node *node = query_pool_node_next(overlay->core, overlay->pool, (node_id){0});
    for (; left > 0 && node != NULL;
         node = query_pool_node_next(overlay->core, overlay->pool, node->id)) {
        ++*overlay->visited;
        left -= node_holds(node, request, left);
    }
    return enough - left;
}

bool reserve_possible(const struct overlay *overlay, const struct shape *shape, uint32_t count)
{
    must(count > 0);
    struct capacity *capacity = overlay->core->capacity;
    bool possible;
    if (capacity_empty_takes(capacity, shape, count, &possible)) {
        return possible;
    }
    const uint32_t held = pool_holds(overlay, &shape->request, count);
    capacity_empty_note(capacity, shape, held, held < count);
    return held == count;
}

bool reserve_candidate(const struct reserve_choice *choice, const struct node *node,
                       struct candidate *ret)
{
    const struct holder *holder = choice->holder;
    *ret = (struct candidate){.node = node,
                              .count = node_holds(node, holder->request, holder->count),
                              .lapse_ms = INT64_MAX};
    if (ret->count == 0) {
        return false;
    }
    struct space_room room;
    struct space place;
    reserve_wait(choice, holder->request, ret, &room, &place);
    return ret->count > 0 && (!choice->by_end || ret->end_ms != INT64_MAX);
}

void reserve_planned(struct keep *keep, const struct grant *grant)
{
    keep->planned[0] = bucket_plus(keep->planned[0], grant->slots_milli);
    keep->planned[1] = bucket_plus(keep->planned[1], grant->cpu_milli);
    keep->planned[2] = bucket_plus(keep->planned[2], grant->memory_bytes / KEEP_MEMORY_UNIT);
}

static void node_keep(const struct reserve_choice *choice, struct candidate *candidate,
                      bool end_known, int64_t end_ms)
{
    struct overlay *overlay = choice->overlay;
    const struct request *request = choice->holder->request;
    struct spot *spot = overlay_touch(overlay, candidate->node);
    struct keep *keep = arena_new(overlay->arena, struct keep, 1);
    keep->task = choice->holder->task;
    keep->at = overlay_holder(overlay, keep->task);
    keep->end_known = end_known;
    keep->end_ms = end_ms;
    reserve_wait(choice, request, candidate, &keep->room, &keep->left);
    for (uint32_t i = 0; i < candidate->take; i++) {
        struct grant grant;
        fit_grant(&keep->left, request, &grant);
        space_take(&keep->left, &keep->room, request, &grant);
        reserve_planned(keep, &grant);
    }
    keep->ready_ms = candidate->ready_ms;
    for (uint32_t i = 0; i < 3; i++) {
        keep->busy[i] = candidate->busy[i];
    }
    spot->keep = keep;
}

static int64_t chosen_keep(const struct reserve_choice *choice, const struct reserve_chosen *chosen)
{
    int64_t end_ms = 0;
    for (uint32_t i = 0; i < chosen->count; i++) {
        end_ms = chosen->list[i].end_ms > end_ms ? chosen->list[i].end_ms : end_ms;
    }
    const bool known = chosen->left == 0 && end_ms != INT64_MAX;
    const int64_t named_ms = choice->holder->until_ms;
    end_ms = named_ms > 0 && named_ms < end_ms ? named_ms : end_ms;
    for (uint32_t i = 0; i < chosen->count; i++) {
        node_keep(choice, &chosen->list[i], known, end_ms);
    }
    choice->overlay->keeping = true;
    choice->overlay->keep_timed |= known;
    return !known ? 0 : end_ms > choice->overlay->now_ms ? end_ms : choice->overlay->now_ms;
}

int64_t reserve_keep(struct overlay *overlay, const struct holder *holder)
{
    must(holder->count > 0);
    /* The choice must not depend on whether the later view was asked for before. */
    overlay_leaving(overlay);
    struct reserve_choice choice = {.overlay = overlay, .holder = holder, .by_end = true};
    struct reserve_chosen chosen = reserve_choice_make(&choice, true);
    if (chosen.left == 0) {
        return chosen_keep(&choice, &chosen);
    }
    if (holder->timed_only) {
        return 0;
    }
    choice.by_end = false;
    chosen = reserve_choice_make(&choice, overlay->keeping);
    if (chosen.left > 0 && overlay->keeping) {
        return 0; /* the other nodes are kept for other holders */
    }
    /* Too few places although all instances may end: a node has become smaller. The places that there are, are kept. */
    return chosen_keep(&choice, &chosen);
}

struct holder reserve_holder(const struct core *core, const struct task *task, int64_t until_ms,
                             int64_t now_ms)
{
    return (struct holder){
        .task = task,
        .request = &query_task_shape(core, task->shape)->request,
        .count = task_chunk(task),
        .until_ms = until_ms,
        .learned = task->by_length && now_ms < until_ms,
    };
}
