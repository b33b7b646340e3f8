/* quota_spec.c - the fields of a quota.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/object_read.h"
#include "spec/quota_spec.h"

#include "base/amount.h"
#include "base/must.h"
#include "base/name.h"
#include "spec/quota_internal.h"

#include <string.h>

static const char slots_name[] = "slots";

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

/* Reads an amount: 5, 0.5, 64Gi (memory) or 'unlimited'. */
static bool amount_value(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const char *resource, int64_t *ret)
{
    struct error e;
    if (doc->kind != DOC_NUMBER && doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "an amount or 'unlimited' is wanted, not %s",
                       fields_what(doc));
        return false;
    }
    if (str_is(doc->text, "unlimited")) {
        *ret = QUOTA_UNLIMITED;
        return true;
    }
    bool memory = strcmp(resource, "memory") == 0;
    enum err r = memory ? amount_bytes(doc->text, ret, &e) : amount_milli(doc->text, ret, &e);
    if (r != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    }
    return r == ERR_OK;
}

static void guaranteed_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    (void)field;
    struct quota_amount *amount = object;
    if (doc->kind == DOC_STRING && str_is(doc->text, "default")) {
        amount->guaranteed = QUOTA_UNSET;
        return;
    }
    (void)amount_value(in, place, doc, amount->resource, &amount->guaranteed);
}

static void limit_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       const struct field *field, void *object)
{
    (void)field;
    struct quota_amount *amount = object;
    (void)amount_value(in, place, doc, amount->resource, &amount->limit);
}

static void weight_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    (void)field;
    struct quota_amount *amount = object;
    int64_t milli;
    if (!object_read_milli(in, place, doc, &milli)) {
        return;
    }
    if (milli > QUOTA_WEIGHT_MAX) {
        fields_problem(in, place, doc, "a weight is at most %d", QUOTA_WEIGHT_MAX / 1000);
    } else {
        amount->weight = (uint32_t)milli;
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

static void resource_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          struct quota_body *body)
{
    struct error e;
    if (name_check(doc->key, "a resource", &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
        return;
    }
    const char *resource = str_is(doc->key, "gpu") ? slots_name : doc->key.p;
    struct quota_amount *amount = amount_of(body, resource);
    if (amount == NULL) {
        fields_problem(in, place, doc, "a quota has at most %d resources", QUOTA_AMOUNTS_MAX);
    } else if (doc->kind == DOC_MAP) {
        fields_read(in, place, doc, amount_fields, amount);
    } else {
        guaranteed_read(in, place, doc, NULL, amount);
    }
}

static void resources_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                           const struct field *field, void *object)
{
    (void)field;
    if (doc->kind != DOC_MAP) {
        fields_problem(in, place, doc, "a map of resources is wanted, not %s", fields_what(doc));
        return;
    }
    if (doc_get(doc, "gpu") != NULL && doc_get(doc, slots_name) != NULL) {
        fields_problem(in, place, doc, "'gpu' and 'slots' are one counter; give one of them");
        return;
    }
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .key = item->key.p};
        if (item->kind != DOC_NULL) {
            resource_read(in, &at, item, object);
        }
    }
}

/* ---- account, pool and the table ---- */

/* Reads the name of the account. The field's `max` holds the kind of account. */
static void account_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct quota_body *body = object;
    const char *before = body->account;
    if (!fields_value_name(in, place, doc, field->note, &body->account)) {
        return;
    }
    if (before != NULL) {
        fields_problem(in, place, doc,
                       "a quota belongs to a project or to a department, not to both");
    }
    body->kind = (enum account_kind)field->max;
}

/* Skips a field that the other one of the two tables below reads. */
static void passed_over(struct reader *in, const struct doc_place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    (void)in;
    (void)place;
    (void)doc;
    (void)field;
    (void)object;
}

#define IN_QUOTA(member) offsetof(struct quota_body, member)

static const struct field whose_fields[] = {
    {.name = "project", .read = account_read, .max = ACCOUNT_PROJECT, .note = "a project"},
    {.name = "department", .read = account_read, .max = ACCOUNT_DEPARTMENT, .note = "a department"},
    {.name = "pool", .read = fields_name, .offset = IN_QUOTA(pool), .note = "a pool"},
    {.name = "resources", .read = passed_over},
#define FIELD(id, kept, tag, change, place, flag) {.name = #id, .read = passed_over},
#include "core/model/quota_fields.def"
#undef FIELD
    {0},
};

static const struct field quota_fields[] = {
    {.name = "project", .read = passed_over},
    {.name = "department", .read = passed_over},
    {.name = "pool", .read = passed_over},
    {.name = "resources", .read = resources_read},
#define FIELD(id, kept, tag, change, place, flag)                                                  \
    {.name = #id,                                                                                  \
     .read = object_read_field,                                                                    \
     .offset = IN_QUOTA(spec.rules),                                                               \
     .row = &quota_object_fields[QUOTA_FIELD_##id]},
#include "core/model/quota_fields.def"
    {0},
};

static void whose_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       struct quota_body *body)
{
    uint32_t before = in->problems->total;
    fields_read(in, place, doc, whose_fields, body);
    if (in->problems->total != before) {
        return;
    }
    if (body->account == NULL) {
        struct doc_place at = {.up = place, .key = "project"};
        fields_problem(in, &at, doc,
                       "it is missing; a quota belongs to a project or to a department");
    }
    if (body->pool == NULL) {
        struct doc_place at = {.up = place, .key = "pool"};
        fields_problem(in, &at, doc, "it is missing");
    }
}

void quota_spec_fields(struct reader *in, const struct doc_place *place, const struct doc *doc,
                       struct quota_body *body)
{
    uint32_t before = in->problems->total;
    whose_read(in, place, doc, body);
    if (in->problems->total == before) {
        fields_read(in, place, doc, quota_fields, body);
    }
    body->spec.amounts = body->amounts;
}

enum err quota_spec_body_whose(const struct doc *doc, struct arena *arena, struct quota_body *ret,
                               struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct quota_body body;
    quota_spec_body_init(&body);
    whose_read(&in, NULL, doc, &body);
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *ret = body;
    }
    return r;
}

enum err quota_spec_body_read(const struct doc *doc, struct arena *arena, struct quota_body *body,
                              struct error *e)
{
    struct problems problems = {0};
    struct reader in = {.arena = arena, .problems = &problems};
    struct quota_body draft = *body;
    draft.account = NULL;
    quota_spec_fields(&in, NULL, doc, &draft);
    enum err r = problem_error(&problems, e);
    if (r == ERR_OK) {
        *body = draft;
        body->spec.amounts = body->amounts;
    }
    return r;
}
