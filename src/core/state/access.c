/* access.c - see access.h. SPDX-License-Identifier: Apache-2.0 */
#include "core/state/access.h"

#include "base/buf.h"
#include "base/must.h"
#include "base/str.h"
#include "core/model/account.h"
#include "core/model/blob.h"
#include "core/model/limits.h"
#include "core/model/names.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/fallback.h"
#include "core/state/query.h"
#include "core/state/state.h"

#include <string.h>

static const char project_prefix[] = "project/";
static const char department_prefix[] = "department/";

const char *access_guest(const char *entry, enum account_kind *ret_kind)
{
    *ret_kind = ACCOUNT_PROJECT;
    if (strncmp(entry, project_prefix, sizeof project_prefix - 1) == 0) {
        return entry + sizeof project_prefix - 1;
    }
    *ret_kind = ACCOUNT_DEPARTMENT;
    return strncmp(entry, department_prefix, sizeof department_prefix - 1) == 0
               ? entry + sizeof department_prefix - 1
               : ""; /* only damaged bytes have such an entry */
}

bool access_guest_is(const struct core *core, const char *entry, account_id project)
{
    enum account_kind kind;
    const char *name = access_guest(entry, &kind);
    for (const struct account *account = query_account(core, project); account != NULL;
         account = query_account(core, account->parent)) {
        if ((enum account_kind)account->kind == kind &&
            strcmp(query_account_name(core, account->id), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool kind_accepted(uint32_t accepts, enum task_kind kind)
{
    return accepts == 0 || (accepts >> kind & 1) != 0;
}

static bool project_admitted(const struct core *core, const struct pool *pool, account_id project)
{
    const struct str names = blob_bytes(pool->guests);
    for (const char *entry = names.p; entry < names.p + names.len; entry += strlen(entry) + 1) {
        if (access_guest_is(core, entry, project)) {
            return true;
        }
    }
    return pool->access != ACCESS_DEDICATED;
}

bool access_admits(const struct core *core, const struct pool *pool, enum task_kind kind,
                   account_id project, struct reason *ret)
{
    ret->pool = pool->id;
    if (!kind_accepted(pool->accepts, kind)) {
        ret->code = REASON_KIND_NOT_ACCEPTED;
        must(str_copy(ret->text, sizeof ret->text, names_task_kind(kind)));
        return false;
    }
    if (!project_admitted(core, pool, project)) {
        ret->code = REASON_NOT_ADMITTED;
        ret->account = project;
        return false;
    }
    return true;
}

bool access_open(const struct core *core, const struct pool *pool, enum task_kind kind,
                 account_id project)
{
    struct reason reason;
    return pool->life.phase == PHASE_OPEN && access_admits(core, pool, kind, project, &reason);
}

bool access_spec_admits(const struct core *core, const struct pool_spec *spec,
                        const struct task *task)
{
    bool admitted = spec->access != ACCESS_DEDICATED;
    for (uint32_t i = 0; i < spec->guest_count && !admitted; i++) {
        admitted = access_guest_is(core, spec->guests[i], task->account);
    }
    return admitted && kind_accepted(spec->accepts, (enum task_kind)task->kind);
}

void access_task_set(const struct core *core, struct task *task)
{
    struct reason reason;
    const struct pool *pool = query_pool(core, task->pool);
    task->turned_away = pool != NULL && !access_admits(core, pool, (enum task_kind)task->kind,
                                                       task->account, &reason);
}

static bool is_below(const struct core *core, account_id id, account_id above)
{
    while (id.v != 0 && id.v != above.v) {
        id = query_account(core, id)->parent;
    }
    return id.v != 0;
}

/* Looks at every task of the server. Such a move is rare. */
void access_account_moved(struct core *core, account_id id)
{
    for (uint64_t at = table_next(&core->tasks, 0); at != 0; at = table_next(&core->tasks, at)) {
        const struct task *now = query_task(core, (task_id){at});
        if (is_below(core, now->account, id)) {
            struct task_mark mark;
            struct task *task = change_task_open(core, now->id, &mark);
            fallback_admit(core, task);
            access_task_set(core, task);
            change_task_close(core, task, &mark);
        }
    }
}

static struct blob *guests_blob(const struct pool_spec *spec)
{
    struct buf names;
    buf_init(&names, POOL_GUESTS_MAX * (GUEST_LEN_MAX + 1));
    for (uint32_t i = 0; i < spec->guest_count; i++) {
        buf_add(&names, spec->guests[i], strlen(spec->guests[i]) + 1);
    }
    must(!names.full);
    struct blob *made = names.len > 0 ? blob_new(names.data, names.len) : NULL;
    buf_done(&names);
    return made;
}

static bool same_bytes(const struct blob *one, const struct blob *other)
{
    const struct str a = blob_bytes(one);
    const struct str b = blob_bytes(other);
    return a.len == b.len && memcmp(a.p, b.p, a.len) == 0;
}

/* Looks at every task of the server. Such an edit is rare. */
static void tasks_judge(struct core *core, pool_id pool)
{
    for (uint64_t id = table_next(&core->tasks, 0); id != 0; id = table_next(&core->tasks, id)) {
        const struct task *now = query_task(core, (task_id){id});
        if (fallback_names(core, now, pool)) {
            struct task_mark mark;
            struct task *task = change_task_open(core, now->id, &mark);
            fallback_admit(core, task);
            access_task_set(core, task);
            change_task_close(core, task, &mark);
        }
    }
}

void access_pool_set(struct core *core, pool_id id, const struct pool_spec *spec)
{
    struct pool *pool = change_pool_edit(core, id);
    struct blob *guests = guests_blob(spec);
    const bool same = pool->accepts == spec->accepts && pool->access == (uint32_t)spec->access &&
                      same_bytes(pool->guests, guests);
    blob_unref(pool->guests);
    pool->guests = guests;
    pool->accepts = spec->accepts;
    pool->access = spec->access;
    if (!same && (pool->task_count > 0 || core->fallbacks.count > 0)) {
        tasks_judge(core, id);
    }
}
