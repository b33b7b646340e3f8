/* ledger.c - see ledger.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- one node ---- */

void free_empty(const struct node *node, uint64_t out, struct free_node *ret)
{
    ret->node = node;
    ret->out = out;
    ret->parts = false;
    ret->slots = node->slots_milli;
    ret->cpu = node->cpu_milli;
    ret->memory = node->memory_bytes;
    ret->aux = node->aux_max;
    for (uint32_t i = 0; i < node->named_count; i++) {
        ret->named[i] = node->named[i].milli;
    }
    for (uint32_t i = 0; i < node->device_count; i++) {
        const bool away = (out >> i & 1) != 0;
        ret->device[i] = away ? 0 : SLOT_MILLI;
        ret->slots -= away ? SLOT_MILLI : 0;
    }
}

/* Returns the index of a resource in the node's list; the length of the list: the node does not
 * have it. */
static uint32_t named_at(const struct node *node, resource_id resource)
{
    uint32_t i = 0;
    while (i < node->named_count && node->named[i].resource.v != resource.v) {
        i++;
    }
    return i;
}

void free_take(struct free_node *free, const struct request *request, int64_t slots, int64_t cpu,
               int64_t memory, uint64_t devices)
{
    free->parts |= slots % SLOT_MILLI != 0;
    free->slots -= slots;
    free->cpu -= cpu;
    free->memory -= memory;
    free->aux -= slots == 0;
    for (uint32_t i = 0; i < request->named_count; i++) {
        const uint32_t at = named_at(free->node, request->named[i].resource);
        if (at < free->node->named_count) {
            free->named[at] -= request->named[i].milli;
        }
    }
    for (uint32_t i = 0; i < free->node->device_count && devices != 0; i++) {
        const int64_t each = (devices >> i & 1) != 0 ? slots / __builtin_popcountll(devices) : 0;
        if ((free->out >> i & 1) != 0) {
            free->slots += each; /* the whole device was taken off before */
        } else {
            free->device[i] -= each;
        }
    }
}

int64_t free_named(const struct free_node *free, resource_id resource)
{
    const uint32_t at = named_at(free->node, resource);
    return at < free->node->named_count ? free->named[at] : -1;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void free_least(struct free_node *a, const struct free_node *b)
{
    a->parts |= b->parts;
    a->slots = least(a->slots, b->slots);
    a->cpu = least(a->cpu, b->cpu);
    a->memory = least(a->memory, b->memory);
    a->aux = least(a->aux, b->aux);
    for (uint32_t i = 0; i < a->node->named_count; i++) {
        a->named[i] = least(a->named[i], b->named[i]);
    }
    for (uint32_t i = 0; i < a->node->device_count; i++) {
        a->device[i] = least(a->device[i], b->device[i]);
    }
}

/* ---- all nodes and accounts ---- */

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){0};
}

void ledger_done(struct ledger *ledger)
{
    free(ledger->left);
    free(ledger->later);
    free(ledger->held);
    free(ledger->later_held);
}

static size_t holdings_at(const struct ledger *ledger, account_id account, pool_id pool)
{
    must(account.v < ledger->accounts);
    must(pool.v < ledger->pools);
    return (size_t)pool.v * ledger->accounts + account.v;
}

static void nodes_begin(struct ledger *ledger)
{
    uint32_t last = 0;
    for (const struct node *node = query_node_next(ledger->core, (node_id){0}); node != NULL;
         node = query_node_next(ledger->core, node->id)) {
        last = node->id.v;
    }
    if (last >= ledger->node_room) {
        ledger->node_room = 2 * (size_t)last + 1;
        ledger->left = xrealloc(ledger->left, ledger->node_room, sizeof *ledger->left);
        ledger->later = xrealloc(ledger->later, ledger->node_room, sizeof *ledger->later);
    }
    for (const struct node *node = query_node_next(ledger->core, (node_id){0}); node != NULL;
         node = query_node_next(ledger->core, node->id)) {
        free_empty(node, node->devices_out, &ledger->left[node->id.v]);
        free_empty(node, node->devices_out, &ledger->later[node->id.v]);
    }
}

static void accounts_begin(struct ledger *ledger)
{
    ledger->pools = 1;
    ledger->accounts = 1;
    for (const struct account *account = query_account_next(ledger->core, (account_id){0});
         account != NULL; account = query_account_next(ledger->core, account->id)) {
        ledger->accounts = account->id.v + 1;
    }
    for (const struct task *task = query_task_next(ledger->core, (task_id){0}); task != NULL;
         task = query_task_next(ledger->core, task->id)) {
        ledger->pools = task->pool.v >= ledger->pools ? task->pool.v + 1 : ledger->pools;
    }
    for (const struct pool *pool = query_pool_next(ledger->core, (pool_id){0}); pool != NULL;
         pool = query_pool_next(ledger->core, pool->id)) {
        ledger->pools = pool->id.v >= ledger->pools ? pool->id.v + 1 : ledger->pools;
    }
    const size_t count = (size_t)ledger->pools * ledger->accounts;
    if (count > ledger->account_room) {
        ledger->account_room = 2 * count;
        ledger->held = xrealloc(ledger->held, ledger->account_room, sizeof *ledger->held);
        ledger->later_held =
            xrealloc(ledger->later_held, ledger->account_room, sizeof *ledger->later_held);
    }
    memset(ledger->held, 0, count * sizeof *ledger->held);
    memset(ledger->later_held, 0, count * sizeof *ledger->later_held);
}

/* Adds to the account and to all accounts above it. */
static void holdings_add(const struct ledger *ledger, struct holdings *sums,
                         const struct task *task, const struct vector *one)
{
    for (account_id at = task->account; at.v != 0; at = query_account(ledger->core, at)->parent) {
        struct holdings *sum = &sums[holdings_at(ledger, at, task->pool)];
        vector_add(&sum->held, one);
        if (!task->preemptible) {
            vector_add(&sum->fixed, one);
        }
    }
}

static void claim_count(struct ledger *ledger, const struct task *task,
                        const struct request *request, const struct claim *claim)
{
    struct vector one;
    free_take(&ledger->later[claim->node.v], request, claim->slots_milli, claim->cpu_milli,
              claim->memory_bytes, claim->devices);
    query_dim_grant(ledger->core, request, claim->slots_milli, claim->cpu_milli,
                    claim->memory_bytes, &one);
    holdings_add(ledger, ledger->later_held, task, &one);
}

static void instance_count(struct ledger *ledger, const struct task *task,
                           const struct request *request, const struct instance *instance)
{
    struct vector one;
    query_dim_grant(ledger->core, request, instance->slots_milli, instance->cpu_milli,
                    instance->memory_bytes, &one);
    free_take(&ledger->left[instance->node.v], request, instance->slots_milli, instance->cpu_milli,
              instance->memory_bytes, instance->devices);
    holdings_add(ledger, ledger->held, task, &one);
    if (instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING) {
        free_take(&ledger->later[instance->node.v], request, instance->slots_milli,
                  instance->cpu_milli, instance->memory_bytes, instance->devices);
        holdings_add(ledger, ledger->later_held, task, &one);
    }
}

void ledger_take(struct ledger *ledger, const struct core *core)
{
    ledger->core = core;
    nodes_begin(ledger);
    accounts_begin(ledger);
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        for (uint32_t i = 0; i < task->instance_count; i++) {
            const struct instance *instance = query_instance(core, task->id, i);
            const struct claim *claim = query_instance_claim(core, task->id, i);
            if (claim != NULL) {
                claim_count(ledger, task, query_task_request(core, task, i), claim);
            }
            if (instance->state != INSTANCE_WAITING && instance->state != INSTANCE_ENDED) {
                instance_count(ledger, task, query_task_request(core, task, i), instance);
            }
        }
    }
    for (const struct node *node = query_node_next(core, (node_id){0}); node != NULL;
         node = query_node_next(core, node->id)) {
        free_least(&ledger->left[node->id.v], &ledger->later[node->id.v]);
    }
}

const struct free_node *ledger_left(const struct ledger *ledger, const struct node *node)
{
    return &ledger->left[node->id.v];
}

const struct holdings *ledger_held(const struct ledger *ledger, account_id account, pool_id pool)
{
    return &ledger->held[holdings_at(ledger, account, pool)];
}

const struct holdings *ledger_held_later(const struct ledger *ledger, account_id account,
                                         pool_id pool)
{
    return &ledger->later_held[holdings_at(ledger, account, pool)];
}
