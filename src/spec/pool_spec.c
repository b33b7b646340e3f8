/* pool_spec.c - the fields of a pool. A policy, placement or provider that does not exist is
 * refused by name; the message lists the existing ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/pool_spec.h"

#include "base/doc_make.h"
#include "spec/object_again.h"
#include "spec/resources_text.h"
#include "spec/pool_provider.h"
#include "spec/task_internal.h"
#include "core/model/limits.h"
#include "core/model/names.h"

#include <string.h>

void pool_spec_init(struct pool_spec *spec, const char *name)
{
    object_init(&pool_object, spec);
    spec->name = name;
}

#define POOL_ROW(id)                                                                               \
    {.name = #id, .read = object_read_field, .row = &pool_object_fields[POOL_FIELD_##id]},

/* Rows of pool_fields.def that belong to another group expand to nothing. */
#define FIELD(id, kept, tag, change, place, flag) HISTORY_##place(id)
#define HISTORY_TOP(id)
#define HISTORY_OWN(id)
#define HISTORY_SCHEDULER(id)
#define HISTORY_HISTORY(id) POOL_ROW(id)
#define HISTORY_PROVIDER(id)
static const struct field history_fields[] = {
#include "core/model/pool_fields.def"
    {0},
};
#undef FIELD

/* Reads 'off', or {half_life, window, factor}. */
static void history_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    if (v->doc->kind == DOC_STRING && str_is(v->doc->text, "off")) {
        spec->history_half_life_ms = 0;
        spec->history_window_ms = 0;
    } else if (v->doc->kind != DOC_MAP) {
        fields_problem(v, "a map like {half_life: 7d} or 'off' is wanted, not %s",
                       v->doc->kind == DOC_STRING ? "another word" : fields_what(v->doc));
    } else if (fields_read(v, history_fields, spec) && spec->history_half_life_ms == 0 &&
               spec->history_window_ms == 0) {
        fields_problem(v, "it needs a half_life or a window, like {half_life: 7d}");
    }
}

#define FIELD(id, kept, tag, change, place, flag) SCHEDULER_##place(id)
#define SCHEDULER_TOP(id)
#define SCHEDULER_OWN(id)
#define SCHEDULER_SCHEDULER(id) POOL_ROW(id)
#define SCHEDULER_HISTORY(id)
#define SCHEDULER_PROVIDER(id)
static const struct field scheduler_fields[] = {
#include "core/model/pool_fields.def"
    POOL_ROW(patience) /* these may stand here or in the pool itself */
    {.name = "preempt_delay",
     .read = object_read_field,
     /* The older name of preemption_delay. */
     .row = &pool_object_fields[POOL_FIELD_preemption_delay]},
    {.name = "history", .read = history_read},
    {0},
};
#undef FIELD

#define FIELD(id, kept, tag, change, place, flag) PROVIDER_##place(id)
#define PROVIDER_TOP(id)
#define PROVIDER_OWN(id)
#define PROVIDER_SCHEDULER(id)
#define PROVIDER_HISTORY(id)
#define PROVIDER_PROVIDER(id) POOL_ROW(id)
static const struct field provider_fields[] = {
#include "core/model/pool_fields.def"
    {0},
};
#undef FIELD

/* Reads a fixed size: `nodes` is min and max, too. New bounds without `nodes` end a fixed size. */
static void size_read(const struct doc_value *v, struct pool_spec *spec)
{
    const bool bounds = fields_given(v, "min") != NULL || fields_given(v, "max") != NULL;
    const bool fixed = fields_given(v, "nodes") != NULL;
    if (!fixed) {
        spec->nodes_fixed = bounds ? 0 : spec->nodes_fixed;
        return;
    }
    if (bounds && spec->nodes_fixed > 0 &&
        (spec->nodes_min != spec->nodes_fixed || spec->nodes_max != spec->nodes_fixed)) {
        fields_problem_in(v, "nodes", "a pool has a fixed number of nodes, or a min and a max");
        return;
    }
    if (!bounds) {
        spec->nodes_min = spec->nodes_fixed;
        spec->nodes_max = spec->nodes_fixed;
    }
}

/* Checks the type of a provider first. After an unknown type the other fields are not checked: further problems
 * would distract from the type. */
static void provider_read(const struct doc_value *v, void *object)
{
    if (pool_provider_type_known(v) && fields_read(v, provider_fields, object)) {
        size_read(v, object);
        pool_provider_check(v, object);
    }
}

static void pool_accepts_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    if (v->doc->kind != DOC_LIST) {
        fields_wanted(v, "a list of task kinds");
        return;
    }
    uint32_t accepts = 0;
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        char words[OBJECT_READ_WORDS_MAX];
        const char *name;
        enum task_kind kind;
        if (!fields_value_text(&item, SIZE_MAX, &name)) {
            return;
        }
        if (!names_task_kind_parse(name, &kind)) {
            fields_problem(&item, "a kind is %s, not '%.40s'",
                           object_read_words(&task_object_fields[TASK_FIELD_kind].record, words),
                           name);
            return;
        }
        accepts |= (uint32_t)1 << kind;
    }
    bool all = accepts == ((uint32_t)1 << TASK_KIND_COUNT) - 1;
    spec->accepts = all ? 0 : accepts; /* a list of all kinds means the same as no list */
}

/* Reads the keys of node labels, the widest level first. */
static void pool_topology_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    if (!fields_bounded(v, DOC_LIST, TOPOLOGY_LEVELS_MAX, "node labels, the widest first,",
                        ", like [zone, rack]")) {
        return;
    }
    const char **levels = arena_new(v->in->arena, const char *, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        const char **level = &levels[item.index];
        if (!task_groups_level_read(&item, level)) {
            return;
        }
        for (uint32_t i = 0; i < item.index; i++) {
            if (strcmp(levels[i], *level) == 0) {
                fields_problem(&item, "'%s' is there twice", *level);
                return;
            }
        }
    }
    spec->topology = levels;
    spec->topology_count = v->doc->count;
}

/* Reads {gpu.model: A100} or [gpu.model=A100]. An empty list means: no node belongs to the pool by its labels. */
static void pool_selector_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    if (v->doc->kind == DOC_MAP) {
        (void)object_read_labels(v, SELECTOR_LABELS_MAX, false, &spec->selector,
                                 &spec->selector_count);
        return;
    }
    if (!fields_bounded(v, DOC_LIST, SELECTOR_LABELS_MAX, "node labels", ", like [zone=a]")) {
        return;
    }
    struct label *labels = arena_new(v->in->arena, struct label, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        const char *text;
        struct error e;
        if (!fields_value_text(&item, 2 * TEXT_LEN_MAX + 1, &text) ||
            !fields_ok(&item,
                       resources_text_label(str_of(text), v->in->arena, &labels[item.index], &e),
                       &e)) {
            return;
        }
        for (uint32_t i = 0; i < item.index; i++) {
            if (strcmp(labels[i].key, labels[item.index].key) == 0) {
                fields_problem(&item, "the label '%.60s' is there twice", labels[i].key);
                return;
            }
        }
    }
    spec->selector = labels;
    spec->selector_count = v->doc->count;
}

/* Reads a number of slots, or `all`. The spec has 1 + the number. */
static void pool_slots_per_node_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    uint64_t slots;
    if (v->doc->kind == DOC_STRING && str_is(v->doc->text, "all")) {
        spec->slots_per_node = 0;
    } else if (fields_value_u64(v, 0, NODE_SLOTS_MAX, &slots)) {
        spec->slots_per_node = (uint32_t)slots + 1;
    }
}

static void pool_for_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    object_read_guests(v, &spec->guests, &spec->guest_count);
}

static void pool_name_read(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    const char *before = spec->name;
    object_read_field(v, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(v, "a pool cannot be renamed");
    }
}

#define FIELD(id, kept, tag, change, place, flag) POOL_##place(id)
#define POOL_TOP(id) POOL_ROW(id)
#define POOL_OWN(id)                                                                               \
    {.name = #id, .read = pool_##id##_read, .row = &pool_object_fields[POOL_FIELD_##id]},
#define POOL_SCHEDULER(id)
#define POOL_HISTORY(id)
#define POOL_PROVIDER(id)
static const struct field pool_fields[] = {
#include "core/model/pool_fields.def"
    POOL_ROW(turn) POOL_ROW(idle_for_waiting) POOL_ROW(loss_for_sharing){
        .name = "scheduler", .read = fields_inner, .inner = scheduler_fields},
    {.name = "provider", .read = provider_read},
    {.name = "zones", .note = "zones do not exist yet"},
    {.name = "nodes", .note = "a static pool has the nodes whose agents join it"},
    {0},
};

/* A pool with a flavor has the flavor's amounts: none of its own may be said, and those that were said before go. */
static void flavor_amounts(const struct doc_value *v, struct pool_spec *spec)
{
    static const int amounts[] = {POOL_FIELD_slots, POOL_FIELD_gpus, POOL_FIELD_cpu,
                                  POOL_FIELD_memory};
    const struct doc_value provider = fields_child(v, "provider");
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        const struct object_field *row = &pool_object_fields[amounts[i]];
        if (!object_default(row, spec) && provider.doc != NULL &&
            fields_given(&provider, row->record.name) != NULL) {
            fields_problem_in(&provider, row->record.name,
                              "flavor '%.63s' says what each node has; leave it out", spec->flavor);
        }
        record_set(&row->record, spec, row->otherwise);
    }
}

void pool_spec_fields(const struct doc_value *v, void *object)
{
    struct pool_spec *spec = object;
    if (!fields_read(v, pool_fields, spec)) {
        return;
    }
    if (spec->name == NULL) {
        fields_problem_in(v, "name", "it is missing");
    } else if (spec->access == ACCESS_DEDICATED && spec->guest_count == 0) {
        fields_problem_in(v, "for",
                          "a dedicated pool needs the projects or departments that it serves");
    } else if (spec->access == ACCESS_PUBLIC && spec->guest_count > 0) {
        fields_problem_in(v, "for", "it needs `access: dedicated`; a public pool serves everyone");
    }
    if (spec->flavor[0] == '\0') {
        return;
    }
    if (spec->provider == POOL_STATIC) {
        fields_problem_in(v, "flavor",
                          "a static pool has the nodes whose agents join it; a "
                          "provider.type that brings nodes up would do");
    }
    flavor_amounts(v, spec);
}

enum err pool_spec_read(const struct doc *doc, struct arena *arena, struct pool_spec *ret,
                        struct error *e)
{
    struct pool_spec spec;
    pool_spec_init(&spec, NULL);
    enum err r = pool_spec_patch(doc, arena, &spec, e);
    if (r == ERR_OK) {
        *ret = spec;
    }
    return r;
}

enum err pool_spec_patch(const struct doc *doc, struct arena *arena, struct pool_spec *spec,
                         struct error *e)
{
    return fields_document(doc, arena, pool_spec_fields, spec, sizeof *spec, e);
}

enum err pool_spec_again(const struct doc *item, struct arena *arena, struct pool_spec *ret,
                         struct error *e)
{
    const struct doc *spec = object_again_map(item, "spec");
    const struct doc *scheduler = object_again_map(item, "scheduler");
    const struct doc *history = object_again_map(scheduler, "history");
    if (spec != NULL) {
        return pool_spec_read(spec, arena, ret, e);
    }
    struct doc *map = object_again_fields(pool_fields, item, arena);
    if (scheduler != NULL) {
        struct doc *inner = object_again_fields(scheduler_fields, scheduler, arena);
        doc_make_drop(inner, "history");
        if (history != NULL) {
            doc_make_add(inner, "history", object_again_fields(history_fields, history, arena));
        }
        doc_make_drop(map, "scheduler");
        doc_make_add(map, "scheduler", inner);
    }
    return pool_spec_read(map, arena, ret, e);
}
