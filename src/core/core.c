/* core.c - making, copying and freeing the state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/core_internal.h"

#include "base/mem.h"
#include "base/must.h"

/* Rows per chunk: a first write after a copy costs one chunk, so some ten KiB at most. */
enum {
    CHUNK_POOLS = 16,
    CHUNK_NODES = 8,
    CHUNK_TASKS = 32,
    CHUNK_INSTANCES = 32,
    CHUNK_SHAPES = 16,
    CHUNK_KEYS = 64,
    CHUNK_OUTCOMES = 64
};

static void pool_row_ref(void *row)
{
    (void)blob_ref(((struct pool *)row)->text);
}

static void pool_row_unref(void *row)
{
    blob_unref(((struct pool *)row)->text);
}

static void node_row_ref(void *row)
{
    (void)blob_ref(((struct node *)row)->text);
}

static void node_row_unref(void *row)
{
    blob_unref(((struct node *)row)->text);
}

static void task_row_ref(void *row)
{
    (void)blob_ref(((struct task *)row)->spec);
}

static void task_row_unref(void *row)
{
    blob_unref(((struct task *)row)->spec);
}

static const struct table_hooks pool_hooks = {pool_row_ref, pool_row_unref};
static const struct table_hooks node_hooks = {node_row_ref, node_row_unref};
static const struct table_hooks task_hooks = {task_row_ref, task_row_unref};

struct core *core_new(void)
{
    static const char *const known[RESOURCE_NAMED_FIRST] = {
        [RESOURCE_SLOTS] = "slots", [RESOURCE_CPU] = "cpu", [RESOURCE_MEMORY] = "memory"};
    struct core *core = xcalloc(1, sizeof *core);
    table_init(&core->pools, sizeof(struct pool), CHUNK_POOLS, &pool_hooks);
    table_init(&core->nodes, sizeof(struct node), CHUNK_NODES, &node_hooks);
    table_init(&core->tasks, sizeof(struct task), CHUNK_TASKS, &task_hooks);
    table_init(&core->instances, sizeof(struct instance), CHUNK_INSTANCES, NULL);
    table_init(&core->shapes, sizeof(struct shape), CHUNK_SHAPES, NULL);
    table_init(&core->keys, sizeof(struct submit_key), CHUNK_KEYS, NULL);
    table_init(&core->outcomes, sizeof(struct outcome_row), CHUNK_OUTCOMES, NULL);
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        oindex_init(&core->orders[i]);
    }
    for (; core->resource_count < RESOURCE_NAMED_FIRST; core->resource_count++) {
        const char *name = known[core->resource_count];
        core->resources[core->resource_count] = blob_new(name, strlen(name) + 1);
    }
    core->capacity = capacity_new();
    return core;
}

void core_free(struct core *core)
{
    if (core == NULL) {
        return;
    }
    table_done(&core->pools);
    table_done(&core->nodes);
    table_done(&core->tasks);
    table_done(&core->instances);
    table_done(&core->shapes);
    table_done(&core->keys);
    table_done(&core->outcomes);
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        oindex_done(&core->orders[i]);
    }
    for (uint32_t i = 0; i < core->resource_count; i++) {
        blob_unref(core->resources[i]);
    }
    capacity_free(core->capacity);
    free(core);
}

struct core *core_scratch(const struct core *from)
{
    struct core *core = xmemdup(from, sizeof *from);
    table_copy(&core->pools, &from->pools);
    table_copy(&core->nodes, &from->nodes);
    table_copy(&core->tasks, &from->tasks);
    table_copy(&core->instances, &from->instances);
    table_copy(&core->shapes, &from->shapes);
    table_copy(&core->keys, &from->keys);
    table_copy(&core->outcomes, &from->outcomes);
    for (unsigned i = 0; i < ORDER_COUNT; i++) {
        oindex_copy(&core->orders[i], &from->orders[i]);
    }
    for (uint32_t i = 0; i < core->resource_count; i++) {
        (void)blob_ref(core->resources[i]);
    }
    core->capacity = NULL;
    return core;
}

struct core *core_copy(const struct core *from)
{
    struct core *core = core_scratch(from);
    if (from->capacity != NULL) {
        core->capacity = capacity_copy(from->capacity);
    }
    return core;
}

void core_caches_off(struct core *core)
{
    capacity_free(core->capacity);
    core->capacity = NULL;
}
