/* state.c - making, copying and freeing the state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/state.h"

#include "base/mem.h"
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/claim.h"
#include "core/model/fallback.h"
#include "core/model/flavor.h"
#include "core/model/network.h"
#include "core/model/launch.h"
#include "core/model/length.h"
#include "core/model/node.h"
#include "core/model/pool.h"
#include "core/model/quota.h"
#include "core/model/resource.h"
#include "core/model/rollout.h"
#include "core/model/shape.h"
#include "core/model/typical.h"
#include "core/state/capacity.h"
#include "core/state/change.h"

#include <string.h>

/* Rows per chunk. The first write after a copy of the state copies one chunk, so a chunk has some ten KiB at
 * most. */
enum {
    CHUNK_POOLS = 16,
    CHUNK_NODES = 8,
    CHUNK_TASKS = 32,
    CHUNK_INSTANCES = 32,
    CHUNK_SHAPES = 16,
    CHUNK_KEYS = 64,
    CHUNK_OUTCOMES = 64,
    CHUNK_ACCOUNTS = 32,
    CHUNK_QUOTAS = 16,
    CHUNK_USAGES = 8,
    CHUNK_HISTORIES = 16,
    CHUNK_USERS = 64,
    CHUNK_USER_USAGES = 64,
    CHUNK_TYPICALS = 32,
    CHUNK_LENGTHS = 64,
    CHUNK_FLAVORS = 8,
};

/* Makes X_hooks for a table with rows of `struct TYPE`. BLOBS(each) names the members that refer to a blob,
 * so that a row that is copied or removed takes or drops its references. */
#define BLOB_REF(member) (void)blob_ref(row->member);
#define BLOB_UNREF(member) blob_unref(row->member);
#define HOOKS(X, TYPE, BLOBS)                                                                      \
    static void X##_row_ref(void *at)                                                              \
    {                                                                                              \
        const struct TYPE *row = at;                                                               \
        BLOBS(BLOB_REF)                                                                            \
    }                                                                                              \
    static void X##_row_unref(void *at)                                                            \
    {                                                                                              \
        const struct TYPE *row = at;                                                               \
        BLOBS(BLOB_UNREF)                                                                          \
    }                                                                                              \
    static const struct table_hooks X##_hooks = {X##_row_ref, X##_row_unref};

#define POOL_BLOBS(each)                                                                           \
    each(text) each(levels) each(refusal) each(selector) each(guests) each(replaced)
#define NODE_BLOBS(each) each(text) each(labels)
#define TASK_BLOBS(each) each(spec)
#define SHAPE_BLOBS(each) each(form)
#define DOMAIN_BLOBS(each) each(value)
#define LAUNCH_BLOBS(each) each(text) each(zone)
#define FLAVOR_BLOBS(each) each(text) each(zone_names)
#define NAMED_BLOBS(each) each(text)
#define USER_BLOBS(each) each(name)

HOOKS(pool, pool, POOL_BLOBS)
HOOKS(node, node, NODE_BLOBS)
HOOKS(task, task, TASK_BLOBS)
HOOKS(shape, shape, SHAPE_BLOBS)
HOOKS(domain, domain, DOMAIN_BLOBS)
HOOKS(launch, launch, LAUNCH_BLOBS)
HOOKS(flavor, flavor, FLAVOR_BLOBS)
HOOKS(network, network, NAMED_BLOBS)
HOOKS(account, account, NAMED_BLOBS)
HOOKS(user, user_row, USER_BLOBS)

/* All tables, for what is done to each. */
enum { TABLE_COUNT = 24 };
static void tables_of(struct core *core, struct table *ret[TABLE_COUNT])
{
    struct table *tables[TABLE_COUNT] = {
        &core->pools,   &core->nodes,       &core->tasks,    &core->instances, &core->shapes,
        &core->keys,    &core->outcomes,    &core->accounts, &core->quotas,    &core->usages,
        &core->users,   &core->user_usages, &core->claims,   &core->histories, &core->evictions,
        &core->domains, &core->typicals,    &core->lengths,  &core->launches,  &core->fallbacks,
        &core->entries, &core->flavors,     &core->networks, &core->rollouts};
    memcpy(ret, tables, sizeof tables);
}

/* Makes the accounts that every state has. */
static void accounts_begin(struct core *core)
{
    static const struct account_spec department = {.kind = ACCOUNT_DEPARTMENT,
                                                   .name = ACCOUNT_DEFAULT_NAME,
                                                   .parent = "",
                                                   .title = "",
                                                   .description = ""};
    static const struct account_spec project = {.kind = ACCOUNT_PROJECT,
                                                .name = ACCOUNT_DEFAULT_NAME,
                                                .parent = "",
                                                .title = "",
                                                .description = ""};
    change_account_set(core, ACCOUNT_DEFAULT_DEPARTMENT, (account_id){0}, &department);
    change_account_set(core, ACCOUNT_DEFAULT_PROJECT, ACCOUNT_DEFAULT_DEPARTMENT, &project);
}

struct core *state_new(void)
{
    static const char *const known[RESOURCE_NAMED_FIRST] = {
        [RESOURCE_SLOTS] = "slots", [RESOURCE_CPU] = "cpu", [RESOURCE_MEMORY] = "memory"};
    struct core *core = xcalloc(1, sizeof *core);
    table_init(&core->pools, sizeof(struct pool), CHUNK_POOLS, &pool_hooks);
    table_init(&core->nodes, sizeof(struct node), CHUNK_NODES, &node_hooks);
    table_init(&core->tasks, sizeof(struct task), CHUNK_TASKS, &task_hooks);
    table_init(&core->instances, sizeof(struct instance), CHUNK_INSTANCES, NULL);
    table_init(&core->shapes, sizeof(struct shape), CHUNK_SHAPES, &shape_hooks);
    table_init(&core->keys, sizeof(struct submit_key), CHUNK_KEYS, NULL);
    table_init(&core->outcomes, sizeof(struct outcome_row), CHUNK_OUTCOMES, NULL);
    table_init(&core->claims, sizeof(struct claim), CHUNK_KEYS, NULL);
    table_init(&core->lengths, sizeof(struct length_group), CHUNK_LENGTHS, NULL);
    table_init(&core->evictions, sizeof(struct eviction_note), CHUNK_KEYS, NULL);
    table_init(&core->fallbacks, sizeof(struct fallback), CHUNK_KEYS, NULL);
    table_init(&core->entries, sizeof(struct task), CHUNK_TASKS, NULL);
    table_init(&core->typicals, sizeof(struct typical), CHUNK_TYPICALS, NULL);
    table_init(&core->accounts, sizeof(struct account), CHUNK_ACCOUNTS, &account_hooks);
    table_init(&core->quotas, sizeof(struct quota_row), CHUNK_QUOTAS, NULL);
    table_init(&core->usages, sizeof(struct usage_row), CHUNK_USAGES, NULL);
    table_init(&core->histories, sizeof(struct history_row), CHUNK_HISTORIES, NULL);
    table_init(&core->launches, sizeof(struct launch), CHUNK_KEYS, &launch_hooks);
    table_init(&core->flavors, sizeof(struct flavor), CHUNK_FLAVORS, &flavor_hooks);
    table_init(&core->networks, sizeof(struct network), CHUNK_FLAVORS, &network_hooks);
    table_init(&core->rollouts, sizeof(struct rollout), CHUNK_KEYS, NULL);
    table_init(&core->domains, sizeof(struct domain), CHUNK_USERS, &domain_hooks);
    table_init(&core->users, sizeof(struct user_row), CHUNK_USERS, &user_hooks);
    table_init(&core->user_usages, sizeof(struct user_usage), CHUNK_USER_USAGES, NULL);
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        oindex_init(&core->orders[i]);
    }
    for (; core->resource_count < RESOURCE_NAMED_FIRST; core->resource_count++) {
        const char *name = known[core->resource_count];
        core->resources[core->resource_count] = blob_new(name, strlen(name) + 1);
    }
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        core->default_pools[i] = blob_new(POOL_DEFAULT_NAME, sizeof POOL_DEFAULT_NAME);
    }
    for (; core->dim_count < DIM_NAMED_FIRST; core->dim_count++) {
        core->dims[core->dim_count].v = (uint16_t)core->dim_count;
    }
    accounts_begin(core);
    core->capacity = capacity_new();
    core->shares = shares_cache_new();
    return core;
}

void state_free(struct core *core)
{
    if (core == NULL) {
        return;
    }
    struct table *tables[TABLE_COUNT];
    tables_of(core, tables);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        table_done(tables[i]);
    }
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        oindex_done(&core->orders[i]);
    }
    for (uint32_t i = 0; i < core->resource_count; i++) {
        blob_unref(core->resources[i]);
    }
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        blob_unref(core->default_pools[i]);
    }
    capacity_free(core->capacity);
    shares_cache_free(core->shares);
    free(core);
}

struct core *state_scratch(const struct core *from)
{
    struct core *core = xmemdup(from, sizeof *from);
    struct table *tables[TABLE_COUNT];
    tables_of(core, tables);
    for (unsigned i = 0; i < TABLE_COUNT; i++) {
        struct table shared = *tables[i];
        table_copy(tables[i], &shared);
    }
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        oindex_copy(&core->orders[i], &from->orders[i]);
    }
    for (uint32_t i = 0; i < core->resource_count; i++) {
        (void)blob_ref(core->resources[i]);
    }
    for (unsigned i = 0; i < POOL_DEFAULT_COUNT; i++) {
        (void)blob_ref(core->default_pools[i]);
    }
    core->capacity = NULL;
    core->shares = NULL;
    return core;
}

struct core *state_copy(const struct core *from)
{
    struct core *core = state_scratch(from);
    if (from->capacity != NULL) {
        core->capacity = capacity_copy(from->capacity);
        core->shares = shares_cache_new();
    }
    return core;
}

void state_caches_off(struct core *core)
{
    capacity_free(core->capacity);
    core->capacity = NULL;
    shares_cache_free(core->shares);
    core->shares = NULL;
}
