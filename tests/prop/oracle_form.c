/* oracle_form.c - topology, judged by the labels of the nodes as they are written, with none of the scheduler's code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "core/model/form.h"
#include "world.h"

#include <string.h>

/* ---- where nodes are ---- */

static const char *label_of(const struct node_spec *spec, const char *key)
{
    for (uint32_t i = 0; i < spec->label_count; i++) {
        if (strcmp(spec->labels[i].key, key) == 0) {
            return spec->labels[i].value;
        }
    }
    return NULL;
}

/* The values of the labels of all levels down to this one; NULL: the node, or its pool, does not say. */
static const char *path_of(const struct core *core, const struct node *node, const char *level,
                           struct arena *arena)
{
    struct pool_spec pool;
    struct node_spec spec;
    const char *path = "";
    core_pool_spec(core, node->pool, arena, &pool);
    core_node_spec(core, node->id, arena, &spec);
    for (uint32_t i = 0; i < pool.topology_count; i++) {
        const char *value = label_of(&spec, pool.topology[i]);
        if (value == NULL) {
            return NULL;
        }
        path = arena_fmt(arena, "%s/%s", path, value);
        if (strcmp(pool.topology[i], level) == 0) {
            return path;
        }
    }
    return NULL;
}

static bool together(const struct core *core, const struct node *a, const struct node *b,
                     const char *level, struct arena *arena)
{
    const char *path_a = path_of(core, a, level, arena);
    const char *path_b = path_of(core, b, level, arena);
    return path_a != NULL && path_b != NULL && strcmp(path_a, path_b) == 0;
}

bool oracle_together(const struct core *core, const struct node *a, const struct node *b,
                     const char *level)
{
    struct arena arena;
    arena_init(&arena);
    const bool are = together(core, a, b, level, &arena);
    arena_done(&arena);
    return are;
}

static const char *required_of(const struct core *core, const struct task *task)
{
    const struct form *form = shape_form(core_shape(core, task->shape));
    return form == NULL ? "" : form->groups[0].required;
}

/* ---- laws ---- */

void oracle_form_together(const struct core *core, const struct facts *facts)
{
    struct arena arena;
    arena_init(&arena);
    for (size_t i = 0; i < facts->count; i++) {
        const struct fact *a = &facts->at[i];
        if (a->type != FACT_ALLOCATED) {
            continue;
        }
        const struct task *task = core_task(core, a->allocated.key.task);
        const char *level = required_of(core, task);
        for (size_t j = i; level[0] != '\0' && j < facts->count; j++) {
            const struct fact *b = &facts->at[j];
            law(b->type != FACT_ALLOCATED || b->allocated.key.task.v != task->id.v ||
                    together(core, core_node(core, a->allocated.node),
                             core_node(core, b->allocated.node), level, &arena),
                "what starts together is in one domain");
        }
    }
    arena_done(&arena);
}

/* The node of an instance that runs; NULL: none does. */
static const struct node *runs_on(const struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = core_instance(core, task->id, i);
        if (instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING) {
            return core_node(core, instance->node);
        }
    }
    return NULL;
}

/* Places for instances of a request around a node: all that are in one domain with it, or in the pool. */
struct around {
    const struct core *core;
    const struct request *request;
    const struct node *node;
    const struct task *task; /* the bounds of its accounts hold; NULL: there are none */
    const char *level;       /* "": the whole pool */
    uint32_t count;
    bool empty; /* as if nothing ran, and nothing were away */
};

static uint32_t places_around(const struct around *around, struct arena *arena)
{
    const struct core *core = around->core;
    uint32_t found = 0;
    for (const struct node *node = core_node_next(core, (node_id){0}); node != NULL;
         node = core_node_next(core, node->id)) {
        const bool inside =
            around->level[0] == '\0' || together(core, node, around->node, around->level, arena);
        if (node->pool.v == around->node->pool.v && inside &&
            (around->task == NULL || !oracle_bounded(core, around->task, node, around->count)) &&
            (around->empty || oracle_usable(node, core, around->task))) {
            found += oracle_fits(core, node, around->request, around->count, around->empty);
        }
    }
    return found;
}

void oracle_form_idles(const struct core *core, const struct task *task, uint32_t count)
{
    struct arena arena;
    if (oracle_grouped(core, task)) {
        oracle_groups_idle(core,
                           task); /* several that are not alike are searched for within a budget */
        return;
    }
    const struct node *pin = runs_on(core, task);
    struct around around = {.core = core,
                            .request = &core_shape(core, task->shape)->request,
                            .task = task,
                            .level = required_of(core, task),
                            .count = count};
    arena_init(&arena);
    for (const struct node *node = core_node_next(core, (node_id){0}); node != NULL;
         node = core_node_next(core, node->id)) {
        around.node = node;
        const bool may = pin == NULL || around.level[0] == '\0' ||
                         together(core, node, pin, around.level, &arena);
        law(node->pool.v != task->pool.v || !may || places_around(&around, &arena) < count,
            "P5: no gang that may run fits one domain");
    }
    arena_done(&arena);
}

void oracle_form_possible(const struct core *core, const struct fact *fact)
{
    const struct form *form = fact->task_submitted.form;
    struct arena arena;
    struct around around = {.core = core, .empty = true};
    bool any = false;
    bool possible = false;
    if (form == NULL || form_grouped(form) || form->groups[0].required[0] == '\0') {
        return;
    }
    around.request = fact->task_submitted.request;
    around.level = form->groups[0].required;
    around.count = form_min(form);
    arena_init(&arena);
    for (const struct node *node = core_node_next(core, (node_id){0}); node != NULL;
         node = core_node_next(core, node->id)) {
        around.node = node;
        const bool here = node->pool.v == fact->task_submitted.pool.v;
        any |= here;
        possible |= here && places_around(&around, &arena) >= around.count;
    }
    law(!any || possible, "P9: what no domain can hold is refused");
    arena_done(&arena);
}
