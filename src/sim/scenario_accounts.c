/* scenario_accounts.c - departments, projects and quotas of a scenario file, written as in the
 * server file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_internal.h"

#include "spec/account_spec.h"

static void accounts_read(struct reader *in, const struct doc_place *place, const struct doc *doc,
                          enum account_kind kind, struct scenario *scenario)
{
    if (!scenario_file_list(in, place, doc)) {
        return;
    }
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        struct account_spec spec;
        struct error e;
        if (account_spec_read(item, kind, in->arena, &spec, &e) != ERR_OK) {
            scenario_file_problem(in, &at, item, &e);
        } else {
            vec_push(&scenario->accounts, spec);
        }
    }
}

void scenario_accounts_departments(struct reader *in, const struct doc_place *place,
                                   const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    accounts_read(in, place, doc, ACCOUNT_DEPARTMENT, ((struct scenario_draft *)object)->scenario);
}

void scenario_accounts_projects(struct reader *in, const struct doc_place *place,
                                const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    accounts_read(in, place, doc, ACCOUNT_PROJECT, ((struct scenario_draft *)object)->scenario);
}

void scenario_accounts_quotas(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object)
{
    (void)field;
    struct scenario *scenario = ((struct scenario_draft *)object)->scenario;
    if (!scenario_file_list(in, place, doc)) {
        return;
    }
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        struct quota_body *body = arena_new(in->arena, struct quota_body, 1);
        struct error e;
        quota_spec_body_init(body);
        if (quota_spec_body_read(item, in->arena, body, &e) != ERR_OK) {
            scenario_file_problem(in, &at, item, &e);
        } else {
            vec_push(&scenario->quotas, body);
        }
    }
}
