/* scale.c - POST /pools/{name}/scale: another size of a pool with a provider, or nodes that leave the pool.
 * POST /pools/{name}/replace: all its nodes are replaced, some at a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/preview.h"
#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/pool_zones.h"
#include "core/state/elastic.h"
#include "core/state/query.h"
#include "wire/state_json.h"

#include <string.h>

enum { SCALE_REMOVE_MAX = 1000 };

/* Reads a number of nodes. *ret_given: the body has the field. False: the call was answered. */
static bool size_read(struct call *call, const struct doc *body, const char *field, uint32_t *ret,
                      bool *ret_given)
{
    uint64_t number;
    if (!body_has(body, field)) {
        return true;
    }
    if (!doc_u64(doc_get(body, field), &number) || number > POOL_NODES_MAX) {
        call_failf(call, ERR_INVALID, field, "'%s' must be a number of nodes from 0 to %d", field,
                   POOL_NODES_MAX);
        return false;
    }
    *ret = (uint32_t)number;
    *ret_given = true;
    return true;
}

/* Reads the new size into the spec. False: the call was answered. */
static bool sizes_read(struct call *call, const struct doc *body, struct pool_spec *spec,
                       bool *ret_given)
{
    bool fixed = false;
    bool bounds = false;
    if (!size_read(call, body, "nodes", &spec->nodes_fixed, &fixed) ||
        !size_read(call, body, "min", &spec->nodes_min, &bounds) ||
        !size_read(call, body, "max", &spec->nodes_max, &bounds)) {
        return false;
    }
    if (fixed && bounds) {
        call_failf(call, ERR_INVALID, "nodes",
                   "a pool has a fixed number of nodes, or a min and a max");
        return false;
    }
    if (fixed) {
        spec->nodes_min = spec->nodes_fixed;
        spec->nodes_max = spec->nodes_fixed;
    } else if (bounds) {
        spec->nodes_fixed = 0;
    }
    if (spec->nodes_min > spec->nodes_max) {
        call_failf(call, ERR_INVALID, "min",
                   "min is %u and max is %u; a min up to the max would do", spec->nodes_min,
                   spec->nodes_max);
        return false;
    }
    *ret_given = fixed || bounds;
    return true;
}

/* The node of the pool with this name. NULL: the call was answered. */
static const struct node *node_of(struct call *call, const struct pool *pool,
                                  const struct doc *name, const char *path)
{
    const struct core *core = call_core(call);
    const char *text = name->kind == DOC_STRING ? name->text.p : "";
    const struct node *node = query_node_named(core, text);
    if (node == NULL || node->pool.v != pool->id.v) {
        call_failf(call, node == NULL ? ERR_NOT_FOUND : ERR_CONFLICT, path,
                   "no node '%.63s' in pool '%s'", text, query_pool_name(core, pool->id));
        return NULL;
    }
    if (node->launch.v == 0) {
        call_failf(call, ERR_CONFLICT, path,
                   "node '%s' was not brought up by the provider; `weir node drain %s`, then `weir "
                   "node remove %s`",
                   text, text, text);
        return NULL;
    }
    return node;
}

static bool is_there(const node_id *nodes, uint32_t count, node_id node)
{
    for (uint32_t i = 0; i < count; i++) {
        if (nodes[i].v == node.v) {
            return true;
        }
    }
    return false;
}

/* Reads the names of nodes that leave. *ret_live: those of them that count in the size. False: the call was answered. */
static bool remove_read(struct call *call, const struct pool *pool, const struct doc *body,
                        struct input *in, uint32_t *ret_live)
{
    const struct doc *list = body_has(body, "remove") ? doc_get(body, "remove") : NULL;
    if (list == NULL) {
        return true;
    }
    if (list->kind != DOC_LIST || list->count > SCALE_REMOVE_MAX) {
        call_failf(call, ERR_INVALID, "remove", "'remove' must be a list of at most %d node names",
                   SCALE_REMOVE_MAX);
        return false;
    }
    node_id *nodes = arena_new(call_arena(call), node_id, list->count + 1);
    uint32_t index = 0;
    uint32_t count = 0;
    for (const struct doc *d = list->first; d != NULL; d = d->next) {
        const char *path = arena_fmt(call_arena(call), "remove[%u]", index++);
        const struct node *node = node_of(call, pool, d, path);
        if (node == NULL) {
            return false;
        }
        if (!is_there(nodes, count, node->id)) {
            const struct launch *launch = query_launch(call_core(call), node->launch);
            *ret_live += launch->leave == LEAVE_NOT && launch->state != LAUNCH_ENDING;
            nodes[count++] = node->id;
        }
    }
    in->scale.remove = nodes;
    in->scale.remove_count = count;
    return true;
}

static bool busy_read(struct call *call, const struct doc *body, enum busy *ret)
{
    const char *word = NULL;
    if (!body_text(call, body, "busy", &word)) {
        return false;
    }
    if (word != NULL && !names_busy_parse(word, ret)) {
        call_failf(call, ERR_INVALID, "busy",
                   "'busy' is wait, requeue, kill or refuse, not '%.40s'", word);
        return false;
    }
    return true;
}

/* Reads how many nodes stand in which zone. False: the call was answered. */
static bool zones_read(struct call *call, const struct doc *body, struct pool_spec *spec)
{
    const struct doc *list = body_has(body, "zones") ? doc_get(body, "zones") : NULL;
    if (list != NULL && (list->kind != DOC_LIST || list->count > POOL_ZONES_MAX)) {
        call_failf(call, ERR_INVALID, "zones",
                   "'zones' must be a list of at most %d texts like a=2", POOL_ZONES_MAX);
        return false;
    }
    if (list != NULL) {
        const char **zones = arena_new(call_arena(call), const char *, list->count + 1);
        uint32_t count = 0;
        for (const struct doc *d = list->first; d != NULL; d = d->next) {
            zones[count++] = d->kind == DOC_STRING ? d->text.p : "";
        }
        spec->zones = zones;
        spec->zone_count = count == 1 && strcmp(zones[0], "random") == 0 ? 0 : count;
    }
    if (!pool_zones_sound(spec)) {
        call_failf(call, ERR_INVALID, "zones",
                   "the zones must name each zone once and sum to the %u nodes of the pool, like "
                   "[a=%u]; ['random'] gives the zones up",
                   spec->nodes_fixed, spec->nodes_fixed);
        return false;
    }
    return true;
}

/* Reads the body. False: the call was answered. */
static bool scale_read(struct call *call, const struct pool *pool, struct pool_spec *spec,
                       struct input *in)
{
    static const char *const fields[] = {"nodes", "min", "max", "zones", "remove", "busy", NULL};
    const struct doc *body;
    bool given = false;
    uint32_t live = 0;
    if (!body_object(call, fields, &body) || !sizes_read(call, body, spec, &given) ||
        !remove_read(call, pool, body, in, &live) || !busy_read(call, body, &in->scale.busy)) {
        return false;
    }
    if (!given && in->scale.remove_count == 0 && !body_has(body, "zones")) {
        call_failf(call, ERR_INVALID, "",
                   "nothing to change; give nodes, min, max, zones or remove");
        return false;
    }
    if (!given && spec->nodes_fixed > 0) {
        /* A fixed pool loses the nodes that the user names. */
        spec->nodes_fixed -= live < spec->nodes_fixed ? live : spec->nodes_fixed;
        spec->nodes_min = spec->nodes_fixed;
        spec->nodes_max = spec->nodes_fixed;
    }
    return zones_read(call, body, spec);
}

/* The pool of the path, which has a provider. NULL: the call was answered. */
static const struct pool *pool_of(struct call *call)
{
    const struct pool *pool = named_pool(call, "", call->params[0]);
    if (pool != NULL && !elastic_pool(pool)) {
        call_failf(call, ERR_CONFLICT, "",
                   "pool '%s' has no provider: its nodes are agents that somebody starts and ends",
                   call->params[0]);
        return NULL;
    }
    return pool;
}

/* Runs the input, and answers with the pool. */
static void change(struct call *call, struct input *in, pool_id id)
{
    struct facts facts;
    if (!preview_answered(call, in) && call_input(call, in, &facts)) {
        struct json_out j;
        call_json(call, &j);
        state_json_pool(&j, call_core(call), query_pool(call_core(call), id), true,
                        call_arena(call));
        call_answer_json(call, 200);
    }
}

void scale_pool(struct call *call)
{
    const struct pool *pool = pool_of(call);
    struct pool_spec spec;
    if (pool == NULL) {
        return;
    }
    struct input in = {.type = INPUT_POOL_SCALE, .scale = {.pool = pool->id, .spec = &spec}};
    query_pool_spec(call_core(call), pool->id, call_arena(call), &spec);
    if (scale_read(call, pool, &spec, &in)) {
        change(call, &in, in.scale.pool);
    }
}

void scale_replace(struct call *call)
{
    static const char *const fields[] = {"at_once", "busy", NULL};
    const struct pool *pool = pool_of(call);
    const struct doc *body;
    bool given = false;
    if (pool == NULL) {
        return;
    }
    struct input in = {.type = INPUT_POOL_REPLACE, .replace = {.pool = pool->id, .at_once = 1}};
    if (!body_object(call, fields, &body) ||
        !size_read(call, body, "at_once", &in.replace.at_once, &given) ||
        !busy_read(call, body, &in.replace.busy)) {
        return;
    }
    if (in.replace.busy == BUSY_REFUSE) {
        call_failf(call, ERR_INVALID, "busy", "'busy' is wait, requeue or kill here, not 'refuse'");
        return;
    }
    change(call, &in, in.replace.pool);
}
