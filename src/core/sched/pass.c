/* pass.c - the scheduler: one pass over one pool.
 *
 * Tasks are taken in the pool's order (priority, rank, id), merged from the queues of its shapes. A
 * task that does not fit is passed by, and its shape with it: an equal request cannot fit either.
 * The first one passed by is the head; when it has been that for the pool's patience, places are
 * kept for it from its turn in the order on, so tasks ahead of it are not held back.
 *
 * Surprising: the budget counts tasks looked at and instances placed, not nodes visited, because
 * caches change how many nodes are visited and must not change where a pass stops. It stops only
 * after having placed something, so every incomplete pass makes progress. Keeps S2, S4 to S7 of
 * README.md. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/pass.h"

#include "base/checked.h"
#include "core/core_internal.h"
#include "core/sched/queue.h"
#include "core/sched/reserve.h"
#include "core/sched/search.h"

struct pass {
    const struct core *core;
    const struct pool *pool;
    const struct input *in;
    struct facts *out;
    struct arena *arena;
    struct overlay overlay;
    struct queue queue;
    uint64_t work;
    uint32_t placed;
    uint32_t placed_before; /* when places began to be kept */
    bool stopped;           /* at the budget */
    bool old_head_started;  /* the head of the pass before has all it waited for */
    const struct task *head;
    bool head_moved; /* it is another one, or the same one got some of its instances */
    bool holding;    /* places are kept for the head */
    bool keep_due;   /* they have not been chosen yet: nobody has come who could take them */
};

/* What became of one task. */
enum outcome {
    OUTCOME_PLACED,
    OUTCOME_BLOCKED,
    OUTCOME_STOPPED,
};

static bool budget_spent(const struct pass *pass)
{
    return pass->placed > 0 && pass->work >= pass->in->pass.work_max;
}

static void allocate(struct pass *pass, const struct node *node, const struct placed *placed)
{
    const struct task *task = placed->asker->task;
    const struct instance *instance = core_instance(pass->core, task->id, placed->index);
    must(instance->state == INSTANCE_WAITING);
    struct fact *fact = facts_add(pass->out, pass->in, FACT_ALLOCATED);
    fact->allocated.key = (struct attempt_key){task->id, placed->index, instance->attempt + 1};
    fact->allocated.node = node->id;
    fact->allocated.incarnation = node->incarnation;
    fact->allocated.devices = placed->grant.devices;
    fact->allocated.slots_milli = placed->grant.slots_milli;
    fact->allocated.cpu_milli = placed->grant.cpu_milli;
    fact->allocated.memory_bytes = placed->grant.memory_bytes;
    pass->placed++;
    pass->work++;
}

/* The next instance from `index` on that wants a place; instance_count: none. */
static uint32_t next_waiting(const struct pass *pass, const struct task *task, uint32_t index)
{
    uint32_t at = index;
    while (at < task->instance_count &&
           core_instance(pass->core, task->id, at)->state != INSTANCE_WAITING) {
        at++;
    }
    return at;
}

/* The budget is asked only between placements, so that a task that does not fit is known to be
 * blocked whether that was found by searching or remembered. */
static enum outcome place_each(struct pass *pass, const struct asker *asker)
{
    const struct task *task = asker->task;
    const uint32_t placed = pass->placed;
    for (uint32_t i = next_waiting(pass, task, task->waiting_from); i < task->instance_count;
         i = next_waiting(pass, task, i + 1)) {
        if (pass->placed > placed && budget_spent(pass)) {
            return OUTCOME_STOPPED;
        }
        const struct node *node = search_first(&pass->overlay, asker, 1);
        if (node == NULL) {
            return OUTCOME_BLOCKED;
        }
        allocate(pass, node, overlay_take(&pass->overlay, node, asker, i));
    }
    return OUTCOME_PLACED;
}

/* One instance of a gang while it is not yet sure that all fit. */
struct seat {
    const struct node *node;
    const struct placed *placed;
};

/* Where the next `left` instances go: the fullest node that takes all of them, else the fullest of
 * those that take most. */
static const struct node *gang_node(struct pass *pass, const struct asker *asker, uint32_t left,
                                    uint32_t *ret_count)
{
    const struct node *node = search_first(&pass->overlay, asker, left);
    if (node != NULL) {
        *ret_count = left;
        return node;
    }
    const uint32_t most = search_most(&pass->overlay, asker, left);
    *ret_count = most;
    return most == 0 ? NULL : search_first(&pass->overlay, asker, most);
}

static enum outcome place_gang(struct pass *pass, const struct asker *asker)
{
    const struct task *task = asker->task;
    const uint32_t size = task->waiting_count;
    struct seat *seats = arena_new(pass->arena, struct seat, size);
    uint32_t seated = 0;
    uint32_t index = next_waiting(pass, task, task->waiting_from);
    while (seated < size) {
        uint32_t count = 0;
        const struct node *node = gang_node(pass, asker, size - seated, &count);
        if (node == NULL) {
            break;
        }
        for (uint32_t i = 0; i < count; i++) {
            must(index < task->instance_count);
            seats[seated++] = (struct seat){node, overlay_take(&pass->overlay, node, asker, index)};
            index = next_waiting(pass, task, index + 1);
        }
    }
    if (seated < size) {
        while (seated > 0) {
            overlay_undo(&pass->overlay, seats[--seated].node);
        }
        return OUTCOME_BLOCKED;
    }
    for (uint32_t i = 0; i < size; i++) {
        allocate(pass, seats[i].node, seats[i].placed);
    }
    return OUTCOME_PLACED;
}

static uint32_t start_count(const struct task *task)
{
    return task_gang_size(task) > 1 ? task->waiting_count : 1;
}

/* Choosing the places to keep looks at every node: done when the first task comes that would fit. */
static bool keep_or_blocked(struct pass *pass, const struct asker *asker)
{
    const uint32_t count = start_count(asker->task);
    if (!pass->keep_due) {
        return true;
    }
    if (search_total(&pass->overlay, asker, count) < count) {
        return false;
    }
    const struct shape *shape = core_shape(pass->core, pass->head->shape);
    reserve_keep(&pass->overlay, &shape->request, start_count(pass->head));
    pass->keep_due = false;
    return true;
}

static enum outcome place_task(struct pass *pass, const struct task *task,
                               const struct shape *shape)
{
    if (capacity_missed(pass->core->capacity, shape)) {
        return OUTCOME_BLOCKED;
    }
    struct asker *asker = arena_new(pass->arena, struct asker, 1);
    *asker = (struct asker){
        .task = task,
        .request = &shape->request,
        .end_ms = overlay_end_ms(task, pass->in->now_ms),
        .trail = &pass->queue.at[0].trail,
    };
    if (!keep_or_blocked(pass, asker)) {
        return OUTCOME_BLOCKED;
    }
    return start_count(task) > 1 ? place_gang(pass, asker) : place_each(pass, asker);
}

/* The first blocked task that the nodes at hand could run becomes the head. One that they could not
 * (its nodes are away) waits for no one here, and would keep places in vain. */
static void head_note(struct pass *pass, const struct task *task, const struct shape *shape,
                      bool progress)
{
    const struct pool *pool = pass->pool;
    const uint32_t count = start_count(task);
    if (pass->head != NULL || !reserve_possible(&pass->overlay, &shape->request, count)) {
        return;
    }
    pass->head = task;
    pass->head_moved = progress || task->id.v != pool->blocked_task.v;
    const int64_t since_ms = pass->head_moved ? pass->in->now_ms : pool->blocked_since_ms;
    if (pass->in->now_ms - since_ms >= pool->patience_ms) {
        pass->holding = true;
        pass->keep_due = true;
        pass->placed_before = pass->placed;
    }
}

/* A task of this shape has just been turned away. May another of them be looked at? Only where it
 * would fit if nothing were kept, and short ones may use what is kept. */
static bool shape_goes_on(struct pass *pass, const struct task *task, const struct shape *shape)
{
    if (!pass->overlay.keep_end_known || pass->head->shape.v == shape->id.v ||
        capacity_missed(pass->core->capacity, shape)) {
        return false;
    }
    const struct asker brief = {.request = &shape->request, .end_ms = INT64_MIN};
    return search_total(&pass->overlay, &brief, start_count(task)) == start_count(task);
}

static void pass_run(struct pass *pass)
{
    const struct task *task;
    while ((task = queue_first(&pass->queue)) != NULL) {
        if (budget_spent(pass)) {
            pass->stopped = true;
            return;
        }
        pass->work++;
        const struct shape *shape = core_shape(pass->core, task->shape);
        const uint32_t placed = pass->placed;
        switch (place_task(pass, task, shape)) {
        case OUTCOME_PLACED:
            pass->old_head_started |= task->id.v == pass->pool->blocked_task.v;
            queue_advance(&pass->queue);
            break;
        case OUTCOME_BLOCKED:
            head_note(pass, task, shape, pass->placed > placed);
            if (shape_goes_on(pass, task, shape)) {
                queue_advance(&pass->queue);
            } else {
                queue_drop_shape(&pass->queue);
            }
            break;
        case OUTCOME_STOPPED:
            pass->stopped = true;
            return;
        }
    }
}

/* The head and the reservation as they are now. A pass that stopped before it met a blocked task
 * knows of no new head and leaves the old one. */
static void head_facts(struct pass *pass)
{
    const struct pool *pool = pass->pool;
    if (pass->head == NULL && pass->stopped && !pass->old_head_started) {
        return;
    }
    const task_id head = pass->head == NULL ? (task_id){0} : pass->head->id;
    if (head.v != pool->blocked_task.v || pass->head_moved) {
        struct fact *fact = facts_add(pass->out, pass->in, FACT_HEAD_BLOCKED);
        fact->head.pool = pool->id;
        fact->head.task = head;
    }
    const task_id holder = pass->holding ? head : (task_id){0};
    if (holder.v != pool->reserved_task.v) {
        struct fact *fact = facts_add(pass->out, pass->in, FACT_RESERVED);
        fact->head.pool = pool->id;
        fact->head.task = holder;
    }
}

void pass_decide(const struct core *core, const struct input *in, struct facts *out)
{
    must(in->type == INPUT_PASS);
    const struct pool *pool = core_pool(core, in->pass.pool);
    if (pool == NULL || pool->deleted) {
        return;
    }
    struct pass pass = {.core = core, .pool = pool, .in = in, .out = out, .arena = out->arena};
    const size_t count = out->count;
    overlay_init(&pass.overlay, core, pool->id, pass.arena);
    pass.overlay.now_ms = in->now_ms;
    if (!pool->paused) {
        queue_init(&pass.queue, core, pool->id, pass.arena);
        pass_run(&pass);
    }
    head_facts(&pass);
    overlay_done(&pass.overlay);
    if (out->count == count) {
        return;
    }
    struct fact *fact = facts_add(out, in, FACT_PASS);
    fact->pass.pool = pool->id;
    fact->pass.work = pass.work;
    fact->pass.placed = pass.placed;
    /* What was placed beside or ahead of the holder may have moved its places: look again. */
    fact->pass.complete = !pass.stopped && !(pass.holding && pass.placed > pass.placed_before);
}
