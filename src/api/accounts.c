/* accounts.c - /departments and /projects: list, show, create, edit, delete.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/body.h"
#include "api/handlers.h"
#include "api/named.h"
#include "api/page.h"
#include "api/preview.h"
#include "spec/account_spec.h"
#include "wire/state_json.h"

static void account_answer(struct call *call, unsigned status, const struct account *account)
{
    struct json_out j;
    call_json(call, &j);
    state_json_account(&j, call_core(call), account, call_arena(call));
    call_answer_json(call, status);
}

/* The account that the path names. NULL: the call was answered with 404. */
static const struct account *account_of(struct call *call, enum account_kind kind)
{
    return named_account(call, "", kind, call->params[0]);
}

/* `filter` is the kind of account. */
static uint64_t account_next(const struct core *core, const void *filter, uint64_t after)
{
    const enum account_kind *kind = filter;
    const struct account *account = query_account_next(core, (account_id){(uint32_t)after});
    while (account != NULL && account->kind != *kind) {
        account = query_account_next(core, account->id);
    }
    return account != NULL ? account->id.v : 0;
}

static void account_write(struct json_out *j, const struct core *core, uint64_t key,
                          struct arena *arena)
{
    state_json_account(j, core, query_account(core, (account_id){(uint32_t)key}), arena);
}

static void accounts_list(struct call *call, enum account_kind kind)
{
    static const struct page_source source = {account_next, account_write};
    page_answer(call, names_account_kind(kind), &source, &kind);
}

static void account_show(struct call *call, enum account_kind kind)
{
    const struct account *account = account_of(call, kind);
    if (account != NULL) {
        account_answer(call, 200, account);
    }
}

static void account_create(struct call *call, enum account_kind kind)
{
    const struct doc *body;
    struct account_spec spec;
    struct error e;
    struct facts facts;
    if (!body_read(call, &body)) {
        return;
    }
    if (account_spec_read(body, kind, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        account_answer(call, 201, query_account_named(call_core(call), kind, spec.name));
    }
}

static void account_edit(struct call *call, enum account_kind kind)
{
    const struct account *account = account_of(call, kind);
    const struct doc *body;
    struct account_spec spec;
    struct error e;
    struct facts facts;
    if (account == NULL || !body_read(call, &body)) {
        return;
    }
    account_id id = account->id;
    query_account_spec(call_core(call), id, call_arena(call), &spec);
    if (account_spec_patch(body, call_arena(call), &spec, &e) != ERR_OK) {
        call_fail(call, &e);
        return;
    }
    struct input in = {.type = INPUT_ACCOUNT_SET, .account = {.account = id, .spec = &spec}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        account_answer(call, 200, query_account(call_core(call), id));
    }
}

static void account_delete(struct call *call, enum account_kind kind)
{
    struct facts facts;
    const struct account *account = account_of(call, kind);
    if (account == NULL) {
        return;
    }
    struct input in = {.type = INPUT_ACCOUNT_DELETE, .account = {.account = account->id}};
    if (!preview_answered(call, &in) && call_input(call, &in, &facts)) {
        call_answer(call, 204, NULL);
    }
}

void accounts_department_list(struct call *call)
{
    accounts_list(call, ACCOUNT_DEPARTMENT);
}

void accounts_department_show(struct call *call)
{
    account_show(call, ACCOUNT_DEPARTMENT);
}

void accounts_department_create(struct call *call)
{
    account_create(call, ACCOUNT_DEPARTMENT);
}

void accounts_department_edit(struct call *call)
{
    account_edit(call, ACCOUNT_DEPARTMENT);
}

void accounts_department_delete(struct call *call)
{
    account_delete(call, ACCOUNT_DEPARTMENT);
}

void accounts_project_list(struct call *call)
{
    accounts_list(call, ACCOUNT_PROJECT);
}

void accounts_project_show(struct call *call)
{
    account_show(call, ACCOUNT_PROJECT);
}

void accounts_project_create(struct call *call)
{
    account_create(call, ACCOUNT_PROJECT);
}

void accounts_project_edit(struct call *call)
{
    account_edit(call, ACCOUNT_PROJECT);
}

void accounts_project_delete(struct call *call)
{
    account_delete(call, ACCOUNT_PROJECT);
}
