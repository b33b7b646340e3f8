/* scenario_nodes.c - the nodes of a scenario file: `{name: n, count: 8, gpus: 8, cpu: 64}` is n1 to
 * n8. SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_internal.h"

#include "base/amount.h"
#include "base/name.h"
#include "spec/resources_text.h"

struct node_draft {
    struct node_spec spec;
    uint32_t count;
    uint32_t slots;
    bool slots_given;
    bool later;
    struct named_amount named[NODE_RESOURCES_MAX];
    struct label labels[NODE_LABELS_MAX];
};

enum { NODE_CPU_DEFAULT = 16 };
#define NODE_MEMORY_DEFAULT ((int64_t)64 << 30)

static void milli_read(const struct doc_value *v, void *object)
{
    struct error e;
    int64_t *milli = (int64_t *)((char *)object + v->field->offset);
    (void)fields_ok(v, amount_milli(v->doc->text, milli, &e), &e);
}

static void bytes_read(const struct doc_value *v, void *object)
{
    struct error e;
    int64_t *bytes = (int64_t *)((char *)object + v->field->offset);
    (void)fields_ok(v, amount_bytes(v->doc->text, bytes, &e), &e);
}

static void slots_read(const struct doc_value *v, void *object)
{
    struct node_draft *draft = object;
    draft->slots_given = true;
    fields_u32(v, object);
}

static void resources_read(const struct doc_value *v, void *object)
{
    struct node_draft *draft = object;
    if (v->doc->kind != DOC_MAP || v->doc->count > NODE_RESOURCES_MAX) {
        fields_problem(v, "a map of at most %d names and amounts is wanted", NODE_RESOURCES_MAX);
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct named_amount *named = &draft->named[draft->spec.resource_count];
        struct error e;
        if (!fields_ok(&item, name_check(item.doc->key, "a resource", &e), &e) ||
            !fields_ok(&item, amount_milli(item.doc->text, &named->milli, &e), &e)) {
            return;
        }
        named->name = item.key;
        draft->spec.resource_count++;
    }
}

static void labels_read(const struct doc_value *v, void *object)
{
    struct node_draft *draft = object;
    if (v->doc->kind != DOC_MAP || v->doc->count > NODE_LABELS_MAX) {
        fields_problem(v, "a map of at most %d labels is wanted", NODE_LABELS_MAX);
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct error e;
        const char *value;
        if (!fields_value_text(&item, TEXT_LEN_MAX, &value) ||
            !fields_ok(&item, resources_text_label_check(item.doc->key, item.doc->text, &e), &e)) {
            return;
        }
        draft->labels[draft->spec.label_count++] = (struct label){item.key, value};
    }
}

#define IN_NODE(member) offsetof(struct node_draft, member)

static const struct field node_fields[] = {
    FIELDS_NAME("name", struct node_draft, spec.name, "a node"),
    FIELDS_COUNT("count", struct node_draft, count, 1, NODES_MAX),
    FIELDS_NAME("pool", struct node_draft, spec.pool, "a pool"),
    FIELDS_COUNT("gpus", struct node_draft, spec.device_count, 0, NODE_DEVICES_MAX),
    {.name = "slots", .read = slots_read, .offset = IN_NODE(slots), .max = NODE_SLOTS_MAX},
    {.name = "cpu", .read = milli_read, .offset = IN_NODE(spec.cpu_milli)},
    {.name = "memory", .read = bytes_read, .offset = IN_NODE(spec.memory_bytes)},
    {.name = "gpu_memory", .read = bytes_read, .offset = IN_NODE(spec.gpu_memory_bytes)},
    {.name = "resources", .read = resources_read},
    {.name = "labels", .read = labels_read},
    {.name = "later", .read = fields_bool, .offset = IN_NODE(later)},
    {0},
};

/* Returns the slots of a node without GPUs: the given number, else its cores. */
static int64_t slots_of(const struct node_draft *draft)
{
    if (draft->spec.device_count > 0) {
        return (int64_t)draft->spec.device_count * 1000;
    }
    return draft->slots_given ? (int64_t)draft->slots * 1000 : draft->spec.cpu_milli / 1000 * 1000;
}

static void node_read(const struct doc_value *v, struct scenario *scenario)
{
    struct node_draft draft = {
        .spec = {.pool = "",
                 .cpu_milli = NODE_CPU_DEFAULT * 1000,
                 .memory_bytes = NODE_MEMORY_DEFAULT,
                 .boot_id = "",
                 .address = "",
                 .version = ""},
    };
    if (!fields_read(v, node_fields, &draft)) {
        return;
    }
    if (draft.spec.name == NULL) {
        fields_problem_in(v, "name", "it is missing");
        return;
    }
    if (draft.spec.device_count > 0 && draft.slots_given) {
        fields_problem(v, "a node with GPUs has as many slots; 'slots' is for others");
        return;
    }
    draft.spec.slots_milli = slots_of(&draft);
    draft.spec.resources =
        arena_dup(v->in->arena, draft.named, sizeof draft.named[0] * draft.spec.resource_count);
    draft.spec.labels =
        arena_dup(v->in->arena, draft.labels, sizeof draft.labels[0] * draft.spec.label_count);
    const uint32_t count = draft.count > 0 ? draft.count : 1;
    if (count > scenario->nodes_max - scenario->nodes.count) {
        fields_problem(v, "more than %u nodes", scenario->nodes_max);
        return;
    }
    for (uint32_t i = 1; i <= count; i++) {
        struct cluster_node node = {.spec = draft.spec, .later = draft.later, .doc = v->doc};
        if (draft.count > 0) {
            node.spec.name = arena_fmt(v->in->arena, "%s%u", draft.spec.name, i);
        }
        vec_push(&scenario->nodes, node);
    }
}

void scenario_nodes_read(const struct doc_value *v, void *object)
{
    struct scenario_draft *draft = object;
    if (!scenario_file_list(v)) {
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        node_read(&item, draft->scenario);
    }
}
