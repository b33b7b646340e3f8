/* check.c - checks every invariant of the state: recomputes from the rows what is derived, and compares.
 *
 * K1 sums of nodes (P1). K2 gangs (P2). K3 counts of tasks. K4 counts of pools. K5 each order has exactly the keys that
 * follow from the rows. K6 blocked and reserved tasks are queued. K7 an ended task is archived unless tasks wait for it.
 * K11 each claim will find the amounts that were promised to it. K15 the kept shares are those of a division made anew.
 * K21 no two allocations of a node hold the same port. K2 and K7 hold between steps only: within the facts of one step a
 * gang may have started in part.
 *
 * The other invariants have files of their own: check_account.c K8, K9, K10 and K12, check_topology.c K13,
 * check_launch.c K14 and K16, check_fallback.c K17, check_flavor.c K18, check_life.c K19, check_membership.c K20.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/check.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/claim.h"
#include "core/model/instance.h"
#include "core/model/length.h"
#include "core/model/limits.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/shape.h"
#include "core/model/spec.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/order/share_tree.h"
#include "core/state/change.h"
#include "core/state/depends.h"
#include "core/state/gang.h"
#include "core/state/history.h"
#include "core/state/key.h"
#include "core/state/lengths.h"
#include "core/state/ports.h"
#include "core/state/query.h"
#include "core/state/space_later.h"
#include "core/state/state.h"

#include <string.h>

/* The number of keys that each order should have, counted from the rows. */
struct expected {
    const struct core *core;
    uint64_t counts[ORDER_COUNT];
};

static void expect(struct expected *expected, enum order order, struct okey key)
{
    must(oindex_has(&expected->core->orders[order], key)); /* K5 */
    expected->counts[order]++;
}

/* ---- nodes ---- */

static bool over_anywhere(const struct node *node)
{
    bool over = node->slots_free < 0 || node->cpu_free < 0 || node->memory_free < 0 ||
                node->aux_used > node->aux_max;
    for (uint32_t i = 0; i < node->named_count; i++) {
        over = over || node->named_free[i] < 0;
    }
    return over;
}

static void check_node(struct expected *expected, const struct node *node)
{
    const struct core *core = expected->core;
    struct node again = *node;
    change_node_recount(core, &again);
    must(again.slots_free == node->slots_free); /* K1 */
    must(again.cpu_free == node->cpu_free);
    must(again.memory_free == node->memory_free);
    must(again.aux_used == node->aux_used);
    must(again.instance_count == node->instance_count);
    must(again.leaving_count == node->leaving_count);
    must(memcmp(again.named_free, node->named_free, sizeof again.named_free) == 0);
    must(memcmp(again.device_free, node->device_free, sizeof again.device_free) == 0);
    must(over_anywhere(node) == node->overhang);
    if (node->state == NODE_REMOVED) {
        must(node->instance_count == 0);
        must(node->claim_count == 0);
        if (node->provided && node->launch.v == 0) {
            expect(expected, ORDER_DEADLINE,
                   (struct okey){{(uint64_t)(node->removed_ms + NODE_FORGET_MS), DEADLINE_FORGET,
                                  node->id.v}});
        }
        return;
    }
    if (node->leaving_count > 0 || node->claim_count > 0) {
        expect(expected, ORDER_NODE_CHANGING, (struct okey){{node->pool.v, node->id.v}});
        must(space_later_claims_fit(core, node)); /* K11 */
    }
    if (node->gpu_memory_bytes > 0) {
        expect(expected, ORDER_GPU_MEMORY,
               (struct okey){{node->pool.v, (uint64_t)node->gpu_memory_bytes, node->id.v}});
    }
    if (node->drain_by_ms != 0) {
        must(node->draining);
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)node->drain_by_ms, DEADLINE_DRAIN, node->id.v}});
    }
    must(ports_sound(core, node->id)); /* K21 */
    must(query_pool(core, node->pool) != NULL);
    expect(expected, ORDER_POOL_NODE, (struct okey){{node->pool.v, node->id.v}});
    expect(expected, ORDER_NODE_SIZE, key_node_size(node));
    uint64_t hash = key_name_hash(query_node_name(core, node->id));
    expect(expected, ORDER_NODE_NAME, (struct okey){{hash, node->id.v}});
}

static void check_nodes(struct expected *expected)
{
    const struct core *core = expected->core;
    uint32_t count = 0;
    for (uint64_t id = table_next(&core->nodes, 0); id != 0; id = table_next(&core->nodes, id)) {
        const struct node *node = table_get(&core->nodes, id);
        must(node->id.v == id);
        check_node(expected, node);
        count += node->state != NODE_REMOVED;
    }
    must(count == core->node_count);
}

/* ---- tasks ---- */

static void check_instance(struct expected *expected, const struct task *task,
                           const struct instance *instance, uint64_t row)
{
    const struct claim *claim = table_get(&expected->core->claims, row);
    if (claim != NULL) {
        must(instance_may_claim(instance)); /* K11 */
        must(task_keeps_claims(task));
        must(node_takes_work(query_node(expected->core, claim->node)));
        expect(expected, ORDER_CLAIM,
               (struct okey){{claim->node.v, task->id.v, instance->index, row}});
    }
    if (!instance_active(instance)) {
        return;
    }
    const struct node *node = query_node(expected->core, instance->node);
    must(node != NULL);
    must(node->incarnation == instance->incarnation); /* P11 */
    must(node->pool.v == task->pool.v);
    expect(expected, ORDER_ON_NODE, (struct okey){{node->id.v, task->id.v, instance->index, row}});
    if (instance_stays(instance)) {
        expect(expected, ORDER_ACCOUNT_LOSS, key_account_loss(task, instance));
        expect(expected, ORDER_ACCOUNT_BEGUN, key_account_begun(task, instance));
    }
    if (instance->state == INSTANCE_RUNNING && task->time_limit_ms > 0) {
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)(instance->started_ms + task->time_limit_ms),
                              DEADLINE_TIME_LIMIT, task->id.v, instance->index}});
    }
    if (instance->state == INSTANCE_STOPPING && instance->stop_deadline_ms > 0) {
        expect(expected, ORDER_DEADLINE,
               (struct okey){{(uint64_t)(instance->stop_deadline_ms + STOP_SLACK_MS), DEADLINE_STOP,
                              task->id.v, instance->index}});
    }
}

struct check_tally {
    uint32_t states[INSTANCE_STATE_COUNT];
    uint32_t failed;
    uint32_t unknown;
    uint32_t claimed;
    uint32_t moving;
    uint32_t waiting_from;
};

static void check_instances(struct expected *expected, const struct task *task,
                            struct check_tally *ret)
{
    *ret = (struct check_tally){.waiting_from = task->instance_count};
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance =
            query_instance_row(expected->core, task->instance_first + i);
        must(instance->task.v == task->id.v);
        must(instance->index == i);
        ret->states[instance->state]++;
        if (instance->state == INSTANCE_WAITING && i < ret->waiting_from) {
            ret->waiting_from = i;
        }
        const bool claims = table_get(&expected->core->claims, task->instance_first + i) != NULL;
        ret->claimed += claims && instance->state == INSTANCE_WAITING;
        ret->moving += claims && instance->state == INSTANCE_STOPPING;
        if (instance->state == INSTANCE_ENDED) {
            ret->failed += instance_failed(instance->cause, instance->exit_code);
            ret->unknown += instance_lost((enum end_cause)instance->cause);
        }
        check_instance(expected, task, instance, task->instance_first + i);
    }
}

static void check_counts(const struct task *task, const struct check_tally *tally)
{
    uint32_t active = tally->states[INSTANCE_STARTING] + tally->states[INSTANCE_RUNNING] +
                      tally->states[INSTANCE_STOPPING];
    must(task->waiting_count == tally->states[INSTANCE_WAITING]); /* K3 */
    must(task->starting_count == tally->states[INSTANCE_STARTING]);
    must(task->stopping_count == tally->states[INSTANCE_STOPPING]);
    must(task->ended_count == tally->states[INSTANCE_ENDED]);
    must(task->held_count == tally->states[INSTANCE_HELD]);
    must(task->active_count == active);
    must(task->running_ms == 0 || task->active_count > task->starting_count);
    must(task->failed_count == tally->failed);
    must(task->unknown_count == tally->unknown);
    must(task->waiting_from == tally->waiting_from);
    must(task->claimed_count == tally->claimed);
    must(task->moving_count == tally->moving);
}

static void check_settled(const struct core *core, const struct task *task)
{
    if (task_state_ended(task->state)) {
        struct okey key;
        /* K7: an ended task without dependents is archived */
        must(depends_first(core, task->id, &key));
        return;
    }
    if (task->gang && task->waiting_count > 0 && task_gang_lacks(task) && task->stale_ms == 0) {
        /* K2: all active instances of a broken gang are stopping */
        must(task->stopping_count == task->active_count);
    }
    if (task_gang_doomed(task)) {
        /* K2: all active instances of a failed gang are stopping */
        must(task->stopping_count == task->active_count);
        must(task->active_count > 0);
    }
    must(task->waiting_count > 0 || task->active_count > 0 || task->held_count > 0);
}

/* Checks task state and queue membership by conditions of its own, not with the functions of change_task.c. */
static void check_state(const struct core *core, const struct task *task)
{
    bool has_pool = pool_has_tasks(query_pool(core, task->pool)) && !task->turned_away;
    bool waits = task->state == TASK_PENDING && task->waiting_count > 0;
    bool whole = !task->gang || task->stopping_count == 0;
    bool partly = task->active_count > 0 && task->waiting_count > 0 && whole;
    bool held =
        task->kill_asked || task->pause_asked || task->pool_next.v != 0 || task->hold_until_ms > 0;
    bool queued = (waits || partly) && has_pool && task->depends_left == 0 && !held;
    must(task->queued == queued);
    must(has_pool || !queued);
    if (task_state_ended(task->state)) {
        must(task->active_count == 0);
        must(task->waiting_count == 0);
        must(task->held_count == 0);
        must(task->pool_next.v == 0);
        return;
    }
    if (task->active_count == 0) {
        must(task->pool_next.v == 0);
        must((task->state == TASK_PAUSED) == (task->pause_asked != 0));
        must(task->state == TASK_STAGED || task->state == TASK_PAUSED ||
             task->state == (has_pool ? TASK_PENDING : TASK_UNAVAILABLE));
        return;
    }
    enum task_state running = task->starting_count > 0 ? TASK_STARTING : TASK_RUNNING;
    must(task->state == (task->stopping_count > 0 ? TASK_STOPPING : running));
}

static void check_depends(struct expected *expected, const struct task *task, struct arena *arena)
{
    const struct core *core = expected->core;
    uint64_t before = expected->counts[ORDER_DEPENDENT];
    struct task_spec spec;
    query_task_spec(core, task->id, arena, &spec);
    for (uint32_t i = 0; i < spec.depends_count; i++) {
        bool met = (task->depends_met >> i & 1) != 0;
        const struct task *other = query_task(core, (task_id){spec.depends_on[i]});
        must(met || other != NULL);
        must(met || !task_state_ended(task->state));
        if (!met) {
            expect(expected, ORDER_DEPENDENT, key_depends(task->id, &spec, i));
        }
    }
    must(task->depends_left == expected->counts[ORDER_DEPENDENT] - before);
    arena_clear(arena);
}

static void check_tasks(struct expected *expected)
{
    const struct core *core = expected->core;
    uint64_t states[TASK_STATE_COUNT] = {0};
    uint64_t instances = 0;
    struct arena arena;
    arena_init(&arena);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        const struct shape *shape = query_task_shape(core, task->shape);
        must(shape != NULL);
        must(shape->pool.v == task->pool.v);
        must(shape->gang_size == task_gang_size(task));
        struct check_tally tally;
        check_instances(expected, task, &tally);
        check_counts(task, &tally);
        check_state(core, task);
        check_depends(expected, task, &arena);
        if (task->queued) {
            expect(expected, ORDER_QUEUE, key_queue(task));
            expect(expected, ORDER_ACCOUNT_QUEUE, key_account_queue(task));
        }
        struct task counted = *task;
        gang_count(core, &counted);
        must(counted.lacks == task->lacks);
        must((task->stale_ms > 0) == (task_gang_may_wait(task) && task_gang_broken(task))); /* K2 */
        struct okey stale;
        if (gang_stale_key(core, task, &stale)) {
            expect(expected, ORDER_DEADLINE, stale);
        }
        if (task->hold_until_ms > 0) {
            must(task->waiting_count > 0);
            expect(expected, ORDER_DEADLINE, key_hold(task->id, task->hold_until_ms));
        }
        struct okey service;
        if (key_service(task, &service)) {
            expect(expected, ORDER_SERVICE, service);
        }
        if (key_successor(task, &service)) {
            expect(expected, ORDER_SUCCESSOR, service);
        }
        struct okey checked;
        if (key_checked(task, &checked)) {
            expect(expected, ORDER_CHECKED, checked);
        }
        if (task->active_count > 0) {
            expect(expected, ORDER_ACCOUNT_RUNNING, key_account_running(task));
        }
        if (task_state_ended(task->state)) {
            expect(expected, ORDER_DEADLINE, key_settle(task));
        }
        states[task->state]++;
        instances += task->instance_count;
    }
    arena_done(&arena);
    must(instances == core->instances.count);
    for (uint64_t id = table_next(&core->evictions, 0); id != 0;
         id = table_next(&core->evictions, id)) {
        must(query_task(core, (task_id){id}) != NULL);
    }
    for (unsigned i = 0; i < TASK_STATE_COUNT; i++) {
        must(task_state_ended((enum task_state)i) || states[i] == core->task_counts[i]);
    }
}

/* ---- pools, shapes, keys ---- */

static void pool_tally(const struct core *core, const struct pool *pool, struct pool *ret)
{
    *ret = (struct pool){.id = pool->id};
    node_id after = {0};
    const struct node *node;
    while ((node = query_pool_node_next(core, pool->id, after)) != NULL) {
        after = node->id;
        ret->node_count++;
        ret->spare_count += node_stands_by(node);
        ret->slots_milli += node->slots_milli;
        ret->slots_free += node_takes_work(node) && node->slots_free > 0 ? node->slots_free : 0;
        vector_sum_add(&ret->usable[DIM_SLOTS], node_slots_able(node), node_takes_work(node));
        vector_sum_add(&ret->usable[DIM_CPU], node->cpu_milli, node_takes_work(node));
        vector_sum_add(&ret->usable[DIM_MEMORY], node->memory_bytes, node_takes_work(node));
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->pool.v == pool->id.v) {
            ret->task_count += !task_state_ended(task->state);
            ret->pending_count += task->queued;
            ret->running_count += task->active_count > 0;
        } else {
            ret->pending_count += query_task_in(core, pool->id, task->id)->pool.v == pool->id.v;
        }
    }
}

static void check_holder(const struct core *core, const struct pool *pool, task_id holder)
{
    const struct task *task = query_task_in(core, pool->id, holder);
    must(task != NULL); /* K6 */
    must(task->queued);
    must(task->pool.v == pool->id.v);
}

static void check_pools(struct expected *expected)
{
    const struct core *core = expected->core;
    uint32_t count = 0;
    for (uint64_t id = table_next(&core->pools, 0); id != 0; id = table_next(&core->pools, id)) {
        const struct pool *pool = table_get(&core->pools, id);
        struct pool tally;
        pool_tally(core, pool, &tally);
        must(tally.node_count == pool->node_count); /* K4 */
        must(tally.spare_count == pool->spare_count);
        must(tally.slots_milli == pool->slots_milli);
        must(tally.slots_free == pool->slots_free);
        must(memcmp(tally.usable, pool->usable, sizeof pool->usable) == 0);
        must(tally.task_count == pool->task_count);
        must(tally.pending_count == pool->pending_count);
        must(tally.running_count == pool->running_count);
        for (uint32_t i = 0; i < pool->reserved_count; i++) {
            must(pool->reserved[i].task.v != 0);
            check_holder(core, pool, pool->reserved[i].task);
            must(query_task_in(core, pool->id, pool->reserved[i].task)->reserved);
        }
        if (pool->wake_ms != 0) {
            expect(expected, ORDER_DEADLINE,
                   (struct okey){{(uint64_t)pool->wake_ms, DEADLINE_WAKE, id, 0}});
        }
        must(pool->history_at_ms == 0 || (!pool->deleted && history_looks_back(pool)));
        must(pool->history_at_ms > 0 || pool->history_next_ms == 0);
        must(!history_looks_back(pool) || pool->running_count == 0 || pool->history_next_ms > 0);
        if (pool->history_next_ms != 0) {
            expect(expected, ORDER_DEADLINE,
                   (struct okey){{(uint64_t)pool->history_next_ms, DEADLINE_HISTORY, id, 0}});
        }
        if (pool->due && !pool->deleted) {
            expect(expected, ORDER_POOL_DUE, (struct okey){{id}});
        }
        if (!pool->deleted) {
            uint64_t hash = key_name_hash(query_pool_name(core, pool->id));
            expect(expected, ORDER_POOL_NAME, (struct okey){{hash, id}});
            count++;
        }
    }
    must(count == core->pool_count);
}

static void check_lengths(struct expected *expected)
{
    const struct core *core = expected->core;
    must(core->lengths.count <= LENGTH_GROUPS_MAX);
    for (uint64_t row = table_next(&core->lengths, 0); row != 0;
         row = table_next(&core->lengths, row)) {
        const struct length_group *group = table_get(&core->lengths, row);
        must(group->count > 0);
        must(group->limited_count <= group->count);
        expect(expected, ORDER_LENGTH, (struct okey){{group->hash, row}});
        expect(expected, ORDER_LENGTH_AGE, (struct okey){{(uint64_t)group->day, group->hash, row}});
    }
}

static void check_shapes(struct expected *expected)
{
    const struct core *core = expected->core;
    uint64_t tasks = 0;
    for (uint64_t id = table_next(&core->shapes, 0); id != 0; id = table_next(&core->shapes, id)) {
        const struct shape *shape = table_get(&core->shapes, id);
        must(shape->task_count > 0);
        tasks += shape->task_count;
        expect(expected, ORDER_SHAPE_HASH, (struct okey){{shape->hash, id}});
    }
    must(tasks == core->tasks.count + core->entries.count);
}

static void check_keys(struct expected *expected)
{
    const struct core *core = expected->core;
    int64_t before_ms = 0;
    for (uint64_t row = table_next(&core->keys, 0); row != 0; row = table_next(&core->keys, row)) {
        const struct submit_key *key = table_get(&core->keys, row);
        must(key->time_ms >= before_ms);
        before_ms = key->time_ms;
        expect(expected, ORDER_SUBMIT_KEY, key_submit(key->key, row));
    }
}

void check(const struct core *core)
{
    check_rows(core);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        check_settled(core, task);
    }
    share_tree_check(core); /* K15 */
}

void check_rows(const struct core *core)
{
    struct expected expected = {.core = core};
    check_nodes(&expected);
    check_tasks(&expected);
    check_pools(&expected);
    check_shapes(&expected);
    check_lengths(&expected);
    check_keys(&expected);
    check_launch(core, expected.counts);
    check_fallback(core, expected.counts);
    check_flavor(core, expected.counts);
    check_life(core, expected.counts);
    check_rollout(core, expected.counts);
    check_account_all(core, expected.counts);
    check_topology(core, expected.counts);
    check_membership(core, expected.counts);
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        /* K5: the order has no further keys */
        must(oindex_count(&core->orders[i]) == expected.counts[i]);
    }
}
