/* floor.c - looks for places for the waiting tasks that a payer's guarantee shields.
 *
 * A payer that held more than its guarantee may lose a piece that does not fit the guarantee, and end below the guarantee. Its waiting
 * tasks that fit the guarantee then have a right to places. These tasks must find places beside the claimant: otherwise they would
 * evict the claimant in the next pass (P6). The places are only tried here. The next pass gives them, because accounts within their
 * guarantee have the first turn.
 *
 * Surprising: a search that reaches its bound says that no place is left. Then the guarantee shields all that the payer holds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/take/floor.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/model/instance.h"
#include "core/model/node.h"
#include "core/model/oindex.h"
#include "core/model/shape.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/sched/keep/reserve.h"
#include "core/sched/order/account.h"
#include "core/sched/order/form_chunk.h"
#include "core/sched/order/gates.h"
#include "core/sched/order/reclaim_rules.h"
#include "core/sched/order/shares.h"
#include "core/sched/order/tally.h"
#include "core/sched/order/turns.h"
#include "core/sched/order/view.h"
#include "core/sched/place/place.h"
#include "core/sched/place/place_form.h"
#include "core/sched/place/trial.h"
#include "core/sched/take/solve_internal.h"
#include "core/state/key.h"
#include "core/state/query.h"

/* Chunks of waiting tasks that one question looks at. */
enum { FLOOR_LOOKS_MAX = 1024 };

/* The search for places for the waiting tasks of one payer, an account that loses instances to the claimant. */
struct floor_search {
    struct solve *solve;
    const struct account_view *payer; /* its `allocated` has the places tried so far */
    uint32_t looks;
};

/* ---- waiting tasks ---- */

/* The next instances of a waiting task, beside those that the trial has placed. */
struct floor_chunk {
    uint32_t *indices;
    uint32_t count; /* 0: every instance has its place or a promised one */
    struct vector amounts;
};

/* Does the set of victims have a piece of this task? Such a task waits as a whole; the rules have judged its pieces. */
static bool task_in_set(const struct solve *solve, const struct task *task)
{
    for (uint32_t i = 0; i < solve->grown_count; i++) {
        if (solve->grown[i].piece->task == task && solve->grown[i].fate == FATE_LOST) {
            return true;
        }
    }
    return false;
}

static void chunk_plain(const struct trial *trial, const struct task *task,
                        const struct node *const *at, struct floor_chunk *ret)
{
    uint32_t placed = 0;
    uint32_t open = 0;
    for (uint32_t i = place_waiting(trial->core, task, 0); i < task->instance_count;
         i = place_waiting(trial->core, task, i + 1)) {
        if (at[i] != NULL) {
            placed++;
        } else {
            ret->indices[open++] = i;
        }
    }
    const uint32_t wanted = turns_chunk(task, placed);
    ret->count = open < wanted ? 0 : wanted;
    if (ret->count > 0) {
        turns_amounts(trial->core, task, ret->count, SLOTS_MOST, &ret->amounts);
    }
}

static struct floor_chunk chunk_of(const struct trial *trial, const struct task *task)
{
    struct floor_chunk chunk = {
        .indices = arena_new(trial->arena, uint32_t, task->instance_count),
    };
    const struct node *const *at = place_form_known(trial, task);
    if (task->gang && task->claimed_count > 0) {
        return chunk;
    }
    if (query_task_shape(trial->core, task->shape)->form == NULL) {
        chunk_plain(trial, task, at, &chunk);
        return chunk;
    }
    chunk.count = form_chunk(trial->core, task, at, 0, chunk.indices);
    if (chunk.count > 0) {
        form_chunk_amounts(trial->core, task, chunk.indices, chunk.count, SLOTS_MOST,
                           &chunk.amounts);
    }
    return chunk;
}

enum floor_result {
    FLOOR_PLACED,  /* the chunk has its places; the task may have more to place */
    FLOOR_DONE,    /* the task has nothing more to place */
    FLOOR_NO_LANE, /* no task of the lane is shielded, or none may start */
    FLOOR_NO_ROOM,
};

static enum floor_result task_place(struct floor_search *search, const struct task *task)
{
    struct solve *solve = search->solve;
    const struct tally *tally = &solve->trial->tally;
    if (++search->looks > FLOOR_LOOKS_MAX) {
        return FLOOR_NO_ROOM;
    }
    const struct floor_chunk chunk = chunk_of(solve->trial, task);
    if (chunk.count == 0 || task_in_set(solve, task)) {
        return FLOOR_DONE;
    }
    if (!reclaim_rules_shields(&tally->shares->pool, search->payer, &search->payer->allocated,
                               &chunk.amounts) ||
        tally_gate(tally, task, VIEW_LATER, &chunk.amounts).gate != GATE_OPEN) {
        return FLOOR_NO_LANE;
    }
    const struct solve_ask ask = {.task = task, .indices = chunk.indices, .count = chunk.count};
    if (tally_user_capped(tally, task, VIEW_LATER, &chunk.amounts)) {
        return FLOOR_DONE;
    }
    if (solve_set_later(solve, &ask)) {
        return FLOOR_PLACED;
    }
    return reserve_form_possible(solve->trial, task) ? FLOOR_NO_ROOM : FLOOR_NO_LANE;
}

/* Tries all waiting tasks of a project. Tasks of a lane are equal for the scheduler. */
static bool project_left(struct floor_search *search, account_id account)
{
    const struct core *core = search->solve->trial->core;
    const struct oindex *order = &core->orders[ORDER_ACCOUNT_QUEUE];
    const uint64_t own = ACCOUNT_KEY(search->solve->trial->pool, account);
    struct okey key = {{own, 0, 0, 0}};
    while (oindex_next(order, key, &key) && key.at[0] == own) {
        const struct task *task =
            query_task_in(core, search->solve->trial->pool, (task_id){key.at[3]});
        must(task != NULL);
        enum floor_result result = FLOOR_PLACED;
        while (result == FLOOR_PLACED) {
            result = task_place(search, task);
        }
        if (result == FLOOR_NO_ROOM) {
            return false;
        }
        if (result == FLOOR_NO_LANE) {
            key = (struct okey){{key.at[0], key.at[1], UINT64_MAX, UINT64_MAX}};
        }
    }
    return true;
}

/* Tries all waiting tasks of the account, or of the accounts below. The recursion is as deep as the tree of accounts. */
static bool account_left(struct floor_search *search, uint32_t account)
{
    const struct shares *shares = search->solve->trial->tally.shares;
    must(account < shares->count);
    uint32_t at = shares->links[account].child_first;
    if (at == SHARES_NONE) {
        return project_left(search, shares->links[account].id);
    }
    for (; at != SHARES_NONE; at = shares->links[at].sibling_next) {
        if (!account_left(search, at)) {
            return false;
        }
    }
    return true;
}

/* ---- tasks that are leaving ---- */

/* Is the account the payer, or below the payer? */
static bool below_payer(const struct floor_search *search, const struct task *task)
{
    const struct account_view *at = tally_view(&search->solve->trial->tally, task);
    while (at != NULL && at != search->payer) {
        at = at->parent;
    }
    return at != NULL;
}

/* An instance of the payer leaves, by this trial or by an earlier pass, and its task will wait again. True when the payer's guarantee
 * does not shield what the task will need, so that no place has to be found for the task. `amounts`: of this instance. An instance that is
 * still on its node cannot be tried on another node. */
static bool leaving_left(struct floor_search *search, const struct task *task, uint32_t index,
                         const struct vector *amounts)
{
    const struct trial *trial = search->solve->trial;
    const bool again =
        task->kill_asked == 0 && task->pause_asked == 0 && !task_state_ended(task->state);
    if (!again || !below_payer(search, task) || task_in_set(search->solve, task)) {
        return true;
    }
    if (++search->looks > FLOOR_LOOKS_MAX) {
        return false;
    }
    const struct node *const *at = place_form_known(trial, task);
    if (at[index] != NULL) {
        return true; /* moved */
    }
    uint32_t stay = task->ended_count;
    for (uint32_t i = 0; i < task->instance_count; i++) {
        stay += at[i] != NULL;
    }
    const bool whole = task->gang && stay < task->min_count &&
                       query_task_shape(trial->core, task->shape)->form == NULL;
    struct vector work = {{0}};
    for (uint32_t i = whole ? stay : task->min_count - 1; i < task->min_count; i++) {
        vector_add(&work, amounts);
    }
    return !reclaim_rules_shields(&trial->tally.shares->pool, search->payer,
                                  &search->payer->allocated, &work);
}

/* Returns whether leaving_left() is true for each instance that earlier decisions of this trial
 * evict. */
static bool evicted_left(struct floor_search *search)
{
    const struct trial *trial = search->solve->trial;
    for (size_t i = 0; i < trial->count; i++) {
        const struct decision *decision = &trial->decisions[i];
        if (decision->kind == DECISION_EVICT &&
            !leaving_left(search, decision->task, decision->index, &decision->amounts)) {
            return false;
        }
    }
    return true;
}

/* leaving_left() for each instance on the node that was told to stop in an earlier pass. */
static bool node_left(struct floor_search *search, const struct node *node)
{
    const struct core *core = search->solve->trial->core;
    struct okey key = {{node->id.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_ON_NODE], key, &key) && key.at[0] == node->id.v) {
        const struct instance *instance = query_instance_row(core, key.at[3]);
        must(instance != NULL);
        if (instance->state != INSTANCE_STOPPING) {
            continue;
        }
        struct vector amounts;
        query_dim_grant(core, query_instance_request(core, instance), instance->slots_milli,
                        instance->cpu_milli, instance->memory_bytes, &amounts);
        if (!leaving_left(search, query_task(core, instance->task), instance->index, &amounts)) {
            return false;
        }
    }
    return true;
}

static bool stopping_left(struct floor_search *search)
{
    const struct core *core = search->solve->trial->core;
    const pool_id pool = search->solve->trial->pool;
    struct okey key = {{pool.v, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_NODE_CHANGING], key, &key) && key.at[0] == pool.v) {
        const struct node *node = query_node(core, (node_id){(uint32_t)key.at[1]});
        must(node != NULL);
        if (node->leaving_count > 0 && !node_left(search, node)) {
            return false;
        }
    }
    return true;
}

/* ---- the payers ---- */

/* Must the search leave this account the places of its shielded waiting tasks? Yes, where the account pays, an account above its own
 * guarantee gains, and the payer's guarantee may have room. */
static bool payer_asked(const struct solve *solve, const struct account_view *account)
{
    const struct account_pool *pool = &solve->trial->tally.shares->pool;
    const struct account_view *taker;
    const struct account_view *payer;
    account_diverge(solve->ask->claimant.account, account, &taker, &payer);
    return payer == account && payer != taker && !account_within_guarantee(pool, taker, NULL) &&
           (account_overcommitted(pool, payer) || account_within_guarantee(pool, payer, NULL));
}

bool floor_left(struct solve *solve)
{
    struct trial *trial = solve->trial;
    const size_t mark = trial_mark(trial);
    bool left = true;
    for (uint32_t i = 0; i < solve->losses.touched_count && left; i++) {
        const struct account_view *account = solve->losses.touched[i];
        if (payer_asked(solve, account)) {
            struct floor_search search = {.solve = solve, .payer = account};
            left = evicted_left(&search) && stopping_left(&search) &&
                   account_left(&search, account->index);
        }
    }
    trial_rollback(trial, mark);
    return left;
}
