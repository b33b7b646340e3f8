/* grow.c - see grow.h.
 *
 *   nodes that the waiting tasks need, without the nodes on their way ─┐
 *   nodes below the minimum ───────────────────────────────────────────┼─▶ the largest, at most up to the maximum
 *   nodes for the headroom ────────────────────────────────────────────┘
 *
 * A task needs a node as far as a node of the pool's kind can run its instances and its accounts may hold them. A task
 * that no such node can run never causes a launch. Instances that fit together on a node share it, also with instances
 * of other tasks: each instance counts as its part of a node. An instance that requests nothing but a place for a task
 * without slots takes nothing from other instances: such parts are counted apart, and the larger sum counts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/grow.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/fit.h"
#include "core/model/instance.h"
#include "core/model/launch.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/tally.h"
#include "core/sched/grow_zone.h"
#include "core/sched/spare.h"
#include "core/sched/place/search.h"
#include "core/state/elastic.h"
#include "core/state/fallback.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/state.h"

enum {
    LOOK_MAX = 4096,        /* tasks that one pass looks at */
    NODE_PARTS = 1 << 20,   /* a node, divided into equal parts */
    PER_NODE_MAX = 1 << 20, /* instances on one node */
};

/* What the count added to the tally for one task. */
struct noted {
    struct noted *next;
    const struct task *task;
    uint32_t times;
    struct vector amounts;
};

/* The count of what the waiting tasks need. */
struct grow_count {
    struct trial *trial;
    const struct pool *pool;
    struct arena *arena;
    struct noted *noted;
    struct node node; /* as the provider brings nodes up */
    struct space space;
    uint64_t parts;     /* of nodes */
    uint64_t parts_aux; /* of nodes, by instances that request nothing but a place */
    uint64_t parts_max;
};

/* The waiting instances that have no promised place. */
static uint32_t waiting(const struct task *task)
{
    if (task->gang && task->claimed_count > 0) {
        return 0;
    }
    must(task->claimed_count <= task->waiting_count);
    return task->waiting_count - task->claimed_count;
}

/* Returns whether the task's accounts may hold these amounts beside what they hold. If so, the
 * tally counts the amounts from now on. */
static bool amounts_note(struct grow_count *demand, struct noted *noted)
{
    struct tally *tally = &demand->trial->tally;
    if (tally_gate(tally, noted->task, VIEW_NOW, &noted->amounts).gate != GATE_OPEN ||
        tally_user_capped(tally, noted->task, VIEW_NOW, &noted->amounts)) {
        return false;
    }
    tally_move(tally, noted->task, VIEW_NOW, &noted->amounts, 1);
    noted->times++;
    return true;
}

/* Gives back all that the count noted in the tally. */
static void amounts_give_back(struct grow_count *demand)
{
    for (const struct noted *noted = demand->noted; noted != NULL; noted = noted->next) {
        for (uint32_t i = 0; i < noted->times; i++) {
            tally_move(&demand->trial->tally, noted->task, VIEW_NOW, &noted->amounts, -1);
        }
    }
}

/* How many instances of the task, of `count`, find places on the nodes that are there. Only a gang leaves places free. */
static uint32_t placed_now(const struct grow_count *demand, const struct task *task,
                           const struct shape *shape, uint32_t count)
{
    if (!task->gang || shape->form != NULL) {
        return 0;
    }
    const struct asker asker = {.task = task, .request = &shape->request, .end_ms = INT64_MAX};
    return search_total(&demand->trial->overlay, &asker, count);
}

/* Does the request want nothing but a place for a task without slots? */
static bool wants_place_only(const struct request *request)
{
    return !request_has_slots(request) && request->cpu_milli <= 0 && request->memory_bytes <= 0 &&
           request->named_count == 0;
}

/* Counts an instance as its part of a node. False: no node of the pool's kind can run the instance. */
static bool part_add(struct grow_count *demand, const struct request *request)
{
    const uint32_t per = fit_count(&demand->space, request, PER_NODE_MAX);
    uint64_t *parts = wants_place_only(request) ? &demand->parts_aux : &demand->parts;
    *parts += per > 0 ? NODE_PARTS / per : 0;
    return per > 0;
}

/* Do the tasks counted so far need as many nodes as the pool may have? */
static bool is_full(const struct grow_count *demand)
{
    return demand->parts >= demand->parts_max || demand->parts_aux >= demand->parts_max;
}

/* Counts a gang whose instances differ: its accounts must allow its next instances. */
static void form_count(struct grow_count *demand, struct noted *noted)
{
    const struct core *core = demand->trial->core;
    const struct task *task = noted->task;
    if (!amounts_note(demand, noted)) {
        return;
    }
    for (uint32_t i = 0; i < task->instance_count && !is_full(demand); i++) {
        if (query_instance(core, task->id, i)->state == INSTANCE_WAITING &&
            !part_add(demand, query_task_request(core, task, i))) {
            return;
        }
    }
}

/* Counts the waiting instances of a task. */
static void task_count(struct grow_count *demand, const struct task *task)
{
    const struct core *core = demand->trial->core;
    const struct shape *shape = query_task_shape(core, task->shape);
    const uint32_t count = waiting(task);
    struct noted *noted = arena_new(demand->arena, struct noted, 1);
    *noted = (struct noted){.next = demand->noted, .task = task};
    demand->noted = noted;
    form_chunk_next_amounts(core, task, 1, SLOTS_LEAST, &noted->amounts);
    if (shape->form != NULL) {
        form_count(demand, noted);
        return;
    }
    for (uint32_t i = placed_now(demand, task, shape, count); i < count && !is_full(demand); i++) {
        if (!amounts_note(demand, noted) || !part_add(demand, &shape->request)) {
            return;
        }
    }
}

/* Counts the tasks in the order of the queue until they need `max` nodes. Returns the key at which the count ended. */
static struct okey tasks_count(struct grow_count *demand, uint32_t max)
{
    const struct core *core = demand->trial->core;
    const struct oindex *queue = &core->orders[ORDER_QUEUE];
    const pool_id pool = demand->pool->id;
    struct okey key = {{pool.v, 0, 0, 0}};
    demand->parts_max = (uint64_t)max * NODE_PARTS;
    bool more = oindex_from(queue, key, &key);
    for (uint32_t looked = 0; more && key.at[0] == pool.v && looked < LOOK_MAX && !is_full(demand);
         looked++) {
        const struct task *task = query_task_in(core, pool, (task_id){key.at[3]});
        if (fallback_grows(core, task, pool)) {
            task_count(demand, task);
        }
        more = oindex_next(queue, key, &key);
    }
    amounts_give_back(demand);
    const bool reached = more && is_full(demand);
    return reached ? key : (struct okey){{UINT64_MAX, 0, 0, 0}};
}

/* The nodes that the waiting tasks need, at most `max`. */
static uint32_t nodes_needed(struct grow_count *demand, uint32_t max)
{
    (void)tasks_count(demand, max);
    const uint64_t parts = demand->parts > demand->parts_aux ? demand->parts : demand->parts_aux;
    const uint64_t nodes = (parts + NODE_PARTS - 1) / NODE_PARTS;
    return nodes < max ? (uint32_t)nodes : max;
}

/* The nodes that the headroom lacks, where `coming` nodes will have no work yet. */
static uint32_t nodes_for_headroom(const struct pool *pool, uint32_t coming, uint32_t max)
{
    const int64_t each = (int64_t)pool_node_slots(pool) * SLOT_MILLI;
    const int64_t lacks =
        (int64_t)pool->headroom * SLOT_MILLI - pool->slots_free - (int64_t)coming * each;
    if (each == 0 || lacks <= 0) {
        return 0;
    }
    const int64_t nodes = (lacks + each - 1) / each;
    return nodes < (int64_t)max ? (uint32_t)nodes : max;
}

static uint32_t nodes_wanted(struct trial *trial, const struct pool *pool, struct arena *arena)
{
    const uint32_t room = pool->nodes_max - pool->launch_live;
    const uint32_t starting = pool->launch_starting;
    struct grow_count demand = {.trial = trial, .pool = pool, .arena = arena};
    elastic_flavor(pool, &demand.node);
    space_now(&demand.node, &demand.space);
    uint32_t need = nodes_needed(&demand, room + starting);
    const uint32_t lacks = spare_lacks(pool);
    need = lacks < room + starting - need ? need + lacks : room + starting;
    const uint32_t spare = starting > need ? starting - need : 0;
    uint32_t wanted = need > starting ? need - starting : 0;
    wanted += nodes_for_headroom(pool, spare, room);
    if (pool->launch_live + wanted < pool->nodes_min) {
        wanted = pool->nodes_min - pool->launch_live;
    }
    return wanted < room ? wanted : room;
}

/* Returns how many launches are on their way although no task, no headroom and no minimum needs
 * their nodes. */
static uint32_t launches_spare(struct trial *trial, const struct pool *pool, struct arena *arena)
{
    struct grow_count demand = {.trial = trial, .pool = pool, .arena = arena};
    elastic_flavor(pool, &demand.node);
    space_now(&demand.node, &demand.space);
    const uint32_t starting = pool->launch_starting;
    uint32_t spare = starting - nodes_needed(&demand, starting);
    spare -= spare_lacks(pool) < spare ? spare_lacks(pool) : spare;
    spare -= nodes_for_headroom(pool, 0, spare);
    const uint32_t above =
        pool->launch_live > pool->nodes_min ? pool->launch_live - pool->nodes_min : 0;
    return spare < above ? spare : above;
}

/* Tasks that needed nodes of this pool have started elsewhere, or another pool is asked for nodes now. Ends the launches that nobody
 * needs any more, the newest first. */
static void surplus_end(struct trial *trial, const struct pool *pool, const struct input *in,
                        struct facts *out)
{
    const struct core *core = trial->core;
    uint32_t left = pool->surplus ? launches_spare(trial, pool, out->arena) : 0;
    for (uint64_t id = table_prev(&core->launches, UINT64_MAX); id != 0 && left > 0;
         id = table_prev(&core->launches, id)) {
        const struct launch *launch = query_launch(core, (launch_id){id});
        if (launch->pool.v != pool->id.v || launch->node.v != 0 || launch->state == LAUNCH_ENDING) {
            continue;
        }
        struct fact *fact = fact_list_add(out, in, FACT_LAUNCH_CHANGED);
        fact->launch.launch = launch->id;
        fact->launch.pool = pool->id;
        fact->launch.state = LAUNCH_ENDING;
        fact->launch.name = arena_str(out->arena, query_launch_name(launch));
        fact->launch.words = "no task needs the node any more";
        left--;
    }
}

int64_t grow_decide(struct trial *trial, const struct input *in, struct facts *out)
{
    const struct core *core = trial->core;
    const struct pool *pool = query_pool(core, trial->pool);
    const size_t before = out->count;
    if (!elastic_pool(pool)) {
        return 0;
    }
    surplus_end(trial, pool, in, out);
    if (out->count > before) {
        return 0;
    }
    if (pool->launch_live >= pool->nodes_max) {
        return pool->sold_nodes > 0 ? grow_zone_ask(core, pool, 0, in, out) : 0;
    }
    if (pool->launch_retry_ms > in->now_ms) {
        return pool->launch_retry_ms;
    }
    const int64_t period_ms = pool->grown_ms == 0 ? 0 : pool->grown_ms + pool->grow_period_ms;
    if (period_ms > in->now_ms && pool->launch_live > 0 && pool->launch_live >= pool->nodes_min) {
        return period_ms; /* a pool without nodes, or with too few, grows at once */
    }
    uint32_t wanted = nodes_wanted(trial, pool, out->arena);
    const uint64_t left = LAUNCHES_MAX - core->launches.count;
    wanted = wanted < left ? wanted : (uint32_t)left;
    if (pool->flavor.v != 0) {
        return grow_zone_ask(core, pool, wanted, in, out);
    }
    grow_zone_launches(core, pool, "", wanted, in, out);
    return 0;
}

void grow_cover_init(struct trial *trial, struct arena *arena, struct grow_cover *ret)
{
    const struct pool *pool = query_pool(trial->core, trial->pool);
    *ret = (struct grow_cover){.any = elastic_pool(pool) && pool_starts(pool) &&
                                      pool->launch_starting > 0 && pool->launch_failures == 0};
    if (!ret->any) {
        return;
    }
    struct grow_count demand = {.trial = trial, .pool = pool, .arena = arena};
    elastic_flavor(pool, &demand.node);
    space_now(&demand.node, &demand.space);
    ret->node = demand.node;
    space_now(&ret->node, &ret->space);
    ret->end = tasks_count(&demand, pool->launch_starting);
}

bool grow_covers(const struct grow_cover *cover, const struct core *core, const struct task *task)
{
    return cover->any && oindex_key_compare(key_queue(task), cover->end) < 0 &&
           fit_count(&cover->space, query_task_request(core, task, 0), 1) > 0;
}
