/* decide_access.c - to whom a pool is dedicated: the names that an edit gives are checked, and no task loses its pool unasked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/must.h"
#include "base/str.h"
#include "core/decide/decide.h"
#include "core/decide/step.h"
#include "core/model/account.h"
#include "core/model/pool.h"
#include "core/model/reason.h"
#include "core/model/task.h"
#include "core/model/verdict.h"
#include "core/state/access.h"
#include "core/state/query.h"

#include <string.h>

static const char *guest_entry(struct arena *arena, const char *prefix, const char *name)
{
    char *entry = arena_alloc(arena, strlen(prefix) + strlen(name) + 1);
    memcpy(entry, prefix, strlen(prefix));
    memcpy(entry + strlen(prefix), name, strlen(name) + 1);
    return entry;
}

/* The entry with its kind in front. */
static enum verdict guest_resolve(struct step *step, const char *given, const char **ret)
{
    const struct core *core = step->core;
    enum account_kind kind;
    struct str behind;
    (void)str_cut(str_of(given), '/', &behind);
    if (behind.p != NULL) {
        const char *name = access_guest(given, &kind);
        if (query_account_named(core, kind, name) != NULL) {
            *ret = given;
            return VERDICT_OK;
        }
        step_refuse(step, REASON_UNKNOWN_GUEST, behind.p);
        return VERDICT_REFUSED;
    }
    const bool project = query_account_named(core, ACCOUNT_PROJECT, given) != NULL;
    const bool department = query_account_named(core, ACCOUNT_DEPARTMENT, given) != NULL;
    if (project == department) {
        step_refuse(step, project ? REASON_GUEST_UNCLEAR : REASON_UNKNOWN_GUEST, given);
        return VERDICT_REFUSED;
    }
    *ret = guest_entry(step->out->arena, project ? "project/" : "department/", given);
    return VERDICT_OK;
}

/* Entries that the object has already may name accounts that are gone. */
static bool guest_kept(const char *const *now, uint32_t now_count, const char *given)
{
    for (uint32_t i = 0; i < now_count; i++) {
        if (strcmp(now[i], given) == 0) {
            return true;
        }
    }
    return false;
}

enum verdict decide_access_guests(struct step *step, const char *const *now, uint32_t now_count,
                                  const char *const **names, uint32_t *name_count)
{
    const char **guests = arena_new(step->out->arena, const char *, *name_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < *name_count; i++) {
        const char *guest = (*names)[i];
        const enum verdict verdict =
            guest_kept(now, now_count, guest) ? VERDICT_OK : guest_resolve(step, guest, &guest);
        if (verdict != VERDICT_OK) {
            return verdict;
        }
        uint32_t at = count;
        while (at > 0 && strcmp(guests[at - 1], guest) > 0) {
            at--;
        }
        if (at > 0 && strcmp(guests[at - 1], guest) == 0) {
            continue;
        }
        memmove(&guests[at + 1], &guests[at], (count - at) * sizeof *guests);
        guests[at] = guest;
        count++;
    }
    *names = guests;
    *name_count = count;
    return VERDICT_OK;
}

uint32_t decide_access_turned_away(const struct core *core, const struct pool *pool,
                                   const struct pool_spec *spec, task_id *ret_first)
{
    uint32_t count = 0;
    if (spec->accepts == 0 && spec->access == ACCESS_PUBLIC) {
        return 0;
    }
    for (const struct task *task = query_task_next(core, (task_id){0}); task != NULL;
         task = query_task_next(core, task->id)) {
        if (task->pool.v == pool->id.v && !task->turned_away &&
            !access_spec_admits(core, spec, task)) {
            *ret_first = count == 0 ? task->id : *ret_first;
            count++;
        }
    }
    return count;
}
