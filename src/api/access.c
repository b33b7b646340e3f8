/* access.c - whose object, and who reaches it. Knows no route and no request, so that tests can make
 * up principals that no token gives yet.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/access.h"

#include "base/must.h"
#include "base/str.h"

struct access_principal access_principal_of(enum token_scope scope, const char *name)
{
    switch (scope) {
    case SCOPE_ADMIN:
    case SCOPE_READ:
        return (struct access_principal){.reach = ACCESS_SERVER, .user = name};
    case SCOPE_NODE:
    case SCOPE_JOIN:
        return (struct access_principal){.reach = ACCESS_OWN, .user = name};
    case SCOPE_SESSION: /* never a principal's scope: the scope of the session's token is */
        break;
    }
    return (struct access_principal){.reach = ACCESS_NOBODY};
}

/* Of a task: its user, its project and the project's department. */
static void owners_of_task(const struct core *core, const char *param, struct access_object *object)
{
    uint64_t id;
    const struct task *task =
        str_to_u64(str_of(param), &id) ? query_task(core, (task_id){id}) : NULL;
    if (task == NULL) {
        return;
    }
    const struct account *project = query_account(core, task->account);
    must(project != NULL); /* every task is in a project */
    object->user = query_usage_user_name(core, task->user);
    object->project = query_account_name(core, project->id);
    object->department = query_account_name(core, project->parent);
}

static void owners_of_project(const struct core *core, const char *param,
                              struct access_object *object)
{
    const struct account *project = query_account_named(core, ACCOUNT_PROJECT, param);
    if (project != NULL) {
        object->project = query_account_name(core, project->id);
        object->department = query_account_name(core, project->parent);
    }
}

static void owners_of_department(const struct core *core, const char *param,
                                 struct access_object *object)
{
    const struct account *department = query_account_named(core, ACCOUNT_DEPARTMENT, param);
    if (department != NULL) {
        object->department = query_account_name(core, department->id);
    }
}

struct access_object access_object_of(const struct core *core, enum access_whose whose,
                                      const char *param, const struct access_principal *principal)
{
    struct access_object object = {.whose = whose};
    switch (whose) {
    case ACCESS_NOBODY:
    case ACCESS_SERVER:
        break;
    case ACCESS_OWN:
        if (param != NULL) {
            owners_of_task(core, param, &object);
        } else {
            object.user = principal->user;
        }
        break;
    case ACCESS_PROJECT:
        if (param != NULL) {
            owners_of_project(core, param, &object);
        }
        break;
    case ACCESS_DEPARTMENT:
        if (param != NULL) {
            owners_of_department(core, param, &object);
        }
        break;
    }
    return object;
}

static bool same(const char *a, const char *b)
{
    return a != NULL && b != NULL && *a != '\0' && strcmp(a, b) == 0;
}

bool access_reaches(const struct access_principal *principal, const struct access_object *object)
{
    if (principal->reach == ACCESS_SERVER || object->whose == ACCESS_NOBODY) {
        return true;
    }
    if (principal->reach == ACCESS_NOBODY || object->whose == ACCESS_SERVER) {
        return false;
    }
    /* A project's object has no user, so a principal with its own objects alone is refused here. */
    return same(principal->user, object->user) ||
           (principal->reach == ACCESS_PROJECT && same(principal->project, object->project)) ||
           (principal->reach == ACCESS_DEPARTMENT &&
            same(principal->department, object->department));
}
