/* quota_spec.c - the fields of a quota.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/quota_spec.h"

#include "base/amount.h"
#include "base/must.h"
#include "base/name.h"
#include "spec/quota_internal.h"

#include <string.h>

static const char slots_name[] = "slots";

void quota_spec_body_init(struct quota_body *body)
{
    *body = (struct quota_body){.spec = {.rank = QUOTA_RANK_DEFAULT,
                                         .preempt_min_runtime_ms = QUOTA_INHERIT,
                                         .reclaim_min_runtime_ms = QUOTA_INHERIT}};
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

/* 5, 0.5, 64Gi (memory), or one of the words. */
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
    struct error e;
    int64_t milli;
    if (doc->kind != DOC_NUMBER && doc->kind != DOC_STRING) {
        fields_problem(in, place, doc, "a number is wanted, not %s", fields_what(doc));
    } else if (amount_milli(doc->text, &milli, &e) != ERR_OK) {
        fields_problem(in, place, doc, "%s", e.text);
    } else if (milli > QUOTA_WEIGHT_MAX) {
        fields_problem(in, place, doc, "a weight is at most %d", QUOTA_WEIGHT_MAX / 1000);
    } else {
        amount->weight = (uint32_t)milli;
    }
}

static const struct field amount_fields[] = {
    {"guaranteed", guaranteed_read, 0, 0, 0, NULL},
    {"limit", limit_read, 0, 0, 0, NULL},
    {"weight", weight_read, 0, 0, 0, NULL},
    {0},
};

/* The amount of this resource, new where the body has none; NULL: too many. */
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

/* ---- the rest ---- */

/* `max` of the field is the kind. */
static void account_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    struct quota_body *body = object;
    const char *before = body->account;
    if (!fields_value_name(in, place, doc, field->note, &body->account)) {
        return;
    }
    if (before != NULL) {
        fields_problem(in, place, doc, "a quota is of a project or of a department, not of both");
    }
    body->kind = (enum account_kind)field->max;
}

/* A duration, or 'inherit'. */
static void runtime_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                         const struct field *field, void *object)
{
    if (doc->kind == DOC_STRING && str_is(doc->text, "inherit")) {
        *(int64_t *)(void *)((char *)object + field->offset) = QUOTA_INHERIT;
        return;
    }
    fields_duration(in, place, doc, field, object);
}

/* Read before, by quota_spec_body_whose(). */
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
    {"project", account_read, 0, 0, ACCOUNT_PROJECT, "a project"},
    {"department", account_read, 0, 0, ACCOUNT_DEPARTMENT, "a department"},
    {"pool", fields_name, IN_QUOTA(pool), 0, 0, "a pool"},
    {"resources", passed_over, 0, 0, 0, NULL},
    {"rank", passed_over, 0, 0, 0, NULL},
    {"preempt_min_runtime", passed_over, 0, 0, 0, NULL},
    {"reclaim_min_runtime", passed_over, 0, 0, 0, NULL},
    {0},
};

static const struct field quota_fields[] = {
    {"project", passed_over, 0, 0, 0, NULL},
    {"department", passed_over, 0, 0, 0, NULL},
    {"pool", passed_over, 0, 0, 0, NULL},
    {"resources", resources_read, 0, 0, 0, NULL},
    {"rank", fields_u32, IN_QUOTA(spec.rank), 0, QUOTA_RANK_MAX, NULL},
    {"preempt_min_runtime", runtime_read, IN_QUOTA(spec.preempt_min_runtime_ms), 0, 0, NULL},
    {"reclaim_min_runtime", runtime_read, IN_QUOTA(spec.reclaim_min_runtime_ms), 0, 0, NULL},
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
        fields_problem(in, &at, doc, "it is missing; a quota is of a project or of a department");
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
