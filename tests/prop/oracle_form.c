/* oracle_form.c - topology, judged by the labels of the nodes themselves, without any of the
 * scheduler's code.
 * SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include "base/map.h"
#include "core/model/form.h"
#include "law.h"

#include <string.h>

/* ---- the place of a node ---- */

static const char *label_of(const struct node_spec *spec, const char *key)
{
    for (uint32_t i = 0; i < spec->label_count; i++) {
        if (strcmp(spec->labels[i].key, key) == 0) {
            return spec->labels[i].value;
        }
    }
    return NULL;
}

/* Joins the label values of all levels down to this one. NULL: the node lacks a label, or the
 * pool lacks the level. */
static const char *path_of(const struct core *core, const struct node *node, const char *level,
                           struct arena *arena)
{
    struct pool_spec pool;
    struct node_spec spec;
    const char *path = "";
    query_pool_spec(core, node->pool, arena, &pool);
    query_node_spec(core, node->id, arena, &spec);
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
    const struct form *form = shape_form(query_task_shape(core, task->shape));
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
        const struct task *task = query_task(core, a->allocated.key.task);
        const char *level = required_of(core, task);
        for (size_t j = i; level[0] != '\0' && j < facts->count; j++) {
            const struct fact *b = &facts->at[j];
            law(b->type != FACT_ALLOCATED || b->allocated.key.task.v != task->id.v ||
                    together(core, query_node(core, a->allocated.node),
                             query_node(core, b->allocated.node), level, &arena),
                "what starts together is in one domain");
        }
    }
    arena_done(&arena);
}

/* Returns the node of a running instance; NULL: no instance runs. */
static const struct node *runs_on(const struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count; i++) {
        const struct instance *instance = query_instance(core, task->id, i);
        if (instance->state == INSTANCE_STARTING || instance->state == INSTANCE_RUNNING) {
            return query_node(core, instance->node);
        }
    }
    return NULL;
}

/* Counts places for a request in each domain of a level, or in the whole pool. */
struct places {
    const struct core *core;
    const struct ledger *ledger; /* NULL: as if nothing ran and all nodes were up */
    const struct task *task;     /* the bounds of this task's accounts hold; NULL: no bounds */
    const struct request *request;
    const char *level; /* "": the whole pool */
    pool_id pool;
    uint32_t count;
};

struct domain {
    const char *path;
    uint32_t found;
};

static uint32_t places_on(const struct places *places, const struct node *node)
{
    if (places->ledger == NULL) {
        return oracle_holds(node, places->request, places->count);
    }
    const uint32_t fits = oracle_fits(places->ledger, node, places->request, places->count);
    return fits > 0 && !oracle_bounded(places->ledger, places->task, node, places->count) &&
                   oracle_usable(node, places->core, places->task)
               ? fits
               : 0;
}

static struct domain *domain_of(struct map *domains, const char *path, struct arena *arena)
{
    struct domain *domain = map_get(domains, path, strlen(path));
    if (domain == NULL) {
        domain = arena_new(arena, struct domain, 1);
        *domain = (struct domain){.path = path};
        (void)map_put(domains, path, strlen(path), domain);
    }
    return domain;
}

/* Returns the most places of any domain, or of the domain of node `pin`; -1: the pool has no
 * nodes. */
static int64_t places_most(const struct places *places, const struct node *pin)
{
    struct arena arena;
    struct map *domains = map_new();
    int64_t most = -1;
    arena_init(&arena);
    const bool levels = places->level[0] != '\0';
    const char *only =
        pin != NULL && levels ? path_of(places->core, pin, places->level, &arena) : NULL;
    for (const struct node *node = query_node_next(places->core, (node_id){0}); node != NULL;
         node = query_node_next(places->core, node->id)) {
        if (node->pool.v != places->pool.v) {
            continue;
        }
        most = most < 0 ? 0 : most;
        const uint32_t here = places_on(places, node);
        const char *path =
            levels && here > 0 ? path_of(places->core, node, places->level, &arena) : "";
        if (here == 0 || path == NULL ||
            (pin != NULL && levels && (only == NULL || strcmp(path, only) != 0))) {
            continue;
        }
        struct domain *domain = domain_of(domains, path, &arena);
        domain->found += here;
        most = domain->found > most ? domain->found : most;
    }
    map_free(domains);
    arena_done(&arena);
    return most;
}

void oracle_form_idles(const struct ledger *ledger, const struct task *task, uint32_t count)
{
    const struct core *core = ledger->core;
    if (oracle_grouped(core, task)) {
        /* The scheduler searches places for different requests within a budget and may miss some,
         * so only single further instances are judged. */
        oracle_groups_idle(ledger, task);
        return;
    }
    const struct places places = {.core = core,
                                  .ledger = ledger,
                                  .task = task,
                                  .request = &query_task_shape(core, task->shape)->request,
                                  .level = required_of(core, task),
                                  .pool = task->pool,
                                  .count = count};
    law(places_most(&places, runs_on(core, task)) < (int64_t)count,
        "P5: no gang that may run fits one domain");
}

void oracle_form_possible(const struct core *core, const struct fact *fact)
{
    const struct form *form = fact->task_submitted.form;
    if (form == NULL || form_grouped(form) || form->groups[0].required[0] == '\0') {
        return;
    }
    const struct places places = {.core = core,
                                  .request = fact->task_submitted.request,
                                  .level = form->groups[0].required,
                                  .pool = fact->task_submitted.pool,
                                  .count = form_min(form)};
    const int64_t most = places_most(&places, NULL);
    law(most < 0 || most >= (int64_t)places.count, "P9: what no domain can hold is refused");
}
