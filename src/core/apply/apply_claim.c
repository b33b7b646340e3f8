/* apply_claim.c - facts of claims and evictions: places promised while others leave them.
 *
 * One that is moved to make room has its claim while it is still stopping where it was.
 *
 * A claim takes nothing from what is free on its node; what counts is what will be free when those that are stopping have ended:
 * that is never less than all claims together (space_claims_fit). SPDX-License-Identifier: Apache-2.0 */
#include "core/state/change.h"

#include "base/must.h"
#include "core/model/fit.h"

struct grant instance_grant(const struct instance *instance)
{
    return (struct grant){instance->devices, instance->slots_milli, instance->cpu_milli,
                          instance->memory_bytes};
}

struct grant claim_grant(const struct claim *claim)
{
    return (struct grant){claim->devices, claim->slots_milli, claim->cpu_milli,
                          claim->memory_bytes};
}

const struct request *query_instance_request(const struct core *core,
                                             const struct instance *instance)
{
    return query_task_request(core, query_task(core, instance->task), instance->index);
}

const struct eviction_note *query_task_eviction(const struct core *core, task_id id)
{
    return table_get(&core->evictions, id.v);
}

const struct claim *query_instance_claim(const struct core *core, task_id id, uint32_t index)
{
    const struct task *task = query_task(core, id);
    return task == NULL || task->claimed_count + task->moving_count == 0
               ? NULL
               : table_get(&core->claims, task->instance_first + index);
}

bool task_keeps_claims(const struct task *task)
{
    return task->queued || (task->stopping_count > 0 && !task->kill_asked && !gang_doomed(task));
}

bool instance_may_claim(const struct instance *instance)
{
    return instance->state == INSTANCE_WAITING || instance->state == INSTANCE_STOPPING;
}

/* ---- what will be free ---- */

/* Will it leave, as far as anybody knows? One that was told twice and is still there is not waited for, unless somebody does so
 * already. */
static bool will_leave(const struct node *node, const struct instance *instance)
{
    return instance->state == INSTANCE_STOPPING &&
           (instance->stop_deadline_ms > 0 || node->claim_count > 0);
}

void space_later(const struct core *core, const struct node *node, bool claims,
                 struct space_room *room, struct space *ret)
{
    struct okey key = {{node->id.v, 0, 0, 0}};
    while (node->leaving_count > 0 && oindex_next(&core->orders[ORDER_ON_NODE], key, &key) &&
           key.at[0] == node->id.v) {
        const struct instance *instance = query_instance_row(core, key.at[3]);
        if (will_leave(node, instance)) {
            const struct grant grant = instance_grant(instance);
            space_give(ret, room, query_instance_request(core, instance), &grant);
        }
    }
    key = (struct okey){{node->id.v, 0, 0, 0}};
    while (claims && node->claim_count > 0 && oindex_next(&core->orders[ORDER_CLAIM], key, &key) &&
           key.at[0] == node->id.v) {
        const struct grant grant = claim_grant(table_get(&core->claims, key.at[3]));
        const struct instance *instance = query_instance_row(core, key.at[3]);
        space_take(ret, room, query_instance_request(core, instance), &grant);
    }
}

bool space_claims_fit(const struct core *core, const struct node *node)
{
    struct space now;
    struct space_room room;
    struct space later;
    space_now(node, &now);
    space_copy(&now, &room, &later);
    space_later(core, node, false, &room, &later);
    struct okey key = {{node->id.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == node->id.v) {
        const struct grant grant = claim_grant(table_get(&core->claims, key.at[3]));
        const struct request *request =
            query_instance_request(core, query_instance_row(core, key.at[3]));
        if (!fit_holds(&later, request, &grant)) {
            return false;
        }
        space_take(&later, &room, request, &grant);
    }
    return true;
}

/* ---- rows ---- */

static struct okey claim_key(const struct task *task, uint32_t index, node_id node)
{
    return (struct okey){{node.v, task->id.v, index, task->instance_first + index}};
}

static void node_claims_count(struct core *core, node_id id, int sign)
{
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    node->claim_count = (uint32_t)((int64_t)node->claim_count + sign);
    change_node_close(core, node, &before);
}

/* Where the claim of an instance is counted. */
static uint32_t *claim_counter(const struct core *core, struct task *task, uint32_t index)
{
    const struct instance *instance = query_instance_row(core, task->instance_first + index);
    return instance->state == INSTANCE_STOPPING ? &task->moving_count : &task->claimed_count;
}

void change_pool_freed(struct core *core, pool_id pool)
{
    if (core->capacity != NULL) {
        capacity_freed(core->capacity, pool);
    }
    change_pool_due(core, pool);
}

void change_claim_put(struct core *core, struct task *task, uint32_t index,
                      const struct claim *claim)
{
    struct claim *row = table_put(&core->claims, task->instance_first + index);
    *row = *claim;
    *claim_counter(core, task, index) += 1;
    must(oindex_insert(&core->orders[ORDER_CLAIM], claim_key(task, index, claim->node)));
    node_claims_count(core, claim->node, 1);
}

void change_claim_drop(struct core *core, struct task *task, uint32_t index)
{
    const uint64_t row = task->instance_first + index;
    const struct claim *claim = table_get(&core->claims, row);
    if (claim == NULL) {
        return;
    }
    const node_id node = claim->node;
    must(oindex_remove(&core->orders[ORDER_CLAIM], claim_key(task, index, node)));
    table_remove(&core->claims, row);
    must(*claim_counter(core, task, index) > 0);
    *claim_counter(core, task, index) -= 1;
    node_claims_count(core, node, -1);
    change_pool_freed(core, task->pool);
}

void change_claim_moved(const struct core *core, struct task *task, uint32_t index)
{
    if (query_instance_claim(core, task->id, index) != NULL) {
        must(task->moving_count > 0);
        task->moving_count--;
        task->claimed_count++;
    }
}

void change_claim_drop_all(struct core *core, struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && task->claimed_count + task->moving_count > 0;
         i++) {
        change_claim_drop(core, task, i);
    }
}

void change_claim_drop_node(struct core *core, node_id node)
{
    struct okey key = {{node.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == node.v) {
        struct task *task = table_edit(&core->tasks, key.at[1]);
        must(task != NULL);
        if (task->gang) {
            change_claim_drop_all(core, task); /* it starts together, or looks for other places */
        } else {
            change_claim_drop(core, task, (uint32_t)key.at[2]);
        }
    }
}

/* ---- facts ---- */

void apply_claim_made(struct core *core, const struct fact *fact)
{
    const struct attempt_key key = fact->allocated.key;
    struct task *task = table_edit(&core->tasks, key.task.v);
    must(task != NULL);
    must(task_keeps_claims(task));
    const struct instance *instance = query_instance(core, key.task, key.index);
    must(instance_may_claim(instance));
    must(instance->attempt + 1 == key.attempt);
    const struct node *node = query_node(core, fact->allocated.node);
    must(node->pool.v == task->pool.v);
    must(node->incarnation == fact->allocated.incarnation);
    must(node_takes_work(node));
    change_claim_put(core, task, key.index,
                     &(struct claim){.node = fact->allocated.node,
                                     .devices = fact->allocated.devices,
                                     .slots_milli = fact->allocated.slots_milli,
                                     .cpu_milli = fact->allocated.cpu_milli,
                                     .memory_bytes = fact->allocated.memory_bytes});
}

void apply_claim_dropped(struct core *core, const struct fact *fact)
{
    struct task *task = table_edit(&core->tasks, fact->claim_dropped.task.v);
    must(task != NULL);
    must(query_instance_claim(core, task->id, fact->claim_dropped.index) != NULL);
    change_claim_drop(core, task, fact->claim_dropped.index);
}

void apply_claim_evicted(struct core *core, const struct fact *fact)
{
    struct fact stop = *fact;
    stop.attempt_stopping.key = fact->evicted.key;
    const bool stale = fact->evicted.why.rule == EVICT_STALE; /* for nobody: its gang broke */
    stop.attempt_stopping.cause = stale ? END_GANG : END_PREEMPTED;
    stop.attempt_stopping.deadline_ms = fact->evicted.deadline_ms;
    apply_attempt_stopping(core, &stop);
    struct task *task = table_edit(&core->tasks, fact->evicted.key.task.v);
    task->evicted_ms = stale ? task->evicted_ms : fact->time_ms;
    struct eviction_note *note = table_edit(&core->evictions, task->id.v);
    if (note == NULL) {
        note = table_put(&core->evictions, task->id.v);
    }
    note->at_ms = fact->time_ms;
    note->index = fact->evicted.key.index;
    note->why = fact->evicted.why;
}
