/* apply_node.c - facts of nodes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/state/change.h"

#include "base/must.h"
#include "core/model/label.h"
#include "core/model/spec_codec.h"

static void node_text_set(struct node *node, const struct node_spec *spec)
{
    struct buf text;
    buf_init(&text, TASK_SPEC_BYTES_MAX);
    buf_add(&text, spec->name, strlen(spec->name) + 1);
    spec_codec_node_encode(spec, &text);
    must(!text.full);
    blob_unref(node->text);
    node->text = blob_new(text.data, text.len);
    buf_done(&text);
    blob_unref(node->labels);
    node->labels = label_marks_blob(spec->labels, spec->label_count);
}

static void node_named_set(const struct core *core, struct node *node, const struct node_spec *spec)
{
    memset(node->named, 0, sizeof node->named);
    memset(node->named_free, 0, sizeof node->named_free);
    must(spec->resource_count <= NODE_RESOURCES_MAX);
    node->named_count = spec->resource_count;
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        resource_id id;
        must(query_resource_named(core, spec->resources[i].name, &id));
        uint32_t at = i;
        for (; at > 0 && node->named[at - 1].resource.v > id.v; at--) {
            node->named[at] = node->named[at - 1];
        }
        node->named[at].resource = id;
        node->named[at].milli = spec->resources[i].milli;
    }
}

static struct node *node_create(struct core *core, node_id id, const struct fact *fact)
{
    must(id.v == core->nodes.last + 1);
    struct node *node = table_add(&core->nodes);
    node->id = id;
    node->state = NODE_SILENT;
    core->node_count++;
    must(oindex_insert(&core->orders[ORDER_NODE_NAME],
                       (struct okey){{key_name_hash(fact->node_set.spec->name), id.v}}));
    must(oindex_insert(&core->orders[ORDER_POOL_NODE],
                       (struct okey){{fact->node_set.pool.v, id.v}}));
    return node;
}

static void node_move(struct core *core, const struct node *node, pool_id to)
{
    if (node->pool.v == to.v) {
        return;
    }
    must(node->instance_count == 0);
    struct oindex *order = &core->orders[ORDER_POOL_NODE];
    must(oindex_remove(order, (struct okey){{node->pool.v, node->id.v}}));
    must(oindex_insert(order, (struct okey){{to.v, node->id.v}}));
}

void apply_node_set(struct core *core, const struct fact *fact)
{
    const struct node_spec *spec = fact->node_set.spec;
    node_id id = fact->node_set.node;
    struct node before = {0};
    struct node *node;
    change_claim_drop_node(core, id);
    if (query_node(core, id) == NULL) {
        node = node_create(core, id, fact);
    } else {
        node = change_node_open(core, id, &before);
        must(node->state != NODE_REMOVED);
        node_move(core, node, fact->node_set.pool);
    }
    must(fact->node_set.incarnation >= node->incarnation);
    must(fact->node_set.incarnation == node->incarnation || node->instance_count == 0);
    node->pool = fact->node_set.pool;
    node->incarnation = fact->node_set.incarnation;
    node->device_count = spec->device_count;
    node->slots_milli = spec->slots_milli;
    node->cpu_milli = spec->cpu_milli;
    node->memory_bytes = spec->memory_bytes;
    node->gpu_memory_bytes = spec->gpu_memory_bytes;
    memcpy(node->supervisor, spec->supervisor, sizeof node->supervisor);
    node->aux_max = change_pool_edit(core, node->pool)->aux_tasks;
    node_named_set(core, node, spec);
    node_text_set(node, spec);
    topology_node_set(core, node);
    change_node_recount(core, node);
    node->overhang = 1; /* may be; closing looks */
    change_node_close(core, node, &before);
    change_pool_freed(core, node->pool); /* its labels may be others */
    change_pool_due(core, node->pool);
}

void apply_node_state(struct core *core, const struct fact *fact)
{
    change_claim_drop_node(core, fact->node_state.node);
    struct node before;
    struct node *node = change_node_open(core, fact->node_state.node, &before);
    must(node->state != NODE_REMOVED);
    node->state = (uint8_t)fact->node_state.state;
    if (node->state == NODE_REMOVED) {
        must(node->instance_count == 0);
        uint64_t hash = key_name_hash(query_node_name(core, node->id));
        must(oindex_remove(&core->orders[ORDER_NODE_NAME], (struct okey){{hash, node->id.v}}));
        must(oindex_remove(&core->orders[ORDER_POOL_NODE],
                           (struct okey){{node->pool.v, node->id.v}}));
        topology_node_leave(core, node);
        core->node_count--;
    }
    change_node_close(core, node, &before);
    change_pool_due(core, node->pool);
}

void apply_node_edited(struct core *core, const struct fact *fact)
{
    const struct node_edit *edit = &fact->node_edited.edit;
    node_id id = fact->node_edited.node;
    struct arena arena;
    arena_init(&arena);
    struct node_spec spec;
    query_node_spec(core, id, &arena, &spec);
    const bool moves = edit->fields & NODE_EDIT_LABELS &&
                       change_pool_edit(core, query_node(core, id)->pool)->level_count > 0;
    if (moves || (edit->fields & NODE_EDIT_DRAIN && edit->drain)) {
        change_claim_drop_node(core, id);
    }
    struct node before;
    struct node *node = change_node_open(core, id, &before);
    if (edit->fields & NODE_EDIT_DRAIN) {
        node->draining = edit->drain;
    }
    if (edit->fields & NODE_EDIT_LABELS) {
        spec.labels = edit->labels;
        spec.label_count = edit->label_count;
        node_text_set(node, &spec);
        topology_node_set(core, node);
    }
    arena_done(&arena);
    change_node_close(core, node, &before);
    if (edit->fields & NODE_EDIT_LABELS) {
        change_pool_freed(core, node->pool);
    }
    change_pool_due(core, node->pool);
}
