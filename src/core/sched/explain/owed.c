/* owed.c - finds waiting tasks that are owed a place. The accounts are asked first: nodes are looked at only for chunks that their
 * accounts have a right to. Of the instances only those are looked at whose account may give anything: an index by account finds them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/owed.h"

#include "base/must.h"
#include "base/sort.h"
#include "core/model/fit.h"
#include "core/model/instance.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/shape.h"
#include "core/model/space.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/keep/rights.h"
#include "core/sched/order/account.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/order/runtime.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/turns.h"
#include "core/sched/order/view.h"
#include "core/state/key.h"
#include "core/state/query.h"
#include "core/state/space_later.h"

/* The search for room for one chunk. */
struct owed_search {
    const struct core *core;
    const struct pool *pool;
    const struct tally *tally;
    struct losses *losses;
    struct claimant claimant;
    const struct request *request;
    uint32_t count;
    int64_t now_ms;
    struct arena *arena;
    /* instances of accounts that may give something, by node, and in the order of the node */
    const struct instance **givers;
    size_t giver_count;
    size_t
        giver_at; /* index in `givers` of the first giver on the node that is looked at, or on a later node */
};

/* ---- givers ---- */

static int giver_compare(const void *a, const void *b)
{
    const struct instance *first = *(const struct instance *const *)a;
    const struct instance *second = *(const struct instance *const *)b;
    const uint64_t keys[][2] = {{first->node.v, second->node.v},
                                {first->task.v, second->task.v},
                                {first->index, second->index}};
    size_t i = 0;
    while (i < 2 && keys[i][0] == keys[i][1]) {
        i++;
    }
    return keys[i][0] < keys[i][1] ? -1 : keys[i][0] > keys[i][1];
}

/* Walks over the instances of an account that stay. Returns how many there are, and writes them to `out` unless it is NULL. */
static size_t instances_of(const struct owed_search *search, account_id account,
                           const struct instance **out)
{
    const uint64_t own = ACCOUNT_KEY(search->pool->id, account);
    struct okey key = {{own, 0, 0, 0}};
    struct oindex_walk walk;
    size_t count = 0;
    for (bool more = oindex_walk_from(&walk, &search->core->orders[ORDER_ACCOUNT_BEGUN], key, &key);
         more && key.at[0] == own; more = oindex_walk_next(&walk, &key)) {
        if (out != NULL) {
            out[count] = query_instance_row(search->core, key.at[2]);
            must(out[count] != NULL);
        }
        count++;
    }
    return count;
}

/* Collects the instances of all projects from which the claimant may take anything. Few projects are above their right, so most
 * instances of a pool are never looked at. */
static void givers_collect(struct owed_search *search)
{
    const struct shares *shares = search->tally->shares;
    for (uint32_t pass = 0; pass < 2; pass++) {
        size_t count = 0;
        for (uint32_t i = 0; i < shares->count; i++) {
            const struct account_view *view = &shares->views[i];
            const bool project = shares->links[i].child_first == SHARES_NONE;
            if (project && view != search->claimant.account &&
                reclaim_rules_from(&search->claimant, view)) {
                count += instances_of(search, shares->links[i].id,
                                      pass == 0 ? NULL : search->givers + count);
            }
        }
        if (pass == 0) {
            search->givers = arena_new(search->arena, const struct instance *, count + 1);
        }
        search->giver_count = count;
    }
    sort_items(search->givers, search->giver_count, sizeof search->givers[0], giver_compare);
    search->giver_at = 0;
}

/* ---- room ---- */

/* Does its minimum runtime protect the instance from reclaim by the claimant? */
static bool protected(const struct owed_search *search, const struct account_view *victim,
                      const struct instance *instance)
{
    const int64_t min_ms = runtime_min_reclaim_ms(RECLAIM_PROTECTION_LCA, search->claimant.account,
                                                  victim, search->pool->reclaim_min_runtime_ms);
    const int64_t since_ms =
        instance->state == INSTANCE_RUNNING ? instance->started_ms : instance->allocated_ms;
    return runtime_protected(since_ms, min_ms, search->now_ms);
}

/* May the claimant take the instance, beside the losses so far? Adds the instance to the losses if so. */
static bool may_take(const struct owed_search *search, const struct instance *instance)
{
    const struct task *task = query_task(search->core, instance->task);
    must(task != NULL);
    const struct account_view *victim = tally_view(search->tally, task);
    if (!instance_stays(instance) || !task->preemptible || victim == search->claimant.account ||
        protected(search, victim, instance)) {
        return false;
    }
    struct vector amounts;
    query_dim_grant(search->core, query_instance_request(search->core, instance),
                    instance->slots_milli, instance->cpu_milli, instance->memory_bytes, &amounts);
    return reclaim_rules_take(&search->claimant, search->losses, victim, &amounts) !=
           RECLAIM_REFUSED;
}

/* Can the chunk never fit here, because too few slots are free and nothing leaves? */
static bool node_full(const struct owed_search *search, const struct node *node)
{
    const int64_t wanted = fit_slots(node, search->request);
    return node->leaving_count == 0 && wanted > 0 && node->slots_free < wanted;
}

/* How many instances of the chunk, at most `most`, fit on the node without the instances that the claimant may take. */
static uint32_t node_room(struct owed_search *search, const struct node *node, uint32_t most)
{
    const struct core *core = search->core;
    const struct instance *const *at = search->givers + search->giver_at;
    const struct instance *const *end = search->givers + search->giver_count;
    if (node_full(search, node) && (at == end || (*at)->node.v != node->id.v)) {
        return 0;
    }
    struct space_room room;
    struct space now;
    struct space place;
    space_now(node, &now);
    space_copy(&now, &room, &place);
    space_later(core, node, true, &room, &place);
    for (; at < end && (*at)->node.v == node->id.v; at++) {
        if (may_take(search, *at)) {
            const struct grant grant = instance_grant(*at);
            space_give(&place, &room, query_instance_request(core, *at), &grant);
        }
    }
    return fit_count(&place, search->request, most);
}

/* Moves on to the instances of the node, or of the next node that has any. */
static void givers_seek(struct owed_search *search, const struct node *node)
{
    while (search->giver_at < search->giver_count &&
           search->givers[search->giver_at]->node.v < node->id.v) {
        search->giver_at++;
    }
}

/* Is there room for the chunk, and is the outcome balanced? For one instance each node is judged alone. */
static bool has_room(struct owed_search *search)
{
    uint32_t left = search->count;
    struct okey key = {{search->pool->id.v, 0, 0, 0}};
    struct oindex_walk walk;
    givers_collect(search);
    reclaim_rules_losses_clear(search->losses);
    for (bool more = oindex_walk_from(&walk, &search->core->orders[ORDER_POOL_NODE], key, &key);
         more && key.at[0] == search->pool->id.v; more = oindex_walk_next(&walk, &key)) {
        const struct node *node = query_node(search->core, (node_id){(uint32_t)key.at[1]});
        must(node != NULL);
        givers_seek(search, node);
        if (!fit_usable(node)) {
            continue;
        }
        const uint32_t fits = node_room(search, node, left);
        must(fits <= left);
        left -= fits;
        if (left == 0) {
            return reclaim_rules_balanced(&search->claimant, search->losses);
        }
        if (search->count == 1) {
            reclaim_rules_losses_clear(search->losses);
        }
    }
    return false;
}

/* ---- rights ---- */

/* Does the account have a right to the chunk, and do neither bounds nor the preemption delay forbid it? */
static bool entitled(const struct owed_search *search, const struct task *task)
{
    const struct tally *tally = search->tally;
    const struct claimant *claimant = &search->claimant;
    const struct vector *request = &claimant->request;
    const int64_t from_ms = runtime_evict_from_ms(task->submitted_ms, task->evicted_ms,
                                                  runtime_delay_ms(task, search->pool));
    return account_within_guarantee(claimant->pool, claimant->account, request) &&
           reclaim_rules_start(claimant) == CLAIM_MAY_START &&
           tally_gate(tally, task, VIEW_LATER, request).gate == GATE_OPEN &&
           !tally_user_capped(tally, task, VIEW_LATER, request) && from_ms <= search->now_ms;
}

/* Is the right that the task would use kept for the holder of a reservation? Then the holder is owed the place, not the task. */
static bool kept_within(const struct owed_search *search, const struct task *task)
{
    const struct okey key = key_account_queue(task);
    for (uint32_t i = 0; i < search->pool->reserved_count; i++) {
        const struct task *holder =
            query_task_in(search->core, search->pool->id, search->pool->reserved[i].task);
        must(holder != NULL);
        if (!task_promised(holder) &&
            rights_held_by(search->tally, holder, task, &key, &search->claimant.request)) {
            return true;
        }
    }
    return false;
}

static bool task_is_owed(struct owed_search *search, const struct task *task)
{
    const struct shape *shape = query_task_shape(search->core, task->shape);
    must(task->pool.v == search->pool->id.v);
    const uint32_t promised =
        task->gang && task->claimed_count > 0 ? task->waiting_count : task->claimed_count;
    if (shape->form != NULL || task->waiting_count <= promised) {
        return false;
    }
    search->count = turns_chunk(task, task->claimed_count);
    search->request = &shape->request;
    search->claimant = (struct claimant){
        .pool = &search->tally->shares->pool,
        .account = tally_view(search->tally, task),
        .preemptible = task->preemptible,
        .saturation_milli = SATURATION_MILLI_DEFAULT,
    };
    turns_amounts(search->core, task, search->count, SLOTS_MOST, &search->claimant.request);
    return entitled(search, task) && !kept_within(search, task) && has_room(search);
}

/* A key behind all tasks of the lane of `key`. */
static struct okey lane_end(struct okey key)
{
    return (struct okey){{key.at[0], key.at[1], UINT64_MAX, UINT64_MAX}};
}

/* Finds the first task of a project that is owed a place. The tasks of a lane are equal for the scheduler, so only the first task of
 * a lane without a promise is asked. Other tasks of the lane that have another delay or another user may be missed. */
static bool account_is_owed(struct owed_search *search, account_id account, struct owed *ret)
{
    const struct oindex *order = &search->core->orders[ORDER_ACCOUNT_QUEUE];
    const uint64_t own = ACCOUNT_KEY(search->pool->id, account);
    struct okey key = {{own, 0, 0, 0}};
    while (oindex_next(order, key, &key) && key.at[0] == own) {
        const struct task *task =
            query_task_in(search->core, search->pool->id, (task_id){key.at[3]});
        must(task != NULL);
        if (task_is_owed(search, task)) {
            *ret = (struct owed){account, task->id, search->count};
            return true;
        }
        key = task->claimed_count > 0 ? key : lane_end(key);
    }
    return false;
}

size_t owed_find(const struct core *core, pool_id pool, int64_t now_ms, struct arena *arena,
                 const struct owed **ret)
{
    struct shares *shares = shares_compute(core, pool, arena);
    struct tally tally;
    struct losses losses;
    tally_init(&tally, core, pool, shares, arena);
    reclaim_rules_losses_init(&losses, shares, shares->count, arena);
    struct owed_search search = {
        .core = core,
        .pool = query_pool(core, pool),
        .tally = &tally,
        .losses = &losses,
        .now_ms = now_ms,
        .arena = arena,
    };
    struct owed *found = arena_new(arena, struct owed, shares->count);
    size_t count = 0;
    for (uint32_t i = 0; i < shares->count; i++) {
        count += account_is_owed(&search, shares->links[i].id, &found[count]);
    }
    must(count <= shares->count);
    *ret = found;
    return count;
}
