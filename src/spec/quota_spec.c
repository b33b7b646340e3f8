/* quota_spec.c - the fields of a quota.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/quota_spec.h"

#include "base/amount.h"
#include "base/doc_make.h"
#include "spec/object_again.h"
#include "base/must.h"
#include "base/name.h"

#include <string.h>

void quota_spec_body_init(struct quota_body *body)
{
    *body = (struct quota_body){.spec = {.rules = quota_rules_none}};
}

void quota_spec_body_from(struct quota_body *body, const struct quota_spec *spec)
{
    must(spec->amount_count <= QUOTA_AMOUNTS_MAX);
    quota_spec_body_init(body);
    body->spec = *spec;
    for (uint32_t i = 0; i < spec->amount_count; i++) {
        body->amounts[i] = spec->amounts[i];
    }
}

/* ---- amounts ---- */

/* Reads an amount: 5, 0.5, 64Gi (memory), 'unlimited', or for a guarantee 'default'. */
static void amount_read(const struct doc_value *v, int64_t *ret, const struct quota_amount *amount)
{
    const bool word = v->doc->kind == DOC_STRING;
    const bool memory = strcmp(amount->resource, "memory") == 0;
    if (word && str_is(v->doc->text, "unlimited")) {
        *ret = QUOTA_UNLIMITED;
    } else if (word && ret == &amount->guaranteed && str_is(v->doc->text, "default")) {
        *ret = QUOTA_UNSET;
    } else {
        (void)fields_value_amount(v, memory ? amount_bytes : amount_milli,
                                  "an amount or 'unlimited'", ret);
    }
}

static void guaranteed_read(const struct doc_value *v, void *object)
{
    amount_read(v, &((struct quota_amount *)object)->guaranteed, object);
}

static void limit_read(const struct doc_value *v, void *object)
{
    amount_read(v, &((struct quota_amount *)object)->limit, object);
}

static void weight_read(const struct doc_value *v, void *object)
{
    int64_t milli;
    if (!fields_value_amount(v, amount_milli, "a number", &milli)) {
        return;
    }
    if (milli > QUOTA_WEIGHT_MAX) {
        fields_problem(v, "a weight is at most %d", QUOTA_WEIGHT_MAX / 1000);
    } else {
        ((struct quota_amount *)object)->weight = (uint32_t)milli;
    }
}

static const struct field amount_fields[] = {
    {.name = "guaranteed", .read = guaranteed_read},
    {.name = "limit", .read = limit_read},
    {.name = "weight", .read = weight_read},
    {0},
};

/* Finds the amount of this resource in the body, or adds one. NULL: the body has too many. */
static struct quota_amount *amount_of(struct quota_body *body, const char *resource)
{
    for (uint32_t i = 0; i < body->spec.amount_count; i++) {
        if (strcmp(body->amounts[i].resource, resource) == 0) {
            return &body->amounts[i];
        }
    }
    if (body->spec.amount_count == QUOTA_AMOUNTS_MAX) {
        return NULL;
    }
    struct quota_amount *amount = &body->amounts[body->spec.amount_count++];
    *amount = (struct quota_amount){.resource = resource,
                                    .guaranteed = QUOTA_UNSET,
                                    .limit = QUOTA_UNLIMITED,
                                    .weight = QUOTA_WEIGHT_DEFAULT};
    return amount;
}

static void resource_read(const struct doc_value *v, struct quota_body *body)
{
    struct error e;
    if (!fields_key_ok(v, name_check(v->doc->key, "a resource", &e), &e)) {
        return;
    }
    struct quota_amount *amount = amount_of(body, strcmp(v->key, "gpu") == 0 ? "slots" : v->key);
    if (amount == NULL) {
        fields_problem(v, "a quota has at most %d resources", QUOTA_AMOUNTS_MAX);
    } else if (v->doc->kind == DOC_MAP) {
        (void)fields_read(v, amount_fields, amount);
    } else {
        guaranteed_read(v, amount);
    }
}

static void resources_read(const struct doc_value *v, void *object)
{
    if (v->doc->kind != DOC_MAP) {
        fields_wanted(v, "a map of resources");
        return;
    }
    if (doc_get(v->doc, "gpu") != NULL && doc_get(v->doc, "slots") != NULL) {
        fields_problem(v, "'gpu' and 'slots' are one counter; give one of them");
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        if (item.doc->kind != DOC_NULL) {
            resource_read(&item, object);
        }
    }
}

/* ---- account, pool and the table ---- */

/* Reads the name of the account. The field's `max` holds the kind of account. */
static void account_read(const struct doc_value *v, void *object)
{
    struct quota_body *body = object;
    const char *before = body->account;
    if (!fields_value_name(v, v->field->note, &body->account)) {
        return;
    }
    if (before != NULL) {
        fields_problem(v, "a quota belongs to a project or to a department, not to both");
    }
    body->kind = (enum account_kind)v->field->max;
}

/* Two tables, because a PATCH needs the account and the pool before it reads the rest. */
static const struct field whose_fields[] = {
    {.name = "project", .read = account_read, .max = ACCOUNT_PROJECT, .note = "a project"},
    {.name = "department", .read = account_read, .max = ACCOUNT_DEPARTMENT, .note = "a department"},
    FIELDS_NAME("pool", struct quota_body, pool, "a pool"),
    {.name = "resources", .read = fields_skip},
#define FIELD(id, kept, tag, change, place, flag) {.name = #id, .read = fields_skip},
#include "core/model/quota_fields.def"
#undef FIELD
    {0},
};

static const struct field quota_fields[] = {
    {.name = "project", .read = fields_skip},
    {.name = "department", .read = fields_skip},
    {.name = "pool", .read = fields_skip},
    {.name = "resources", .read = resources_read},
#define FIELD(id, kept, tag, change, place, flag)                                                  \
    {.name = #id,                                                                                  \
     .read = object_read_field,                                                                    \
     .offset = offsetof(struct quota_body, spec.rules),                                            \
     .row = &quota_object_fields[QUOTA_FIELD_##id]},
#include "core/model/quota_fields.def"
    {0},
};

static void whose_read(const struct doc_value *v, void *object)
{
    const struct quota_body *body = object;
    if (!fields_read(v, whose_fields, object)) {
        return;
    }
    if (body->account == NULL) {
        fields_problem_in(v, "project",
                          "it is missing; a quota belongs to a project or to a department");
    }
    if (body->pool == NULL) {
        fields_problem_in(v, "pool", "it is missing");
    }
}

void quota_spec_fields(const struct doc_value *v, void *object)
{
    struct quota_body *body = object;
    const uint32_t before = v->in->problems->total;
    body->account = NULL;
    whose_read(v, body);
    if (v->in->problems->total == before) {
        (void)fields_read(v, quota_fields, body);
    }
    body->spec.amounts = body->amounts;
}

enum err quota_spec_body_whose(const struct doc *doc, struct arena *arena, struct quota_body *ret,
                               struct error *e)
{
    struct quota_body body;
    quota_spec_body_init(&body);
    enum err r = fields_document(doc, arena, whose_read, &body, sizeof body, e);
    if (r == ERR_OK) {
        *ret = body;
    }
    return r;
}

enum err quota_spec_body_read(const struct doc *doc, struct arena *arena, struct quota_body *body,
                              struct error *e)
{
    enum err r = fields_document(doc, arena, quota_spec_fields, body, sizeof *body, e);
    if (r == ERR_OK) {
        body->spec.amounts = body->amounts;
    }
    return r;
}

enum err quota_spec_again(const struct doc *item, struct arena *arena, struct quota_body *body,
                          struct error *e)
{
    struct doc *map = object_again_fields(quota_fields, item, arena);
    const char *kind = "";
    (void)doc_text(doc_get(item, "kind"), &kind);
    doc_make_put(arena, map, strcmp(kind, "department") == 0 ? "department" : "project",
                 doc_get(item, "account"));
    return quota_spec_body_read(map, arena, body, e);
}
