/* network_spec.c - the fields of a network. SPDX-License-Identifier: Apache-2.0 */
#include "spec/network_spec.h"

#include "core/model/object.h"
#include "spec/fields.h"
#include "spec/object_read.h"

#include <string.h>

static void network_name_read(const struct doc_value *v, void *object)
{
    struct network_spec *spec = object;
    const char *before = spec->name;
    object_read_field(v, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(v, "a network cannot be renamed");
    } else if (spec->name != NULL && network_built_in(spec->name)) {
        fields_problem(v, "'%s' is there without being made; give the network another name",
                       spec->name);
    }
}

static void network_for_read(const struct doc_value *v, void *object)
{
    struct network_spec *spec = object;
    object_read_guests(v, &spec->guests, &spec->guest_count);
}

#define FIELD(id, kept, tag, change, place, flag) ROW_##place(id)
#define ROW_TOP(id)                                                                                \
    {.name = #id, .read = object_read_field, .row = &network_object_fields[NETWORK_FIELD_##id]},
#define ROW_OWN(id)                                                                                \
    {.name = #id, .read = network_##id##_read, .row = &network_object_fields[NETWORK_FIELD_##id]},
static const struct field network_fields[] = {
#include "core/model/network_fields.def"
    {0},
};

void network_spec_fields(const struct doc_value *v, void *object)
{
    struct network_spec *spec = object;
    struct network_range range;
    if (!fields_read(v, network_fields, spec)) {
        return;
    }
    if (spec->name == NULL) {
        fields_problem_in(v, "name", "it is missing");
    }
    if (spec->range[0] == '\0') {
        fields_problem_in(v, "range", "it is missing; a range like 10.77.0.0/24 is wanted");
    } else if (!network_range_read(spec->range, &range)) {
        fields_problem_in(v, "range",
                          "'%s' is not the first address of a range and its bits, %d to %d, like "
                          "10.77.0.0/24",
                          spec->range, NETWORK_RANGE_BITS_MIN, NETWORK_RANGE_BITS_MAX);
    }
}

void network_spec_init(struct network_spec *spec)
{
    object_init(&network_object, spec);
    spec->name = NULL;
}

enum err network_spec_patch(const struct doc *doc, struct arena *arena, struct network_spec *spec,
                            struct error *e)
{
    return fields_document(doc, arena, network_spec_fields, spec, sizeof *spec, e);
}
