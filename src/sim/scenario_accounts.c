/* scenario_accounts.c - departments, projects and quotas of a scenario file, written as in the
 * server file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_internal.h"

#include "spec/account_spec.h"

static enum err account_read(const struct doc_value *item, enum account_kind kind,
                             struct scenario *scenario, struct error *e)
{
    struct account_spec spec;
    enum err r = account_spec_read(item->doc, kind, item->in->arena, &spec, e);
    if (r == ERR_OK) {
        vec_push(&scenario->accounts, spec);
    }
    return r;
}

static enum err department_read(const struct doc_value *item, struct scenario *scenario,
                                struct error *e)
{
    return account_read(item, ACCOUNT_DEPARTMENT, scenario, e);
}

static enum err project_read(const struct doc_value *item, struct scenario *scenario,
                             struct error *e)
{
    return account_read(item, ACCOUNT_PROJECT, scenario, e);
}

static enum err quota_read(const struct doc_value *item, struct scenario *scenario, struct error *e)
{
    struct quota_body *body = arena_new(item->in->arena, struct quota_body, 1);
    quota_spec_body_init(body);
    enum err r = quota_spec_body_read(item->doc, item->in->arena, body, e);
    if (r == ERR_OK) {
        vec_push(&scenario->quotas, body);
    }
    return r;
}

void scenario_accounts_departments(const struct doc_value *v, void *object)
{
    scenario_file_objects(v, object, department_read);
}

void scenario_accounts_projects(const struct doc_value *v, void *object)
{
    scenario_file_objects(v, object, project_read);
}

void scenario_accounts_quotas(const struct doc_value *v, void *object)
{
    scenario_file_objects(v, object, quota_read);
}
