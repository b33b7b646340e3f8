/* account_spec.c - the fields of departments and projects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/account_spec.h"

#include "core/model/limits.h"
#include "spec/account_internal.h"

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

/* An empty parent is the top. */
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

static const struct field department_fields[] = {
    {"name", name_read, IN_ACCOUNT(name), 0, 0, "a department"},
    {"parent", parent_read, IN_ACCOUNT(parent), 0, 0, "a department"},
    {"title", fields_text, IN_ACCOUNT(title), 0, TEXT_LEN_MAX, NULL},
    {"description", fields_text, IN_ACCOUNT(description), 0, TEXT_LEN_MAX, NULL},
    {0},
};

static const struct field project_fields[] = {
    {"name", name_read, IN_ACCOUNT(name), 0, 0, "a project"},
    {"department", fields_name, IN_ACCOUNT(parent), 0, 0, "a department"},
    {"title", fields_text, IN_ACCOUNT(title), 0, TEXT_LEN_MAX, NULL},
    {"description", fields_text, IN_ACCOUNT(description), 0, TEXT_LEN_MAX, NULL},
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
    struct account_spec spec = {.kind = kind, .parent = "", .title = "", .description = ""};
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
