/* oracle_idle.c - P5: no task that may run fits what is free. Tasks that are alike for the
 * scheduler form one kind. The first task of a kind is held back the least, so that it is judged
 * for all of them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "base/map.h"
#include "base/vec.h"
#include "law.h"

#include <string.h>

/* What tasks of one kind have in common. Padding is zeroed. */
struct kind_key {
    uint64_t alone; /* the id of a task that is like no other task; else 0 */
    uint32_t shape;
    uint32_t account;
    uint32_t user;
    uint32_t priority;
    uint32_t instance_count;
    uint32_t min_count;
    uint32_t ended_count;
    uint32_t flags; /* gang, preemptible */
};

struct kind {
    /* The first task that may run; NULL: the kind has only a holder that may not run. */
    const struct task *first;
    /* The first task that has waited for the pool's patience; NULL: none. */
    const struct task *waited;
    const struct task *waited_too; /* another task that has waited so long */
    const struct task *holder;     /* a task with a reservation; NULL: none */
};

/* The state of one pool, at rest. */
struct rest {
    const struct ledger *ledger;
    const struct core *core;
    const struct pool *pool;
    int64_t now_ms;
    struct map *index; /* key of a kind -> 1 + index into kinds */
    VEC(struct kind) kinds;
};

/* ---- order ---- */

/* True when all waiting instances have a promise. */
static bool promised(const struct task *task)
{
    return task->claimed_count > 0 && (task->gang || task->claimed_count == task->waiting_count);
}

static bool may_run(const struct task *task)
{
    const bool live = task->state == TASK_PENDING || task->state == TASK_STARTING ||
                      task->state == TASK_RUNNING || task->state == TASK_STOPPING;
    const bool held = task->kill_asked || task->pause_asked || task->pool_next.v != 0 ||
                      task->hold_until_ms > 0 || task->turned_away;
    return live && task->waiting_count > 0 && task->depends_left == 0 && !held &&
           !(task->gang && task->stopping_count > 0) && !promised(task);
}

/* Returns the stage of growth. A gang below its minimum comes before a gang at its minimum,
 * which comes before a larger gang. */
static int stage_of(const struct task *task)
{
    const uint32_t grown = task->active_count - task->stopping_count + task->ended_count;
    if (!task->gang || grown < task->min_count || task->lacks == LACKS_OF_ALL) {
        return 0;
    }
    return grown == task->min_count ? 1 : 2;
}

static bool ahead_of(const struct pool *pool, const struct task *a, const struct task *b)
{
    const bool plain = pool->policy == POLICY_FIFO;
    if (!plain && a->priority != b->priority) {
        return a->priority > b->priority;
    }
    if (!plain && stage_of(a) != stage_of(b)) {
        return stage_of(a) < stage_of(b);
    }
    return a->rank != b->rank ? a->rank < b->rank : a->id.v < b->id.v;
}

/* Returns how many instances start together. */
static uint32_t chunk_of(const struct task *task)
{
    const uint32_t grown = task->active_count - task->stopping_count + task->ended_count;
    return task->gang && grown < task->min_count ? task->min_count - grown : 1;
}

/* True when the holder comes before the task. Holders of other accounts always do: turns change,
 * and a task that was ahead and fits has started. With order short-first a holder is ahead of
 * all other tasks of its priority. */
static bool behind_of(const struct pool *pool, const struct task *holder, const struct task *task)
{
    const bool first = pool->order == QUEUE_SHORT_FIRST && pool->policy != POLICY_FIFO &&
                       holder->priority == task->priority;
    return holder != task &&
           (holder->account.v != task->account.v || first || ahead_of(pool, holder, task));
}

/* ---- kept places ---- */

static bool usable(const struct node *node)
{
    return node->state == NODE_UP && !node->draining && !node->spare && node->pool_next.v == 0;
}

/* True when this node could ever be a place of the holder. */
static bool holder_uses(const struct core *core, const struct node *node, const struct task *holder)
{
    const struct request *before = NULL;
    for (uint32_t i = 0; i < holder->instance_count; i++) {
        const struct request *request = query_task_request(core, holder, i);
        if (request != before && oracle_holds(node, request, 1) > 0) {
            return true;
        }
        before = request;
    }
    return false;
}

/* True when the node may be kept for a holder that comes before the task. */
static bool perhaps_kept(const struct core *core, const struct pool *pool, const struct node *node,
                         const struct task *task)
{
    bool kept = false;
    for (uint32_t i = 0; i < pool->reserved_count && !kept; i++) {
        const struct task *holder = query_task_in(core, pool->id, pool->reserved[i].task);
        if (holder == task && pool->order == QUEUE_SHORT_FIRST) {
            break; /* holders further down the list come after the task */
        }
        kept = behind_of(pool, holder, task) && holder_uses(core, node, holder);
    }
    return kept;
}

bool oracle_usable(const struct node *node, const struct core *core, const struct task *task)
{
    return usable(node) &&
           (task == NULL || !perhaps_kept(core, query_pool(core, node->pool), node, task));
}

/* True when the quota that the task would use may be kept for a task of this kind. The kind is
 * ahead of the task in its project, or in a project below a common ancestor. Its task has a
 * reservation, or has waited for the pool's patience and the bounds do not allow for both tasks. */
static bool kind_keeps(const struct rest *rest, const struct kind *kind, const struct task *task)
{
    const struct ledger *ledger = rest->ledger;
    const bool takes = rest->pool->policy == POLICY_FAIR_SHARE && !rest->pool->preemption_off;
    const struct task *any = kind->holder != NULL ? kind->holder : kind->first;
    const struct task *waited = kind->waited == task ? kind->waited_too : kind->waited;
    const bool own = any->account.v == task->account.v;
    const bool beside = !own && oracle_related(rest->core, any->account, task->account);
    const bool ahead = own && kind->first != NULL && behind_of(rest->pool, any, task);
    if (takes && kind->holder != NULL && (ahead || beside)) {
        return true;
    }
    if (waited == NULL) {
        return false;
    }
    if (own && behind_of(rest->pool, waited, task)) {
        return oracle_bounded_both(ledger, waited, chunk_of(waited), task, chunk_of(task));
    }
    return beside && oracle_bounded_beside(ledger, waited, chunk_of(waited), task, chunk_of(task));
}

static bool quota_kept(const struct rest *rest, const struct task *task)
{
    for (size_t i = 0; i < rest->kinds.count; i++) {
        if (kind_keeps(rest, &rest->kinds.at[i], task)) {
            return true;
        }
    }
    return false;
}

/* ---- the law ---- */

static void task_must_not_fit(const struct rest *rest, const struct task *task)
{
    const struct core *core = rest->core;
    const struct request *request = &query_task_shape(core, task->shape)->request;
    const uint32_t count = chunk_of(task);
    uint32_t found = 0;
    const bool grouped = oracle_grouped(core, task);
    if ((!grouped && oracle_bounded(rest->ledger, task, NULL, count)) || quota_kept(rest, task)) {
        return;
    }
    if (query_task_shape(core, task->shape)->form != NULL) {
        oracle_form_idles(rest->ledger, task, count);
        return;
    }
    for (const struct node *node = query_node_next(core, (node_id){0});
         node != NULL && found < count; node = query_node_next(core, node->id)) {
        const uint32_t fits =
            node->pool.v == rest->pool->id.v ? oracle_fits(rest->ledger, node, request, count) : 0;
        if (fits > 0 && oracle_usable(node, core, task)) {
            found += oracle_bounded(rest->ledger, task, node, count) ? 0 : fits;
        }
    }
    law(found < count, "P5: nothing that may run fits what is free");
}

static struct kind *kind_of(struct rest *rest, const struct task *task)
{
    const bool alone = task->reserved || task->active_count > 0 || task->claimed_count > 0 ||
                       query_task_shape(rest->core, task->shape)->form != NULL;
    struct kind_key key;
    memset(&key, 0, sizeof key);
    key.alone = alone ? task->id.v : 0;
    key.shape = task->shape.v;
    key.account = task->account.v;
    key.user = task->user.v;
    key.priority = task->priority;
    key.instance_count = task->instance_count;
    key.min_count = task->min_count;
    key.ended_count = task->ended_count;
    key.flags = (uint32_t)(task->gang != 0) | (uint32_t)(task->preemptible != 0) << 1;
    uintptr_t at = (uintptr_t)map_get(rest->index, &key, sizeof key);
    if (at == 0) {
        vec_push(&rest->kinds, (struct kind){0});
        at = rest->kinds.count;
        (void)map_put(rest->index, &key, sizeof key, (void *)at);
    }
    return &rest->kinds.at[at - 1];
}

static void kind_add(struct rest *rest, const struct task *task)
{
    const bool may = may_run(task);
    if (!may && !task->reserved) {
        return;
    }
    struct kind *kind = kind_of(rest, task);
    kind->holder = task->reserved ? task : NULL;
    if (may && (kind->first == NULL || ahead_of(rest->pool, task, kind->first))) {
        kind->first = task;
    }
    if (!may || rest->now_ms - task->queued_ms <
                    (rest->pool->patience_ms == PATIENCE_AUTO ? 60000 : rest->pool->patience_ms)) {
        return;
    }
    const bool ahead = kind->waited == NULL || ahead_of(rest->pool, task, kind->waited);
    kind->waited_too = ahead ? kind->waited : task;
    kind->waited = ahead ? task : kind->waited;
}

/* Instances of a group have the request of the group, not that of the task. */
static void holders_check(const struct rest *rest)
{
    for (uint32_t i = 0; i < rest->pool->reserved_count; i++) {
        const struct task *holder =
            query_task_in(rest->core, rest->pool->id, rest->pool->reserved[i].task);
        const bool plain = query_task_shape(rest->core, holder->shape)->form == NULL;
        law(!plain || !oracle_bounded(rest->ledger, holder, NULL, chunk_of(holder)),
            "P7: nobody keeps places whom his accounts or his user's cap hold back anyway");
    }
}

static void rest_begin(struct rest *rest, const struct ledger *ledger, pool_id id, int64_t now_ms)
{
    *rest = (struct rest){.ledger = ledger,
                          .core = ledger->core,
                          .pool = query_pool(ledger->core, id),
                          .now_ms = now_ms,
                          .index = map_new()};
    for (const struct task *task = query_task_next(rest->core, (task_id){0}); task != NULL;
         task = query_task_next(rest->core, task->id)) {
        const struct task *row = query_task_in(rest->core, id, task->id);
        if (row->pool.v == id.v) {
            kind_add(rest, row);
        }
    }
}

static void rest_end(struct rest *rest)
{
    vec_done(&rest->kinds);
    map_free(rest->index);
}

void oracle_nothing_idles(const struct ledger *ledger, pool_id id, int64_t now_ms)
{
    struct rest rest;
    const struct pool *pool = query_pool(ledger->core, id);
    if (pool == NULL || !pool_starts(pool)) {
        return;
    }
    rest_begin(&rest, ledger, id, now_ms);
    holders_check(&rest);
    for (size_t i = 0; i < rest.kinds.count; i++) {
        if (rest.kinds.at[i].first != NULL) {
            task_must_not_fit(&rest, rest.kinds.at[i].first);
        }
    }
    rest_end(&rest);
}

/* ---- what keeping idles ---- */

/* True when slots alone decide where this task fits, and it needs whole ones. */
static bool slots_only(const struct core *core, const struct task *task)
{
    const struct shape *shape = query_task_shape(core, task->shape);
    const struct request *request = &shape->request;
    return shape->form == NULL && request->slots_milli > 0 &&
           request->slots_milli % SLOT_MILLI == 0 && request->cpu_milli <= 0 &&
           request->memory_bytes <= 0 && request->named_count == 0 && request->share_devices == 0;
}

/* True when the pool pays for all that it keeps, and keeps slots alone. Ends that time limits prove cost nothing. */
static bool keeping_paid(const struct core *core, const struct pool *pool)
{
    for (uint32_t i = 0; i < pool->reserved_count; i++) {
        if ((pool->reserved[i].until_ms != 0 && !pool_by_length(pool)) ||
            !slots_only(core, query_task_in(core, pool->id, pool->reserved[i].task))) {
            return false;
        }
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->pool.v == pool->id.v && task->active_count > 0 && task->time_limit_ms > 0 &&
            !pool_by_length(pool)) {
            return false;
        }
    }
    return pool->reserved_count > 0;
}

/* How many slots of the node are surely kept, because this task would fit there and has not started: with fewer kept slots the task
 * would have found room beside the holder. Where an instance of the node has part of a slot, the holder may leave part of a slot,
 * which is too little for the task and is not kept. So nothing is sure there. */
static int64_t surely_kept(const struct rest *rest, const struct node *node,
                           const struct task *task)
{
    const struct request *request = &query_task_shape(rest->core, task->shape)->request;
    const bool parts = ledger_left(rest->ledger, node)->parts;
    const int64_t free = ledger_left(rest->ledger, node)->slots;
    if (parts || free % SLOT_MILLI != 0 || oracle_fits(rest->ledger, node, request, 1) == 0 ||
        oracle_bounded(rest->ledger, task, node, 1)) {
        return 0;
    }
    return free - request->slots_milli + SLOT_MILLI;
}

int64_t oracle_kept_idle(const struct ledger *ledger, pool_id id, int64_t now_ms)
{
    struct rest rest;
    const struct pool *pool = query_pool(ledger->core, id);
    int64_t sum = 0;
    if (pool == NULL || !pool_starts(pool) || !keeping_paid(ledger->core, pool)) {
        return 0;
    }
    rest_begin(&rest, ledger, id, now_ms);
    size_t count = 0;
    for (size_t i = 0; i < rest.kinds.count; i++) {
        const struct task *task = rest.kinds.at[i].first;
        if (task != NULL && !task->reserved && chunk_of(task) == 1 && slots_only(rest.core, task) &&
            !oracle_bounded(ledger, task, NULL, 1) && !quota_kept(&rest, task)) {
            rest.kinds.at[count++] = rest.kinds.at[i];
        }
    }
    for (const struct node *node = query_node_next(rest.core, (node_id){0}); node != NULL;
         node = query_node_next(rest.core, node->id)) {
        int64_t most = 0;
        for (size_t i = 0; i < count && node->pool.v == id.v && usable(node); i++) {
            const int64_t kept = surely_kept(&rest, node, rest.kinds.at[i].first);
            most = kept > most ? kept : most;
        }
        sum += most;
    }
    rest_end(&rest);
    return sum;
}
