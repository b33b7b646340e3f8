/* flavor_spec.c - the fields of a flavor. SPDX-License-Identifier: Apache-2.0 */
#include "spec/flavor_spec.h"

#include "core/model/object.h"
#include "spec/fields.h"
#include "spec/object_read.h"

#include <string.h>

static void flavor_name_read(const struct doc_value *v, void *object)
{
    struct flavor_spec *spec = object;
    const char *before = spec->name;
    object_read_field(v, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(v, "a flavor cannot be renamed");
    }
}

#define FIELD(id, kept, tag, change, place, flag) ROW_##place(id)
#define ROW_TOP(id)                                                                                \
    {.name = #id, .read = object_read_field, .row = &flavor_object_fields[FLAVOR_FIELD_##id]},
#define ROW_OWN(id)                                                                                \
    {.name = #id, .read = flavor_##id##_read, .row = &flavor_object_fields[FLAVOR_FIELD_##id]},
static const struct field flavor_fields[] = {
#include "core/model/flavor_fields.def"
    {0},
};

static void zones_check(const struct doc_value *v, const struct flavor_spec *spec)
{
    for (uint32_t i = 0; i < spec->zone_count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(spec->zones[i], spec->zones[j]) == 0) {
                fields_problem_in(v, "zones", "'%s' is there twice", spec->zones[i]);
                return;
            }
        }
    }
}

void flavor_spec_fields(const struct doc_value *v, void *object)
{
    struct flavor_spec *spec = object;
    if (!fields_read(v, flavor_fields, spec)) {
        return;
    }
    if (spec->name == NULL) {
        fields_problem_in(v, "name", "it is missing");
    }
    if (spec->provider == POOL_STATIC) {
        fields_problem_in(v, "provider",
                          "nobody brings nodes of a static pool up; the type of a provider is "
                          "wanted, like local");
    }
    zones_check(v, spec);
}

void flavor_spec_init(struct flavor_spec *spec)
{
    object_init(&flavor_object, spec);
    spec->name = NULL;
}

enum err flavor_spec_patch(const struct doc *doc, struct arena *arena, struct flavor_spec *spec,
                           struct error *e)
{
    return fields_document(doc, arena, flavor_spec_fields, spec, sizeof *spec, e);
}
