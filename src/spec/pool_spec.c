/* pool_spec.c - the fields of a pool. A policy, placement or provider that does not exist is
 * refused by name; the message lists the existing ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/pool_spec.h"

#include "base/amount.h"
#include "spec/pool_internal.h"
#include "spec/task_internal.h"
#include "core/model/limits.h"
#include "core/model/names.h"

#include <stdio.h>
#include <string.h>

void pool_spec_init(struct pool_spec *spec, const char *name)
{
    object_init(&pool_object, spec, sizeof *spec);
    spec->name = name;
}

/* Checks that a text is one of the words in `note`. */
static void word_check(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    (void)object;
    const char *word;
    if (!fields_value_text(in, place, doc, SIZE_MAX, &word)) {
        return;
    }
    struct str rest = str_of(field->note);
    while (rest.p != NULL) {
        if (str_equal(str_cut(rest, ' ', &rest), doc->text)) {
            return;
        }
    }
    fields_problem(in, place, doc, "'%.40s' does not exist yet; the types are: %s", word,
                   field->note);
}

#define POOL_ROW(id)                                                                               \
    {.name = #id, .read = object_read_field, .row = &pool_object_fields[POOL_FIELD_##id]},

/* Rows of pool_fields.def that belong to another group expand to nothing. */
#define FIELD(id, kept, tag, change, place, flag) HISTORY_##place(id)
#define HISTORY_TOP(id)
#define HISTORY_OWN(id)
#define HISTORY_SCHEDULER(id)
#define HISTORY_HISTORY(id) POOL_ROW(id)
static const struct field history_fields[] = {
#include "core/model/pool_fields.def"
    {0},
};
#undef FIELD

/* Reads 'off', or {half_life, window, factor}. */
static void history_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    (void)field;
    struct pool_spec *spec = object;
    if (doc->kind == DOC_STRING && str_is(doc->text, "off")) {
        spec->history_half_life_ms = 0;
        spec->history_window_ms = 0;
        return;
    }
    if (doc->kind != DOC_MAP) {
        fields_problem(in, place, doc, "a map like {half_life: 7d} or 'off' is wanted, not %s",
                       doc->kind == DOC_STRING ? "another word" : fields_what(doc));
        return;
    }
    const uint32_t before = in->problems->total;
    fields_read(in, place, doc, history_fields, object);
    if (in->problems->total == before && spec->history_half_life_ms == 0 &&
        spec->history_window_ms == 0) {
        fields_problem(in, place, doc, "it needs a half_life or a window, like {half_life: 7d}");
    }
}

#define FIELD(id, kept, tag, change, place, flag) SCHEDULER_##place(id)
#define SCHEDULER_TOP(id)
#define SCHEDULER_OWN(id)
#define SCHEDULER_SCHEDULER(id) POOL_ROW(id)
#define SCHEDULER_HISTORY(id)
static const struct field scheduler_fields[] = {
#include "core/model/pool_fields.def"
    POOL_ROW(patience) /* `patience` may stand here or in the pool itself */
    {.name = "preempt_delay",
     .read = object_read_field,
     /* The older name of preemption_delay. */
     .row = &pool_object_fields[POOL_FIELD_preemption_delay]},
    {.name = "history", .read = history_read},
    {0},
};
#undef FIELD

static const struct field provider_fields[] = {
    {.name = "type", .read = word_check, .note = "static local"},
    {0},
};

/* Reads the map `scheduler` inside the pool. */
static void scheduler_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    (void)field;
    fields_read(in, place, doc, scheduler_fields, object);
}

/* Checks the provider and keeps nothing, because agents of a static pool are started by hand.
 * After an unknown type the other fields are not checked: further problems would distract from
 * the type. */
static void provider_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          const struct field *field, void *object)
{
    (void)field;
    const struct doc *type = doc_get(doc, "type");
    struct doc_place at = {.up = place, .key = "type"};
    uint32_t before = in->problems->total;
    if (doc->kind == DOC_MAP && type == NULL) {
        fields_problem(in, &at, doc, "it is missing; the types are: static local");
        return;
    }
    if (type != NULL) {
        word_check(in, &at, type, &provider_fields[0], object);
    }
    if (in->problems->total == before) {
        fields_read(in, place, doc, provider_fields, object);
    }
}

static void pool_accepts_read(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct pool_spec *spec = object;
    if (doc->kind != DOC_LIST) {
        fields_problem(in, place, doc, "a list of task kinds is wanted, not %s", fields_what(doc));
        return;
    }
    uint32_t accepts = 0;
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        const char *name;
        enum task_kind kind;
        if (!fields_value_text(in, &at, item, SIZE_MAX, &name)) {
            return;
        }
        if (!names_task_kind_parse(name, &kind)) {
            fields_problem(
                in, &at, item,
                "a kind is experiment, command, shell, notebook, tensorboard or service, "
                "not '%.40s'",
                name);
            return;
        }
        accepts |= (uint32_t)1 << kind;
    }
    bool all = accepts == ((uint32_t)1 << TASK_KIND_COUNT) - 1;
    spec->accepts = all ? 0 : accepts; /* a list of all kinds means the same as no list */
}

/* Reads the keys of node labels, the widest level first. */
static void pool_topology_read(struct reader *in, const struct doc_place *place,
                               const struct doc *doc, const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    (void)field;
    if (doc->kind != DOC_LIST || doc->count > TOPOLOGY_LEVELS_MAX) {
        fields_problem(in, place, doc,
                       "a list of at most %d node labels, the widest first, is wanted, like [zone, "
                       "rack], not %s",
                       TOPOLOGY_LEVELS_MAX,
                       doc->kind == DOC_LIST ? "a longer one" : fields_what(doc));
        return;
    }
    const char **levels = arena_new(in->arena, const char *, doc->count + 1);
    uint32_t count = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = count};
        if (!task_groups_level_read(in, &at, item, &levels[count])) {
            return;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (strcmp(levels[i], levels[count]) == 0) {
                fields_problem(in, &at, item, "'%s' is there twice", levels[count]);
                return;
            }
        }
        count++;
    }
    spec->topology = levels;
    spec->topology_count = count;
}

static void pool_name_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    struct pool_spec *spec = object;
    const char *before = spec->name;
    object_read_field(in, place, doc, field, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(in, place, doc, "a pool cannot be renamed");
    }
}

#define FIELD(id, kept, tag, change, place, flag) POOL_##place(id)
#define POOL_TOP(id) POOL_ROW(id)
#define POOL_OWN(id)                                                                               \
    {.name = #id, .read = pool_##id##_read, .row = &pool_object_fields[POOL_FIELD_##id]},
#define POOL_SCHEDULER(id)
#define POOL_HISTORY(id)
static const struct field pool_fields[] = {
#include "core/model/pool_fields.def"
    {.name = "scheduler", .read = scheduler_read},
    {.name = "provider", .read = provider_read},
    {.name = "access", .note = "pools are open to every user for now"},
    {.name = "zones", .note = "zones do not exist yet"},
    {.name = "network", .note = "networks do not exist yet"},
    {.name = "flavor", .note = "flavors do not exist yet"},
    {.name = "nodes", .note = "a static pool has the nodes whose agents join it"},
    {.name = "selector", .note = "label selectors do not exist yet; an agent names its pool"},
    {0},
};

void pool_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      bool create, struct pool_spec *spec)
{
    uint32_t before = in->problems->total;
    fields_read(in, place, doc, pool_fields, spec);
    if (create && spec->name == NULL && in->problems->total == before) {
        struct doc_place at = {.up = place, .key = "name"};
        fields_problem(in, &at, doc, "it is missing");
    }
}

static enum err read_into(const struct doc *doc, struct arena *arena, bool create,
                          struct pool_spec *spec, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct pool_spec draft = *spec;
    pool_spec_fields(&in, NULL, doc, create, &draft);
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *spec = draft;
    }
    return r;
}

enum err pool_spec_read(const struct doc *doc, struct arena *arena, struct pool_spec *ret,
                        struct error *e)
{
    struct pool_spec spec;
    pool_spec_init(&spec, NULL);
    enum err r = read_into(doc, arena, true, &spec, e);
    if (r == ERR_OK) {
        *ret = spec;
    }
    return r;
}

enum err pool_spec_patch(const struct doc *doc, struct arena *arena, struct pool_spec *spec,
                         struct error *e)
{
    return read_into(doc, arena, false, spec, e);
}
