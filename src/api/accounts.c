/* accounts.c - what objects.c needs to know of departments and projects (/departments, /projects).
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/named.h"
#include "api/objects.h"
#include "spec/account_spec.h"
#include "wire/state_json.h"

static const enum account_kind department = ACCOUNT_DEPARTMENT;
static const enum account_kind project = ACCOUNT_PROJECT;

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

static const char *account_name(const struct core *core, uint64_t key)
{
    return query_account_name(core, (account_id){(uint32_t)key});
}

static uint64_t account_find(struct call *call, enum account_kind kind, const char *name)
{
    const struct account *account = named_account(call, "", kind, name);
    return account != NULL ? account->id.v : 0;
}

static uint64_t department_find(struct call *call, const char *name)
{
    return account_find(call, ACCOUNT_DEPARTMENT, name);
}

static uint64_t project_find(struct call *call, const char *name)
{
    return account_find(call, ACCOUNT_PROJECT, name);
}

static enum err account_read(struct call *call, const struct doc *body, enum account_kind kind,
                             uint64_t key, struct input *ret, struct error *e)
{
    struct account_spec *spec = arena_new(call_arena(call), struct account_spec, 1);
    const account_id id = {(uint32_t)key};
    *ret = (struct input){.type = INPUT_ACCOUNT_SET, .account = {.account = id, .spec = spec}};
    if (key == 0) {
        return account_spec_read(body, kind, call_arena(call), spec, e);
    }
    query_account_spec(call_core(call), id, call_arena(call), spec);
    return account_spec_patch(body, call_arena(call), spec, e);
}

static enum err department_read(struct call *call, const struct doc *body, uint64_t key,
                                struct input *ret, struct error *e)
{
    return account_read(call, body, ACCOUNT_DEPARTMENT, key, ret, e);
}

static enum err project_read(struct call *call, const struct doc *body, uint64_t key,
                             struct input *ret, struct error *e)
{
    return account_read(call, body, ACCOUNT_PROJECT, key, ret, e);
}

static uint64_t account_made(const struct core *core, const struct input *in)
{
    return query_account_named(core, in->account.spec->kind, in->account.spec->name)->id.v;
}

static struct input account_gone(uint64_t key)
{
    return (struct input){.type = INPUT_ACCOUNT_DELETE, .account = {.account = {(uint32_t)key}}};
}

const struct objects_kind accounts_departments = {
    .word = "departments",
    .question = "department",
    .filter = &department,
    .source = {account_next, account_write},
    .name = account_name,
    .find = department_find,
    .read = department_read,
    .made = account_made,
    .gone = account_gone,
};

const struct objects_kind accounts_projects = {
    .word = "projects",
    .question = "project",
    .filter = &project,
    .source = {account_next, account_write},
    .name = account_name,
    .find = project_find,
    .read = project_read,
    .made = account_made,
    .gone = account_gone,
};
