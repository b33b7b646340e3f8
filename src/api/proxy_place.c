/* proxy_place.c - see proxy_place.h. SPDX-License-Identifier: Apache-2.0 */
#include "api/proxy_place.h"

#include "core/model/account.h"
#include "core/model/rollout.h"

#include <string.h>

/* Returns whether the name can be a part of an address: only letters, digits and "-_.", which a URL
 * contains as they are. */
static bool name_fits(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.p[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && strchr("-_.", c) == NULL) {
            return false;
        }
    }
    return name.len > 0 && !str_is(name, ".") && !str_is(name, "..");
}

/* Reads "12" (a task) or "12.3" (an instance of a task) into `p`. False: the text has another form,
 * and `p` is unchanged in its place and instance. */
static bool number_read(struct proxied *p, struct str name)
{
    struct str index = {NULL, 0};
    uint64_t number = 0;
    const struct str task = str_cut(name, '.', &index);
    if (!str_to_u64(task, &p->number.v) || p->number.v == 0 ||
        (index.p != NULL && (!str_to_u64(index, &number) || number > TASK_INSTANCES_MAX))) {
        return false;
    }
    p->task = p->number;
    p->index = index.p != NULL ? (int64_t)number : -1;
    p->place = arena_strn(http_request_arena(p->request), task.p, task.len);
    return true;
}

bool proxy_place_read(struct proxied *p)
{
    struct arena *arena = http_request_arena(p->request);
    const char *path = http_request_path(p->request);
    struct str rest;
    struct str after = {NULL, 0};
    p->index = -1;
    if (strncmp(path, PROXY_ROOT, strlen(PROXY_ROOT)) != 0) {
        return false;
    }
    const struct str first = str_cut(str_of(path + strlen(PROXY_ROOT)), '/', &rest);
    if (rest.p == NULL) {
        return false;
    }
    if (number_read(p, first)) {
        p->way.prefix = arena_fmt(arena, PROXY_ROOT "%.*s", (int)first.len, first.p);
        return true;
    }
    const struct str name = str_cut(rest, '/', &after);
    if (!name_fits(first) || !name_fits(name) || after.p == NULL) {
        return false;
    }
    p->project = arena_strn(arena, first.p, first.len);
    p->name = arena_strn(arena, name.p, name.len);
    p->place = arena_fmt(arena, "%s/%s", p->project, p->name);
    p->way.prefix = arena_fmt(arena, PROXY_ROOT "%s", p->place);
    /* the task gets the target without the prefix, so the target must begin with exactly this
     * prefix */
    return strncmp(http_request_target(p->request), p->way.prefix, strlen(p->way.prefix)) == 0;
}

static bool is_named(const struct core *core, const struct task *task, const char *name)
{
    struct arena arena;
    struct task_spec spec;
    arena_init(&arena);
    query_task_spec(core, task->id, &arena, &spec);
    const bool same = strcmp(spec.name, name) == 0;
    arena_done(&arena);
    return same;
}

/* Does an instance of the task take requests? */
static bool takes_requests(const struct core *core, const struct task *task)
{
    for (uint32_t i = 0; i < task->instance_count && task->active_count > 0; i++) {
        if (query_task_takes(core, task, query_instance(core, task->id, i))) {
            return true;
        }
    }
    return false;
}

bool proxy_place_find(struct proxied *p, const struct core *core)
{
    if (p->name == NULL) {
        const struct task *next = p->index < 0 && query_task(core, p->number) == NULL
                                      ? query_task_successor(core, p->number)
                                      : NULL;
        p->task = next != NULL ? next->id : p->number;
        return true;
    }
    const struct account *project = query_account_named(core, ACCOUNT_PROJECT, p->project);
    const struct task *found = NULL;
    const struct task *task = NULL;
    while (project != NULL &&
           (task = query_task_service_next(core, project->id, p->name,
                                           task != NULL ? task->id : (task_id){0})) != NULL) {
        if (!is_named(core, task, p->name)) {
            continue;
        }
        found = found != NULL ? found : task;
        if (takes_requests(core, task)) {
            found = task;
            break;
        }
    }
    p->task = found != NULL ? found->id : p->task;
    return found != NULL;
}

const char *proxy_place_of(const struct core *core, const struct task *task, struct arena *arena)
{
    uint64_t number;
    struct task_spec spec;
    if (task->kind != TASK_SERVICE) {
        return NULL;
    }
    query_task_spec(core, task->id, arena, &spec);
    const bool fits = name_fits(str_of(spec.name)) && !str_to_u64(str_of(spec.project), &number);
    return fits ? arena_fmt(arena, PROXY_ROOT "%s/%s/", spec.project, spec.name) : NULL;
}

/* The other task of the update of which the task is a part, if requests for the address are for both. NULL: only the task itself. An
 * address with a number is for both if the number is that of the first task. */
static const struct task *partner_of(const struct proxied *p, const struct core *core,
                                     const struct task *task)
{
    const struct rollout *rollout = query_task_rollout(core, task->rollout);
    if (rollout == NULL) {
        return NULL;
    }
    const bool is_from = rollout->from.v == task->id.v;
    const struct task *other = query_task(core, is_from ? rollout->to : rollout->from);
    const bool first =
        p->number.v == task->origin.v || (other != NULL && p->number.v == other->origin.v);
    return p->name != NULL || first ? other : NULL;
}

uint32_t proxy_place_count(const struct proxied *p, const struct core *core,
                           const struct task *task)
{
    const struct task *other = partner_of(p, core, task);
    return task->active_count + (other != NULL ? other->active_count : 0);
}

int64_t proxy_place_next(struct proxied *p, const struct core *core, const struct task *task)
{
    const struct task *other = partner_of(p, core, task);
    const uint32_t own = task->instance_count;
    const uint32_t all = own + (other != NULL ? other->instance_count : 0);
    for (uint32_t i = 0; i < all; i++) {
        const uint32_t at = (p->from + i) % all;
        const struct task *of = at < own ? task : other;
        const uint32_t index = at < own ? at : at - own;
        if (query_task_takes(core, of, query_instance(core, of->id, index))) {
            p->from = at + 1;
            p->task = of->id;
            return index;
        }
    }
    return -1;
}
