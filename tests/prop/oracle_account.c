/* oracle_account.c - the bounds of accounts by brute force. What accounts hold is summed anew
 * from all instances (ledger.h).
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "law.h"

static bool below(const struct core *core, account_id account, account_id top)
{
    while (account.v != 0 && account.v != top.v) {
        account = query_account(core, account)->parent;
    }
    return account.v == top.v;
}

bool oracle_related(const struct core *core, account_id a, account_id b)
{
    for (account_id at = query_account(core, a)->parent; at.v != 0;
         at = query_account(core, at)->parent) {
        if (below(core, b, at)) {
            return true;
        }
    }
    return false;
}

static bool above(int64_t amount, int64_t bound)
{
    return bound != QUOTA_UNLIMITED && amount > bound;
}

/* Returns the guarantee as a bound. A guarantee of the whole pool is no bound. */
static int64_t guarantee_of(const struct core *core, const struct quota *quota, pool_id pool,
                            uint32_t dim)
{
    const bool all =
        dim == DIM_SLOTS && quota->guaranteed.at[dim] >= query_pool(core, pool)->slots_milli;
    return all ? QUOTA_UNLIMITED : quota->guaranteed.at[dim];
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* True when `more` exceeds a bound of the task's accounts, from account `from` on upwards. Only
 * dimensions with a positive amount in `more` count. */
static bool passes_bound(const struct ledger *ledger, const struct task *task, account_id from,
                         const struct vector *more)
{
    const struct core *core = ledger->core;
    for (account_id at = from; at.v != 0; at = query_account(core, at)->parent) {
        const struct holdings *now = ledger_held(ledger, at, task->pool);
        const struct holdings *later = ledger_held_later(ledger, at, task->pool);
        struct quota quota;
        query_quota(core, at, task->pool, &quota);
        for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
            const int64_t extra = more->at[dim];
            const int64_t guaranteed = guarantee_of(core, &quota, task->pool, dim);
            const int64_t held = most(now->held.at[dim], later->held.at[dim]);
            const int64_t fixed = most(now->fixed.at[dim], later->fixed.at[dim]);
            if (extra > 0 && (above(held + extra, quota.limit.at[dim]) ||
                              (!task->preemptible && above(fixed + extra, guaranteed)))) {
                return true;
            }
        }
    }
    return false;
}

/* True when `more` slots exceed the pool's cap of the task's user, now or after all promises. */
static bool passes_user_cap(const struct core *core, const struct task *task, int64_t more)
{
    const int64_t cap = query_pool(core, task->pool)->user_slots_max;
    int64_t now = 0;
    int64_t later = 0;
    if (cap == 0) {
        return false;
    }
    for (const struct task *other = query_task_next(core, (task_id){0}); other != NULL;
         other = query_task_next(core, other->id)) {
        const bool counts = other->pool.v == task->pool.v && other->user.v == task->user.v;
        for (uint32_t i = 0; counts && i < other->instance_count; i++) {
            const struct instance *instance = query_instance(core, other->id, i);
            const struct claim *claim = query_instance_claim(core, other->id, i);
            const bool stays =
                instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
            const bool holds = stays || instance->state == INSTANCE_STOPPING;
            now += holds ? instance->slots_milli : 0;
            later += stays ? instance->slots_milli : 0;
            later += claim != NULL ? claim->slots_milli : 0;
        }
    }
    return most(now, later) + more > cap;
}

/* Checks the bounds of one account, which holds this much, the attempt's task included. */
static void limits_check(const struct core *core, const struct task *task, account_id at,
                         const struct vector *one, const struct holdings *sum)
{
    struct quota quota;
    query_quota(core, at, task->pool, &quota);
    for (uint32_t dim = 0; dim < query_dim_count(core); dim++) {
        const int64_t guaranteed = guarantee_of(core, &quota, task->pool, dim);
        law(one->at[dim] == 0 || !above(sum->held.at[dim], quota.limit.at[dim]),
            "P3: no start takes an account above its limit");
        law(one->at[dim] == 0 || task->preemptible || !above(sum->fixed.at[dim], guaranteed),
            "P3: what is not preemptible stays within the guarantee");
    }
}

static void attempt_vector(const struct core *core, struct attempt_key key, struct vector *ret)
{
    const struct instance *instance = query_instance(core, key.task, key.index);
    query_dim_grant(core, query_task_request(core, query_task(core, key.task), key.index),
                    instance->slots_milli, instance->cpu_milli, instance->memory_bytes, ret);
}

void oracle_limits(const struct ledger *ledger, struct attempt_key key)
{
    const struct core *core = ledger->core;
    const struct task *task = query_task(core, key.task);
    struct vector one;
    attempt_vector(core, key, &one);
    law(one.at[DIM_SLOTS] == 0 || !passes_user_cap(core, task, 0),
        "P3: no start takes a user above the pool's cap");
    for (account_id at = task->account; at.v != 0; at = query_account(core, at)->parent) {
        limits_check(core, task, at, &one, ledger_held(ledger, at, task->pool));
    }
}

void oracle_limits_summed(const struct core *core, struct attempt_key key)
{
    const struct task *task = query_task(core, key.task);
    const int64_t cap = query_pool(core, task->pool)->user_slots_max;
    struct vector one;
    attempt_vector(core, key, &one);
    law(one.at[DIM_SLOTS] == 0 || cap == 0 ||
            query_usage_user_slots(core, task->user, task->pool) <= cap,
        "P3: no start takes a user above the pool's cap");
    for (account_id at = task->account; at.v != 0; at = query_account(core, at)->parent) {
        struct usage usage;
        query_usage(core, at, task->pool, &usage);
        const struct holdings sum = {.held = usage.allocated, .fixed = usage.fixed};
        limits_check(core, task, at, &one, &sum);
    }
}

/* Computes what an instance with this request would hold on the node. NULL: without the cpu and
 * memory that come with slots. */
static void would_hold(const struct core *core, const struct node *node,
                       const struct request *request, struct vector *ret)
{
    int64_t cpu = request->cpu_milli;
    int64_t memory = request->memory_bytes;
    int64_t slots = request->slots_milli;
    if (node != NULL && node->slots_milli > 0) {
        slots = oracle_slots(node, request);
        cpu =
            cpu >= 0 ? cpu : node->cpu_milli * SLOT_MILLI / node->slots_milli * slots / SLOT_MILLI;
        memory = memory >= 0
                     ? memory
                     : node->memory_bytes * SLOT_MILLI / node->slots_milli * slots / SLOT_MILLI;
    }
    query_dim_grant(core, request, slots, cpu, memory, ret);
}

/* Adds what the next `count` instances of the task would hold. */
static void would_hold_next(const struct core *core, const struct task *task,
                            const struct node *node, uint32_t count, struct vector *more)
{
    for (uint32_t i = 0; i < task->instance_count && count > 0; i++) {
        struct vector one;
        if (query_instance(core, task->id, i)->state == INSTANCE_WAITING) {
            would_hold(core, node, query_task_request(core, task, i), &one);
            vector_add(more, &one);
            count--;
        }
    }
}

static bool bounded(const struct ledger *ledger, const struct task *task, const struct vector *more)
{
    return passes_bound(ledger, task, task->account, more) ||
           (more->at[DIM_SLOTS] > 0 && passes_user_cap(ledger->core, task, more->at[DIM_SLOTS]));
}

bool oracle_bounded(const struct ledger *ledger, const struct task *task, const struct node *node,
                    uint32_t count)
{
    struct vector more = {{0}};
    would_hold_next(ledger->core, task, node, count, &more);
    return bounded(ledger, task, &more);
}

/* Two tasks that would start together. */
struct both {
    const struct task *first;
    const struct task *second;
    uint32_t first_count;
    uint32_t second_count;
};

static struct vector both_hold(const struct core *core, const struct both *both,
                               const struct node *node)
{
    struct vector more = {{0}};
    would_hold_next(core, both->first, node, both->first_count, &more);
    would_hold_next(core, both->second, node, both->second_count, &more);
    return more;
}

/* True when an instance would hold the same on both nodes. */
static bool same_size(const struct node *a, const struct node *b)
{
    return a->slots_milli == b->slots_milli && a->cpu_milli == b->cpu_milli &&
           a->memory_bytes == b->memory_bytes && a->gpu_memory_bytes == b->gpu_memory_bytes;
}

/* Finds a node on which an instance would hold something else than on the node before; NULL:
 * there is none. */
static const struct node *node_other(const struct core *core, pool_id pool,
                                     const struct node *before)
{
    const struct node *node = query_node_next(core, before == NULL ? (node_id){0} : before->id);
    while (node != NULL &&
           (node->pool.v != pool.v || (before != NULL && same_size(node, before)))) {
        node = query_node_next(core, node->id);
    }
    return node;
}

bool oracle_bounded_both(const struct ledger *ledger, const struct task *first,
                         uint32_t first_count, const struct task *task, uint32_t count)
{
    const struct both both = {first, task, first_count, count};
    const struct node *node = NULL; /* first without the cpu and memory that come with slots */
    bool found = false;
    do {
        const struct vector more = both_hold(ledger->core, &both, node);
        found = bounded(ledger, first, &more) || bounded(ledger, task, &more);
        node = node_other(ledger->core, task->pool, node);
    } while (node != NULL && !found);
    return found;
}

bool oracle_bounded_beside(const struct ledger *ledger, const struct task *first,
                           uint32_t first_count, const struct task *task, uint32_t count)
{
    const struct both both = {first, task, first_count, count};
    const struct node *node = NULL;
    account_id at = task->account;
    bool found = false;
    while (at.v != 0 && !below(ledger->core, first->account, at)) {
        at = query_account(ledger->core, at)->parent;
    }
    do {
        const struct vector more = both_hold(ledger->core, &both, node);
        found = passes_bound(ledger, task, at, &more) || passes_bound(ledger, first, at, &more);
        node = node_other(ledger->core, task->pool, node);
    } while (node != NULL && !found);
    return found;
}

bool oracle_bounded_by(const struct ledger *ledger, const struct task *task,
                       const struct node *node, const struct request *request)
{
    struct vector more;
    would_hold(ledger->core, node, request, &more);
    return bounded(ledger, task, &more);
}
