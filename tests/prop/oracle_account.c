/* oracle_account.c - the bounds of accounts by brute force: what they hold is summed anew from all instances.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "world.h"

struct holdings {
    struct vector held;
    struct vector fixed;
};

static bool below(const struct core *core, account_id account, account_id top)
{
    while (account.v != 0 && account.v != top.v) {
        account = core_account(core, account)->parent;
    }
    return account.v == top.v;
}

bool oracle_related(const struct core *core, account_id a, account_id b)
{
    for (account_id at = core_account(core, a)->parent; at.v != 0;
         at = core_account(core, at)->parent) {
        if (below(core, b, at)) {
            return true;
        }
    }
    return false;
}

static void holdings_add(const struct task *task, struct vector one, struct holdings *sum)
{
    vector_add(&sum->held, &one);
    if (!task->preemptible) {
        vector_add(&sum->fixed, &one);
    }
}

/* What all tasks of the account and of those below it will hold when those who are leaving have left, and those who are promised
 * a place have it. */
static struct holdings holdings_later(const struct core *core, account_id top, pool_id pool)
{
    struct holdings sum = {0};
    for (const struct task *task = core_task_next(core, (task_id){0}); task != NULL;
         task = core_task_next(core, task->id)) {
        for (uint32_t i = 0; task->pool.v == pool.v && i < task->instance_count; i++) {
            const struct request *request = task_request(core, task, i);
            const struct instance *instance = core_instance(core, task->id, i);
            const struct claim *claim = core_claim(core, task->id, i);
            struct vector one;
            if (!below(core, task->account, top)) {
                continue;
            }
            if (claim != NULL) {
                core_grant_vector(core, request, claim->slots_milli, claim->cpu_milli,
                                  claim->memory_bytes, &one);
                holdings_add(task, one, &sum);
            }
            if (instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING) {
                core_grant_vector(core, request, instance->slots_milli, instance->cpu_milli,
                                  instance->memory_bytes, &one);
                holdings_add(task, one, &sum);
            }
        }
    }
    return sum;
}

/* What all tasks of the account and of those below it hold in a pool. */
static struct holdings holdings_of(const struct core *core, account_id top, pool_id pool)
{
    struct holdings sum = {0};
    for (const struct task *task = core_task_next(core, (task_id){0}); task != NULL;
         task = core_task_next(core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *instance = core_instance(core, task->id, i);
            if (instance->state == INSTANCE_WAITING || instance->state == INSTANCE_ENDED ||
                task->pool.v != pool.v || !below(core, task->account, top)) {
                continue;
            }
            struct vector one;
            core_grant_vector(core, task_request(core, task, i), instance->slots_milli,
                              instance->cpu_milli, instance->memory_bytes, &one);
            holdings_add(task, one, &sum);
        }
    }
    return sum;
}

static bool above(int64_t amount, int64_t bound)
{
    return bound != QUOTA_UNLIMITED && amount > bound;
}

/* A guarantee that covers all of the pool is no bound. */
static int64_t guarantee_of(const struct core *core, const struct quota *quota, pool_id pool,
                            uint32_t dim)
{
    const bool all =
        dim == DIM_SLOTS && quota->guaranteed.at[dim] >= core_pool(core, pool)->slots_milli;
    return all ? QUOTA_UNLIMITED : quota->guaranteed.at[dim];
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* With `more` on top, in a dimension in which there is some: is a bound of the task's accounts from `from` on passed? */
static bool passes_bound(const struct core *core, const struct task *task, account_id from,
                         const struct vector *more)
{
    for (account_id at = from; at.v != 0; at = core_account(core, at)->parent) {
        const struct holdings now = holdings_of(core, at, task->pool);
        const struct holdings later = holdings_later(core, at, task->pool);
        struct quota quota;
        core_quota(core, at, task->pool, &quota);
        for (uint32_t dim = 0; dim < core_dim_count(core); dim++) {
            const int64_t extra = more->at[dim];
            const int64_t guaranteed = guarantee_of(core, &quota, task->pool, dim);
            const int64_t held = most(now.held.at[dim], later.held.at[dim]);
            const int64_t fixed = most(now.fixed.at[dim], later.fixed.at[dim]);
            if (extra > 0 && (above(held + extra, quota.limit.at[dim]) ||
                              (!task->preemptible && above(fixed + extra, guaranteed)))) {
                return true;
            }
        }
    }
    return false;
}

/* With so many slots more: is the pool's cap of the task's user passed, now or when all promises are kept? */
static bool passes_user_cap(const struct core *core, const struct task *task, int64_t more)
{
    const int64_t cap = core_pool(core, task->pool)->user_slots_max;
    int64_t now = 0;
    int64_t later = 0;
    for (const struct task *other = core_task_next(core, (task_id){0}); other != NULL;
         other = core_task_next(core, other->id)) {
        const bool counts = other->pool.v == task->pool.v && other->user.v == task->user.v;
        for (uint32_t i = 0; counts && i < other->instance_count; i++) {
            const struct instance *instance = core_instance(core, other->id, i);
            const struct claim *claim = core_claim(core, other->id, i);
            const bool stays =
                instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING;
            const bool holds = stays || instance->state == INSTANCE_STOPPING;
            now += holds ? instance->slots_milli : 0;
            later += stays ? instance->slots_milli : 0;
            later += claim != NULL ? claim->slots_milli : 0;
        }
    }
    return cap > 0 && most(now, later) + more > cap;
}

void oracle_limits(const struct core *core, struct attempt_key key)
{
    const struct task *task = core_task(core, key.task);
    const struct instance *instance = core_instance(core, key.task, key.index);
    struct vector one;
    core_grant_vector(core, task_request(core, task, key.index), instance->slots_milli,
                      instance->cpu_milli, instance->memory_bytes, &one);
    law(instance->slots_milli == 0 || !passes_user_cap(core, task, 0),
        "P3: no start takes a user above the pool's cap");
    for (account_id at = task->account; at.v != 0; at = core_account(core, at)->parent) {
        const struct holdings sum = holdings_of(core, at, task->pool);
        struct quota quota;
        core_quota(core, at, task->pool, &quota);
        for (uint32_t dim = 0; dim < core_dim_count(core); dim++) {
            const int64_t guaranteed = guarantee_of(core, &quota, task->pool, dim);
            law(one.at[dim] == 0 || !above(sum.held.at[dim], quota.limit.at[dim]),
                "P3: no start takes an account above its limit");
            law(one.at[dim] == 0 || task->preemptible || !above(sum.fixed.at[dim], guaranteed),
                "P3: what is not preemptible stays within the guarantee");
        }
    }
}

/* What an instance with this request would hold on the node (NULL: without what comes with slots). */
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
    core_grant_vector(core, request, slots, cpu, memory, ret);
}

/* Adds what its next `count` instances would hold. */
static void would_hold_next(const struct core *core, const struct task *task,
                            const struct node *node, uint32_t count, struct vector *more)
{
    for (uint32_t i = 0; i < task->instance_count && count > 0; i++) {
        struct vector one;
        if (core_instance(core, task->id, i)->state == INSTANCE_WAITING) {
            would_hold(core, node, task_request(core, task, i), &one);
            vector_add(more, &one);
            count--;
        }
    }
}

static bool bounded(const struct core *core, const struct task *task, const struct vector *more)
{
    return passes_bound(core, task, task->account, more) ||
           (more->at[DIM_SLOTS] > 0 && passes_user_cap(core, task, more->at[DIM_SLOTS]));
}

bool oracle_bounded(const struct core *core, const struct task *task, const struct node *node,
                    uint32_t count)
{
    struct vector more = {{0}};
    would_hold_next(core, task, node, count, &more);
    return bounded(core, task, &more);
}

/* On some node of their pool, or without what comes with slots. */
static bool bounded_on(const struct core *core, const struct task *first, uint32_t first_count,
                       const struct task *task, uint32_t count, const struct node *node)
{
    struct vector more = {{0}};
    would_hold_next(core, first, node, first_count, &more);
    would_hold_next(core, task, node, count, &more);
    return bounded(core, first, &more) || bounded(core, task, &more);
}

bool oracle_bounded_both(const struct core *core, const struct task *first, uint32_t first_count,
                         const struct task *task, uint32_t count)
{
    bool found = bounded_on(core, first, first_count, task, count, NULL);
    for (const struct node *node = core_node_next(core, (node_id){0}); node != NULL && !found;
         node = core_node_next(core, node->id)) {
        found =
            node->pool.v == task->pool.v && bounded_on(core, first, first_count, task, count, node);
    }
    return found;
}

bool oracle_bounded_beside(const struct core *core, const struct task *first, uint32_t first_count,
                           const struct task *task, uint32_t count)
{
    account_id at = task->account;
    const struct node *node = NULL;
    bool found = false;
    while (at.v != 0 && !below(core, first->account, at)) {
        at = core_account(core, at)->parent;
    }
    do {
        struct vector more = {{0}};
        would_hold_next(core, first, node, first_count, &more);
        would_hold_next(core, task, node, count, &more);
        found = passes_bound(core, task, at, &more) || passes_bound(core, first, at, &more);
        node = core_node_next(core, node == NULL ? (node_id){0} : node->id);
    } while (node != NULL && !found);
    return found;
}

bool oracle_bounded_by(const struct core *core, const struct task *task, const struct node *node,
                       const struct request *request)
{
    struct vector more;
    would_hold(core, node, request, &more);
    return bounded(core, task, &more);
}
