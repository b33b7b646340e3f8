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

static void milli_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    struct error e;
    if (amount_milli(doc->text, (int64_t *)((char *)object + field->offset), &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    }
}

static void bytes_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    struct error e;
    if (amount_bytes(doc->text, (int64_t *)((char *)object + field->offset), &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    }
}

static void slots_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    struct node_draft *draft = object;
    draft->slots_given = true;
    fields_u32(in, place, doc, field, object);
}

static void resources_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    (void)field;
    struct node_draft *draft = object;
    if (doc->kind != DOC_MAP || doc->count > NODE_RESOURCES_MAX) {
        fields_problem(in, place, doc, "a map of at most %d names and amounts is wanted",
                       NODE_RESOURCES_MAX);
        return;
    }
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .key = item->key.p};
        struct named_amount *named = &draft->named[draft->spec.resource_count];
        struct error e;
        if (name_check(item->key, "a resource", &e) != ERR_OK ||
            amount_milli(item->text, &named->milli, &e) != ERR_OK) {
            fields_problem(in, &at, item, "%s", e.text);
            return;
        }
        named->name = item->key.p;
        draft->spec.resource_count++;
    }
}

static void labels_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    (void)field;
    struct node_draft *draft = object;
    if (doc->kind != DOC_MAP || doc->count > NODE_LABELS_MAX) {
        fields_problem(in, place, doc, "a map of at most %d labels is wanted", NODE_LABELS_MAX);
        return;
    }
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .key = item->key.p};
        struct error e;
        const char *value;
        if (!fields_value_text(in, &at, item, TEXT_LEN_MAX, &value)) {
            return;
        }
        if (resources_text_label_check(item->key, item->text, &e) != ERR_OK) {
            fields_problem(in, &at, item, "%s", e.text);
            return;
        }
        draft->labels[draft->spec.label_count++] = (struct label){item->key.p, value};
    }
}

#define IN_NODE(member) offsetof(struct node_draft, member)

static const struct field node_fields[] = {
    {.name = "name", .read = fields_name, .offset = IN_NODE(spec.name), .note = "a node"},
    {.name = "count", .read = fields_u32, .offset = IN_NODE(count), .min = 1, .max = NODES_MAX},
    {.name = "pool", .read = fields_name, .offset = IN_NODE(spec.pool), .note = "a pool"},
    {.name = "gpus",
     .read = fields_u32,
     .offset = IN_NODE(spec.device_count),
     .max = NODE_DEVICES_MAX},
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

static void node_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      struct scenario *scenario)
{
    struct node_draft draft = {
        .spec = {.pool = "",
                 .cpu_milli = NODE_CPU_DEFAULT * 1000,
                 .memory_bytes = NODE_MEMORY_DEFAULT,
                 .boot_id = "",
                 .address = "",
                 .version = ""},
    };
    const uint32_t before = in->problems->total;
    fields_read(in, place, doc, node_fields, &draft);
    if (in->problems->total > before) {
        return;
    }
    if (draft.spec.name == NULL) {
        struct doc_place at = {.up = place, .key = "name"};
        fields_problem(in, &at, doc, "it is missing");
        return;
    }
    if (draft.spec.device_count > 0 && draft.slots_given) {
        fields_problem(in, place, doc, "a node with GPUs has as many slots; 'slots' is for others");
        return;
    }
    draft.spec.slots_milli = slots_of(&draft);
    draft.spec.resources =
        arena_dup(in->arena, draft.named, sizeof draft.named[0] * draft.spec.resource_count);
    draft.spec.labels =
        arena_dup(in->arena, draft.labels, sizeof draft.labels[0] * draft.spec.label_count);
    const uint32_t count = draft.count > 0 ? draft.count : 1;
    if (count > scenario->nodes_max - scenario->nodes.count) {
        fields_problem(in, place, doc, "more than %u nodes", scenario->nodes_max);
        return;
    }
    for (uint32_t i = 1; i <= count; i++) {
        struct cluster_node node = {.spec = draft.spec, .later = draft.later, .doc = doc};
        if (draft.count > 0) {
            node.spec.name = arena_fmt(in->arena, "%s%u", draft.spec.name, i);
        }
        vec_push(&scenario->nodes, node);
    }
}

void scenario_nodes_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    (void)field;
    struct scenario_draft *draft = object;
    if (!scenario_file_list(in, place, doc)) {
        return;
    }
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        node_read(in, &at, item, draft->scenario);
    }
}
