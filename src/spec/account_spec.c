/* account_spec.c - the fields of departments and projects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/account_spec.h"

#include "core/model/limits.h"
#include "spec/account_internal.h"
#include "spec/object_again.h"

#include <string.h>

static void name_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                      const struct field *field, void *object)
{
    struct account_spec *spec = object;
    const char *before = spec->name;
    fields_name(in, place, doc, field, object);
    if (before != NULL && strcmp(before, spec->name) != 0) {
        fields_problem(in, place, doc, "%s cannot be renamed", field->note);
    }
}

/* An empty parent puts the account at the top of the tree. */
static void parent_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    struct account_spec *spec = object;
    if (doc->kind == DOC_STRING && doc->text.len == 0) {
        spec->parent = "";
        return;
    }
    fields_name(in, place, doc, field, object);
}

#define IN_ACCOUNT(member) offsetof(struct account_spec, member)

#define FIELD(id, kept, tag, change, place, flag) ROW_##place(id)
#define ROW_TOP(id)                                                                                \
    {.name = #id, .read = object_read_field, .row = &account_object_fields[ACCOUNT_FIELD_##id]},
#define ROW_OWN(id)
#define ROW_HIDDEN(id)

static const struct field department_fields[] = {
    {.name = "name", .read = name_read, .offset = IN_ACCOUNT(name), .note = "a department"},
    {.name = "parent", .read = parent_read, .offset = IN_ACCOUNT(parent), .note = "a department"},
#include "core/model/account_fields.def"
    {0},
};

static const struct field project_fields[] = {
    {.name = "name", .read = name_read, .offset = IN_ACCOUNT(name), .note = "a project"},
    {.name = "department",
     .read = fields_name,
     .offset = IN_ACCOUNT(parent),
     .note = "a department"},
#include "core/model/account_fields.def"
    {0},
};

void account_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         bool create, struct account_spec *spec)
{
    uint32_t before = in->problems->total;
    bool project = spec->kind == ACCOUNT_PROJECT;
    fields_read(in, place, doc, project ? project_fields : department_fields, spec);
    if (create && spec->name == NULL && in->problems->total == before) {
        struct doc_place at = {.up = place, .key = "name"};
        fields_problem(in, &at, doc, "it is missing");
    }
}

static enum err read_into(const struct doc *doc, struct arena *arena, bool create,
                          struct account_spec *spec, struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct account_spec draft = *spec;
    account_spec_fields(&in, NULL, doc, create, &draft);
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *spec = draft;
    }
    return r;
}

enum err account_spec_read(const struct doc *doc, enum account_kind kind, struct arena *arena,
                           struct account_spec *ret, struct error *e)
{
    struct account_spec spec;
    object_init(&account_object, &spec, sizeof spec);
    spec.kind = kind;
    spec.name = NULL;
    enum err r = read_into(doc, arena, true, &spec, e);
    if (r == ERR_OK) {
        *ret = spec;
    }
    return r;
}

enum err account_spec_patch(const struct doc *doc, struct arena *arena, struct account_spec *spec,
                            struct error *e)
{
    return read_into(doc, arena, false, spec, e);
}

enum err account_spec_again(const struct doc *item, enum account_kind kind, struct arena *arena,
                            struct account_spec *ret, struct error *e)
{
    const bool project = kind == ACCOUNT_PROJECT;
    const struct doc *map =
        object_again_fields(project ? project_fields : department_fields, item, arena);
    return account_spec_read(map, kind, arena, ret, e);
}
