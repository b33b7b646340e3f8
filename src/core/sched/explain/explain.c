/* explain.c - why a task waits: asks every node with the arithmetic that places tasks.
 *
 * Surprising: a task may wait although no node can ever hold it, because nodes were removed or became smaller after it was accepted.
 * Then the reason is the refusal that the task would get now.
 * Surprising: whether a task with a short time limit may use kept places depends on the moment of the pass. An explanation does not
 * know the moment of the next pass, so it names the kept places as the reason.
 * Keeps S8 of README.md. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain.h"

#include "base/arena.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/names.h"
#include "core/model/fit.h"
#include "core/model/space.h"
#include "core/model/spec.h"
#include "core/sched/explain/explain_account.h"
#include "core/sched/explain/explain_depends.h"
#include "core/sched/explain/explain_form.h"
#include "core/sched/explain/explain_internal.h"
#include "core/sched/explain/explain_life.h"
#include "core/sched/explain/explain_provider.h"
#include "core/sched/explain/explain_rollout.h"
#include "core/sched/explain/explain_time.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/turns.h"
#include "core/sched/order/view.h"
#include "core/sched/place/place.h"
#include "core/sched/place/search.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* How far a node is from taking the task, the nearest first. */
enum distance { DISTANCE_LACK, DISTANCE_AUX, DISTANCE_AWAY, DISTANCE_NEVER };

static enum distance distance_of(const struct explain_node *near)
{
    if (near->code == REASON_NO_DEVICES || near->code == REASON_TOO_LARGE ||
        near->code == REASON_AVOIDED || near->code == REASON_OTHER_LABELS) {
        return DISTANCE_NEVER;
    }
    if (near->code == REASON_NODES_AWAY) {
        return DISTANCE_AWAY;
    }
    return near->code == REASON_AUX_FULL ? DISTANCE_AUX : DISTANCE_LACK;
}

/* Is node `a` nearer than node `b`? The node that has the larger part of the wanted amount is nearer. Of nodes with room, the node
 * that the pool's placement prefers is nearer. The lower id breaks a tie. */
static bool nearer(const struct explain_node *a, const struct explain_node *b)
{
    const enum distance distance_a = distance_of(a);
    const enum distance distance_b = distance_of(b);
    must(a->node.v != b->node.v); /* each node is added once */
    if (distance_a != distance_b) {
        return distance_a < distance_b;
    }
    const __int128 part_a = (__int128)a->available * b->wanted;
    const __int128 part_b = (__int128)b->available * a->wanted;
    if (part_a != part_b) {
        return part_a > part_b;
    }
    const int by_score = a->code == REASON_NEXT ? score_compare(a->score, b->score) : 0;
    return by_score != 0 ? by_score > 0 : a->node.v < b->node.v;
}

/* Adds a node to the list of the nearest nodes, if the node is near enough. */
static void near_add(struct explanation *ret, struct explain_node near)
{
    must(ret->near_count <= EXPLAIN_NODES_MAX);
    uint32_t at = ret->near_count;
    while (at > 0 && nearer(&near, &ret->near[at - 1])) {
        at--;
    }
    if (at == EXPLAIN_NODES_MAX) {
        return;
    }
    if (ret->near_count < EXPLAIN_NODES_MAX) {
        ret->near_count++;
    }
    for (uint32_t i = ret->near_count - 1; i > at; i--) {
        ret->near[i] = ret->near[i - 1];
    }
    ret->near[at] = near;
}

/* Returns what a node lacks for one instance of the task. `place` is what is free, not kept and not
 * promised. `unkept` is what is free and not promised. `holds` is how many instances the node takes
 * if nothing runs there and all its devices are in service. */
static struct explain_node node_near(const struct explain_look *look, const struct node *node,
                                     const struct space *place, const struct space *unkept,
                                     uint32_t holds)
{
    const struct request *request = &look->shape->request;
    struct space_room room;
    struct space_room empty_room;
    struct space whole;
    struct space empty;
    struct space now;
    must(holds <= look->count);
    space_whole(node, &room, &whole);
    space_empty(node, &empty_room, &empty);
    space_now(node, &now);
    struct lack lack = {.code = REASON_NEXT, .wanted = 1, .available = 1};
    if (holds == 0) {
        (void)fit_lack(&whole, request, &lack);
        lack.code = lack.code == REASON_NO_ROOM ? REASON_TOO_LARGE : lack.code;
    } else if (!fit_usable(node) || fit_count(&empty, request, 1) == 0) {
        lack = (struct lack){.code = REASON_NODES_AWAY, .wanted = 1};
    } else if (!fit_lack(&now, request, &lack) && fit_lack(place, request, &lack)) {
        lack.code = fit_count(unkept, request, 1) > 0 ? REASON_RESERVED : REASON_PROMISED;
    }
    return (struct explain_node){
        .node = node->id,
        .code = lack.code,
        .resource = lack.resource,
        .wanted = lack.wanted,
        .available = lack.available,
        .score = score_of(look->pool->placement, place, request),
    };
}

static uint32_t add_up_to(uint32_t sum, uint32_t more, uint32_t max)
{
    return more < max - sum ? sum + more : max;
}

/* Takes the amounts of `within` instances on the node off what the accounts may still take, and adds them to `comes`. `fits`: how
 * many instances fit on the node. The first instance that fits but is beyond the bounds also counts in `comes`. */
static void left_take(struct explain_look *look, const struct node *node, uint32_t fits,
                      uint32_t within)
{
    struct grant grant;
    must(within <= fits);
    fit_wants(node, &look->shape->request, &grant);
    const int64_t amounts[] = {grant.slots_milli, grant.cpu_milli, grant.memory_bytes};
    const int64_t count = (int64_t)within + (within < fits);
    for (uint32_t dim = DIM_SLOTS; look->asker.bounded && dim < DIM_NAMED_FIRST; dim++) {
        int64_t *left = &look->asker.left.at[dim];
        *left = *left == VECTOR_UNLIMITED ? *left : *left - amounts[dim] * (int64_t)within;
        look->comes.at[dim] += look->over ? 0 : amounts[dim] * count;
    }
    look->over |= within < fits;
}

static void look_at_node(struct explain_look *look, const struct node *node)
{
    const struct request *request = &look->shape->request;
    struct space_room room;
    struct space empty;
    must(node->pool.v == look->pool->id.v);
    space_whole(node, &room, &empty);
    const uint32_t whole = fit_count(&empty, request, look->count);
    space_empty(node, &room, &empty);
    const uint32_t holds = fit_count(&empty, request, look->count);
    struct space_room kept_room;
    struct space place;
    overlay_place(&look->trial.overlay, node, &look->asker, &kept_room, &place);
    struct asker above = look->asker;
    struct space_room unkept_room;
    struct space unkept;
    above.passes = UINT32_MAX; /* as a task that may use the kept places of all holders */
    overlay_place(&look->trial.overlay, node, &above, &unkept_room, &unkept);
    look->ret->nodes_total++;
    look->able += whole > 0;
    if (fit_usable(node)) {
        struct space now;
        space_now(node, &now);
        look->able_up += holds > 0;
        look->holds_up = add_up_to(look->holds_up, holds, look->count);
        const uint32_t fits = fit_count(&place, request, look->count);
        look->have = add_up_to(look->have, fits, look->count);
        const uint32_t within = search_within(node, &look->asker, fits);
        look->have_left = add_up_to(look->have_left, within, look->count);
        left_take(look, node, fits, within);
        look->have_unkept =
            add_up_to(look->have_unkept, fit_count(&unkept, request, look->count), look->count);
        look->have_kept =
            add_up_to(look->have_kept, fit_count(&now, request, look->count), look->count);
    }
    near_add(look->ret, node_near(look, node, &place, &unkept, whole));
    if (!fit_usable(node)) {
        explain_away_look(look, node);
    }
}

bool explain_node_next(const struct explain_look *look, struct okey *key, const struct node **ret)
{
    if (!oindex_next(&look->core->orders[ORDER_POOL_NODE], *key, key) ||
        key->at[0] != look->pool->id.v) {
        return false;
    }
    *ret = query_node(look->core, (node_id){(uint32_t)key->at[1]});
    must(*ret != NULL);
    return true;
}

/* Does this instance hold an amount of the resource that the nearest node lacks? */
static bool holds_it(const struct core *core, const struct instance *instance,
                     const struct explain_node *near)
{
    if (near->code == REASON_AUX_FULL) {
        return instance->slots_milli == 0;
    }
    switch (near->resource.v) {
    case RESOURCE_SLOTS:
    case RESOURCE_GPU_MEMORY:
        return instance->slots_milli > 0;
    case RESOURCE_CPU:
        return instance->cpu_milli > 0;
    case RESOURCE_MEMORY:
        return instance->memory_bytes > 0;
    }
    const struct request *request = query_instance_request(core, instance);
    for (uint32_t i = 0; i < request->named_count; i++) {
        if (request->named[i].resource.v == near->resource.v) {
            return request->named[i].milli > 0;
        }
    }
    return false;
}

/* Names the tasks that hold what the nearest node lacks. */
static void look_for_blockers(const struct explain_look *look)
{
    struct explanation *ret = look->ret;
    if (ret->near_count == 0 || distance_of(&ret->near[0]) > DISTANCE_AUX) {
        return;
    }
    const uint64_t node = ret->near[0].node.v;
    struct okey key = {{node, 0, 0, 0}};
    while (ret->blocker_count < EXPLAIN_NODES_MAX &&
           oindex_next(&look->core->orders[ORDER_ON_NODE], key, &key) && key.at[0] == node) {
        const struct instance *instance = query_instance_row(look->core, key.at[3]);
        must(instance != NULL);
        const bool again =
            ret->blocker_count > 0 && ret->blockers[ret->blocker_count - 1].v == instance->task.v;
        if (!again && instance->task.v != look->task->id.v &&
            holds_it(look->core, instance, &ret->near[0])) {
            ret->blockers[ret->blocker_count++] = instance->task;
        }
    }
}

/* Do the task's instances find places together within the bounds of its accounts? An instance may use more of a bound on one node than
 * on another. So the instances are placed as the pass places them, and the places are undone. */
static bool places_within(struct explain_look *look)
{
    struct trial *trial = &look->trial;
    struct asker asker = look->asker;
    uint32_t index = 0;
    if (!asker.bounded || look->count == 1) {
        return true;
    }
    asker.bounded = tally_left(&trial->tally, look->task, VIEW_NOW, &asker.left);
    const size_t mark = trial_mark(trial);
    const bool found = place_chunk(trial, &asker, look->count, &index);
    trial_rollback(trial, mark);
    return found;
}

/* The reason of a task that no bound holds back, from the counts of the look. */
static void reason_of_room(struct explain_look *look, struct reason *reason)
{
    must(look->have <= look->count);
    const struct explain_node *near = &look->ret->near[0];
    reason->have = look->have;
    reason->need = look->count;
    if (look->have >= look->count && look->have_left < look->count) {
        explain_account_left(look->core, look->task, &look->trial.tally, &look->comes, look->ret);
        return;
    }
    if (look->have >= look->count && !places_within(look)) {
        turns_amounts(look->core, look->task, look->count, SLOTS_MOST, &look->comes);
        explain_account_left(look->core, look->task, &look->trial.tally, &look->comes, look->ret);
        return;
    }
    if (look->have >= look->count) {
        reason->code = REASON_NEXT;
        return;
    }
    if (look->have_kept >= look->count) {
        const bool kept = look->have_unkept >= look->count && look->holder != NULL;
        reason->code = kept ? REASON_RESERVED : REASON_PROMISED;
        reason->task = kept ? look->holder->task : explain_held_promised(look);
        reason->until_ms = kept ? look->holder->until_ms : 0;
        return;
    }
    if (look->holds_up < look->count) {
        struct reason refusal;
        if (!explain_possible(look->core, look->pool, &look->shape->request, look->count,
                              &refusal)) {
            *reason = refusal;
            return;
        }
        reason->code = REASON_NODES_AWAY;
        reason->have = look->able_up;
        reason->need = look->able;
        return;
    }
    must(look->ret->near_count > 0);
    reason->node = near->node;
    reason->resource = near->resource;
    reason->wanted = near->wanted;
    reason->available = near->available;
    reason->code = look->count > 1 ? REASON_GANG_SHORT : near->code;
    reason->smallest = explain_smaller_now(look, near);
}

static void look_at_nodes(struct explain_look *look)
{
    const struct node *node;
    struct okey key = {{look->pool->id.v, 0, 0, 0}};
    must(look->count > 0);
    while (explain_node_next(look, &key, &node)) {
        look_at_node(look, node);
    }
    reason_of_room(look, &look->ret->reason);
    explain_away_choose(look);
    look_for_blockers(look);
}

/* The reason of a gang with a form. First the nodes are asked for the group that finds no room, as if it were alone. If the group
 * alone would fit, the reason is what explain_form() found: topology, kept places, or not found. */
static void look_at_form(struct explain_look *look)
{
    const bool kept = look->trial.overlay.keeping;
    const struct task *holder =
        look->holder != NULL ? query_task_in(look->core, look->pool->id, look->holder->task) : NULL;
    struct form_look found;
    explain_form(&look->trial, look->task, kept ? holder : NULL, &found);
    must(found.count > 0);
    const struct shape alone = {.request = found.request, .pool = look->pool->id};
    look->shape = &alone;
    look->count = found.count;
    look->asker.request = &alone.request;
    look_at_nodes(look);
    struct reason *reason = &look->ret->reason;
    reason->smallest = -1;
    reason->away = (node_id){0}; /* room for one group is not room for the gang */
    explain_form_group(&look->trial, look->task, found.group, reason);
    const bool free = reason->code == REASON_NEXT || reason->code == REASON_RESERVED ||
                      reason->code == REASON_PROMISED;
    if (found.reason.code != REASON_NONE &&
        (free || found.starts || found.reason.code == REASON_UNKNOWN_LEVEL)) {
        *reason = found.reason;
        reason->smallest = -1;
        explain_form_group(&look->trial, look->task, found.group, reason);
    }
}

/* Promised places are the reason first, then bounds of accounts and user, then room on nodes. */
static void explain_room(struct explain_look *look)
{
    struct arena arena;
    const struct task *task = look->task;
    struct reason *reason = &look->ret->reason;
    must(look->count > 0);
    arena_init(&arena);
    trial_init(&look->trial, look->core, look->pool->id, &arena);
    const bool bound = explain_account(look->core, task, &look->trial.tally, look->ret);
    if (task_promised(task)) {
        *reason = (struct reason){.code = REASON_VICTIMS_LEAVING,
                                  .pool = task->pool,
                                  .need = task->claimed_count,
                                  .until_ms = explain_held_leaving_ms(look->core, task),
                                  .smallest = -1};
    } else if (bound) {
        (void)explain_held_keep(look);
        explain_held(look);
        reason->smallest = look->behind ? -1 : explain_smaller_within(look);
    } else {
        look->asker = (struct asker){.task = task, .end_ms = INT64_MAX};
        look->asker.request = &look->shape->request;
        look->asker.bounded = tally_left(&look->trial.tally, task, VIEW_NOW, &look->asker.left);
        const bool kept = explain_held_keep(look);
        explain_held(look);
        if (look->shape->form != NULL) {
            look_at_form(look);
        } else {
            look_at_nodes(look);
        }
        if (reason->code == REASON_NEXT && look->held != NULL) {
            reason->code = REASON_RESERVED;
            reason->task = look->held->id;
        }
        if (!kept && explain_time_for_room(reason->code)) {
            explain_held_keep_all(look);
        }
        if (look->held == NULL) {
            explain_time(&look->trial, task, reason);
            explain_account_share(&look->trial, task, look->ret);
        }
    }
    trial_done(&look->trial);
    arena_done(&arena);
}

/* The reason of a task that could be in the pool's queue. */
static void explain_queued(const struct core *core, const struct task *task,
                           const struct pool *pool, struct explanation *ret)
{
    must(task->pool.v == pool->id.v);
    if (task->hold_until_ms > 0) {
        const bool ended = task->restarts > 0;
        ret->reason.code = ended ? REASON_RESTARTS : REASON_LOST_AGAIN;
        ret->reason.have = ended ? task->restarts : task->losses;
        ret->reason.need = ended ? task->max_restarts : task->max_losses;
        ret->reason.until_ms = task->hold_until_ms;
        if (ended && task->cause == END_UNHEALTHY) {
            (void)str_copy(ret->reason.text, sizeof ret->reason.text,
                           names_end_cause(END_UNHEALTHY));
        }
    } else if (!task->queued) {
        /* A gang that lost instances is not queued until its other instances have ended. */
        ret->reason.code = REASON_GANG_SHORT;
        ret->reason.have = task->waiting_count;
        ret->reason.need = task->instance_count;
    } else if (explain_life(pool, &ret->reason)) {
        return;
    } else if (pool->paused) {
        ret->reason.code = REASON_POOL_PAUSED;
    } else if (pool->node_count == 0) {
        ret->reason.code = REASON_POOL_EMPTY;
        explain_provider(core, task, pool, &ret->reason);
    } else {
        struct explain_look look = {
            .core = core,
            .task = task,
            .pool = pool,
            .shape = query_task_shape(core, task->shape),
            .ret = ret,
            .count = task_chunk(task),
        };
        explain_room(&look);
        if (explain_time_for_room(ret->reason.code) || ret->reason.code == REASON_NODES_AWAY) {
            explain_provider(core, task, pool, &ret->reason);
        }
    }
}

void explain_task(const struct core *core, task_id id, struct explanation *ret)
{
    const struct task *task = query_task(core, id);
    explain_task_in(core, id, task != NULL ? task->pool : (pool_id){0}, ret);
}

void explain_task_in(const struct core *core, task_id id, pool_id in, struct explanation *ret)
{
    *ret = (struct explanation){.asked_ms = query_time_ms(core), .reason = {.smallest = -1}};
    const struct task *task = query_task_in(core, in, id);
    if (task == NULL || task->waiting_count + task->held_count == 0 || task->kill_asked ||
        task_state_ended((enum task_state)task->state)) {
        return;
    }
    if (task->waiting_count == 0) {
        explain_rollout(core, task, &ret->reason);
        return;
    }
    const struct pool *pool = query_pool(core, task->pool);
    must(!task->reserved || pool != NULL);
    ret->reason.pool = task->pool;
    ret->expect_ms = task->expect_ms;
    ret->expect_from = (enum length_source)task->expect_from;
    for (uint32_t i = 0; task->reserved && i < pool->reserved_count; i++) {
        if (pool->reserved[i].task.v == id.v) {
            ret->reserved_until_ms = pool->reserved[i].until_ms;
        }
    }
    if (task->state == TASK_STAGED) {
        ret->reason.code = REASON_STAGED;
    } else if (task->pause_asked) {
        ret->reason.code = task->cause == END_IDLE_PAUSED ? REASON_PAUSED_IDLE : REASON_PAUSED;
    } else if (task->pool_next.v != 0) {
        ret->reason.code = REASON_CHANGING_POOL;
        ret->reason.pool = task->pool_next;
    } else if (task->depends_left > 0) {
        explain_depends(core, task, ret);
    } else if (pool == NULL) {
        ret->reason.code = REASON_UNKNOWN_POOL;
        (void)str_copy(ret->reason.text, sizeof ret->reason.text,
                       query_pool_name(core, task->pool));
    } else if (pool->life.phase == PHASE_DELETE) {
        (void)explain_life(pool, &ret->reason);
    } else if (task->turned_away) {
        explain_life_turned_away(core, task, pool, &ret->reason);
    } else {
        explain_queued(core, task, pool, ret);
    }
    if (task->active_count > 0) {
        ret->reason.running = task->active_count;
        ret->reason.all = task->instance_count;
    }
}
