/* state_codec_node.c - the nodes and the shapes of a stored state.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/form.h"
#include "core/model/leave.h"
#include "core/model/node.h"
#include "core/model/resource.h"
#include "core/model/spec_codec.h"
#include "core/model/spec_limits.h"
#include "core/state/change.h"
#include "core/state/fact.h"
#include "core/state/state_codec.h"

#include <string.h>

static const struct record_field node_fields[] = {
    STATE_BELOW(struct node, pool, pools),
    STATE_ANY(struct node, incarnation),
    STATE_FIELD(struct node, UINT, state, 0, NODE_STATE_COUNT - 1),
    STATE_YES(struct node, draining),
    STATE_YES(struct node, locked, .since = STATE_VERSION_POOLS),
    STATE_FIELD(struct node, UINT, drain_busy, 0, BUSY_COUNT - 1, .since = STATE_VERSION_POOLS),
    STATE_TIME(struct node, drain_by_ms, .since = STATE_VERSION_POOLS),
    STATE_TIME(struct node, removed_ms, .since = STATE_VERSION_POOLS),
    STATE_YES(struct node, provided, .since = STATE_VERSION_POOLS),
    STATE_YES(struct node, spare, .since = STATE_VERSION_ZONES),
};

/* Are all named resources of the spec known, and is the spec within its limits? */
static bool names_known(const struct core *core, const struct node_spec *spec)
{
    const char *limit;
    int64_t max;
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        resource_id id;
        if (!query_resource_named(core, spec->resources[i].name, &id) ||
            id.v < RESOURCE_NAMED_FIRST) {
            return false;
        }
    }
    return spec_limits_node(spec, &limit, &max);
}

static bool node_get(struct state_reader *r, uint64_t id, const void *row)
{
    const struct node *read = row;
    struct node_spec spec;
    spec_codec_node_decode(&r->in, &r->arena, &spec);
    const bool pool_there = read->state == NODE_REMOVED
                                ? table_get(&r->core->pools, read->pool.v) != NULL
                                : query_pool(r->core, read->pool) != NULL;
    if (r->in.bad || !pool_there || (read->drain_by_ms != 0 && !read->draining) ||
        (read->removed_ms != 0 && read->state != NODE_REMOVED) ||
        (read->spare && read->state == NODE_REMOVED) || !names_known(r->core, &spec) ||
        query_node_named(r->core, spec.name) != NULL) {
        return false;
    }
    struct fact fact = {0};
    fact.node_set.node.v = (uint32_t)id;
    fact.node_set.pool = read->pool;
    fact.node_set.incarnation = read->incarnation;
    fact.node_set.spec = &spec;
    r->core->nodes.last = id - 1;
    change_node_set(r->core, &fact);
    struct node before;
    struct node *node = change_node_open(r->core, (node_id){(uint32_t)id}, &before);
    node->draining = read->draining;
    node->locked = read->locked;
    node->drain_busy = read->drain_busy;
    node->drain_by_ms = read->drain_by_ms;
    node->provided = read->provided;
    node->spare = read->spare;
    change_node_close(r->core, node, &before);
    if (read->state != NODE_SILENT) {
        struct fact change = {0};
        change.node_state.node.v = (uint32_t)id;
        change.node_state.state = (enum node_state)read->state;
        change.time_ms = read->removed_ms;
        change_node_state(r->core, &change);
    }
    return true;
}

const struct state_section state_codec_node = {"nodes",
                                               STATE_ROWS(nodes, nodes),
                                               .tags_since = STATE_VERSION_GROWTH,
                                               STATE_FIELDS(struct node, node_fields),
                                               .text_at = offsetof(struct node, text),
                                               .get = node_get};

/* ---- shapes ---- */

static const struct record_field shape_fields[] = {
    STATE_BELOW(struct shape, pool, pools),
    STATE_FIELD(struct shape, UINT, gang_size, 1, TASK_INSTANCES_MAX),
};

static void shape_put(const struct core *core, const void *row, struct buf *out)
{
    (void)core;
    const struct shape *shape = row;
    codec_put_request(out, &shape->request);
    codec_put_bool(out, shape->form != NULL);
    if (shape->form != NULL) {
        form_encode(shape_form(shape), out);
    }
}

/* Could a decision have made this form, and does it agree with the shape's row? */
static bool form_sound(const struct form *form, const struct shape *shape)
{
    for (uint32_t i = 0; form != NULL && i < form->group_count; i++) {
        if (form->groups[i].below == 0 && !state_codec_request_sound(&form->groups[i].request)) {
            return false;
        }
    }
    return form == NULL || (form_min(form) == shape->gang_size &&
                            memcmp(&form->groups[form_leaf_next(form, 0)].request, &shape->request,
                                   sizeof shape->request) == 0);
}

static bool shape_get(struct state_reader *r, uint64_t id, const void *row)
{
    struct shape read = *(const struct shape *)row;
    codec_get_request(&r->in, r->core->resource_count, &read.request);
    const bool has_form = r->version >= STATE_VERSION_FORMS && codec_get_bool(&r->in);
    const struct form *form =
        has_form ? form_decode(&r->in, &r->arena, r->core->resource_count) : NULL;
    if (r->in.bad || table_get(&r->core->pools, read.pool.v) == NULL ||
        !state_codec_request_sound(&read.request) || !form_sound(form, &read)) {
        return false;
    }
    r->core->shapes.last = id - 1;
    if (change_shape_take(r->core, read.pool, read.gang_size, &read.request, form).v != id) {
        return false; /* two shapes are equal */
    }
    /* The tasks, which are read later, count themselves. */
    ((struct shape *)table_edit(&r->core->shapes, id))->task_count = 0;
    return true;
}

const struct state_section state_codec_node_shape = {"shapes", STATE_ROWS(shapes, shapes),
                                                     STATE_FIELDS(struct shape, shape_fields),
                                                     .put = shape_put, .get = shape_get};
