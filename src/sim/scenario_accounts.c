/* scenario_accounts.c - departments, projects and quotas of a scenario file, written as in the
 * server file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_internal.h"

#include "spec/account_spec.h"

static void accounts_read(const struct doc_value *v, enum account_kind kind,
                          struct scenario *scenario)
{
    if (!scenario_file_list(v)) {
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct account_spec spec;
        struct error e;
        if (account_spec_read(item.doc, kind, v->in->arena, &spec, &e) != ERR_OK) {
            scenario_file_problem(&item, &e);
        } else {
            vec_push(&scenario->accounts, spec);
        }
    }
}

void scenario_accounts_departments(const struct doc_value *v, void *object)
{
    accounts_read(v, ACCOUNT_DEPARTMENT, ((struct scenario_draft *)object)->scenario);
}

void scenario_accounts_projects(const struct doc_value *v, void *object)
{
    accounts_read(v, ACCOUNT_PROJECT, ((struct scenario_draft *)object)->scenario);
}

void scenario_accounts_quotas(const struct doc_value *v, void *object)
{
    struct scenario *scenario = ((struct scenario_draft *)object)->scenario;
    if (!scenario_file_list(v)) {
        return;
    }
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        struct quota_body *body = arena_new(v->in->arena, struct quota_body, 1);
        struct error e;
        quota_spec_body_init(body);
        if (quota_spec_body_read(item.doc, v->in->arena, body, &e) != ERR_OK) {
            scenario_file_problem(&item, &e);
        } else {
            vec_push(&scenario->quotas, body);
        }
    }
}
