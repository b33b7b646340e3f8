/* account_spec.c - the fields of departments and projects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/account_spec.h"

#include "core/model/spec_limits.h"
#include "spec/object_again.h"

#include <string.h>

static void name_read(const struct doc_value *v, void *object)
{
    struct account_spec *spec = object;
    const char *before = spec->name;
    fields_name(v, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(v, "%s cannot be renamed", v->field->note);
    }
}

/* An empty parent puts the account at the top of the tree. */
static void parent_read(const struct doc_value *v, void *object)
{
    if (v->doc->kind == DOC_STRING && v->doc->text.len == 0) {
        ((struct account_spec *)object)->parent = "";
    } else {
        fields_name(v, object);
    }
}

#define NAMED(key, reader, member, what)                                                           \
    {                                                                                              \
        .name = (key), .read = (reader), .offset = offsetof(struct account_spec, member),          \
        .note = (what)                                                                             \
    }
#define FIELD(id, kept, tag, change, place, flag) ROW_##place(id)
#define ROW_TOP(id)                                                                                \
    {.name = #id, .read = object_read_field, .row = &account_object_fields[ACCOUNT_FIELD_##id]},
#define ROW_OWN(id)
#define ROW_HIDDEN(id)

static const struct field department_fields[] = {
    NAMED("name", name_read, name, "a department"),
    NAMED("parent", parent_read, parent, "a department"),
#include "core/model/account_fields.def"
    {0},
};

static const struct field project_fields[] = {
    NAMED("name", name_read, name, "a project"),
    NAMED("department", fields_name, parent, "a department"),
#include "core/model/account_fields.def"
    {0},
};

static const struct field *fields_of(enum account_kind kind)
{
    return kind == ACCOUNT_PROJECT ? project_fields : department_fields;
}

void account_spec_fields(const struct doc_value *v, void *object)
{
    struct account_spec *spec = object;
    const char *place;
    if (!fields_read(v, fields_of(spec->kind), spec)) {
        return;
    }
    if (spec->name == NULL) {
        fields_problem_in(v, "name", "it is missing");
    }
    const char *wrong = spec_limits_account_idle(spec, &place);
    if (wrong != NULL) {
        fields_problem_in(v, place, "%s", wrong);
    }
}

void account_spec_init(struct account_spec *spec, enum account_kind kind)
{
    object_init(&account_object, spec);
    spec->kind = kind;
    spec->name = NULL;
}

enum err account_spec_read(const struct doc *doc, enum account_kind kind, struct arena *arena,
                           struct account_spec *ret, struct error *e)
{
    struct account_spec spec;
    account_spec_init(&spec, kind);
    enum err r = account_spec_patch(doc, arena, &spec, e);
    if (r == ERR_OK) {
        *ret = spec;
    }
    return r;
}

enum err account_spec_patch(const struct doc *doc, struct arena *arena, struct account_spec *spec,
                            struct error *e)
{
    return fields_document(doc, arena, account_spec_fields, spec, sizeof *spec, e);
}

enum err account_spec_again(const struct doc *item, enum account_kind kind, struct arena *arena,
                            struct account_spec *ret, struct error *e)
{
    return account_spec_read(object_again_fields(fields_of(kind), item, arena), kind, arena, ret,
                             e);
}
