/* scenario_check.c - checks the references between parts of a scenario: names that must exist,
 * and names that must exist only once. A problem of a scenario file is reported with its place.
 * An exported state has no places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/scenario_check.h"

#include "base/map.h"
#include "base/must.h"
#include "core/model/pool.h"
#include "core/model/names.h"

enum { NAMES_TEXT_MAX = 200 };

const struct doc *scenario_check_item(const struct scenario *scenario, const char *list,
                                      size_t index)
{
    const struct doc *items = scenario->doc != NULL ? doc_get(scenario->doc, list) : NULL;
    const struct doc *item = items != NULL && items->kind == DOC_LIST ? items->first : NULL;
    for (; item != NULL && index > 0; index--) {
        item = item->next;
    }
    return item;
}

const struct doc *scenario_check_item_named(const struct scenario *scenario, const char *list,
                                            const char *name)
{
    size_t index = 0;
    for (const struct doc *item; (item = scenario_check_item(scenario, list, index)) != NULL;
         index++) {
        const struct doc *given = item->kind == DOC_MAP ? doc_get(item, "name") : NULL;
        if (given != NULL && str_is(given->text, name)) {
            return item;
        }
    }
    return NULL;
}

const struct doc *scenario_check_value(const struct doc *map, const char *key)
{
    const struct doc *value = map != NULL && map->kind == DOC_MAP ? doc_get(map, key) : NULL;
    return value != NULL ? value : map;
}

enum err scenario_check_fail_in(const struct scenario *scenario, const struct doc *doc,
                                struct error *e)
{
    return doc == NULL ? ERR_INVALID
                       : fail_in(e, "%s:%u:%u", scenario->file, doc->line, doc->column);
}

/* A list "a, b, c", cut where the room ends. */
struct names {
    char text[NAMES_TEXT_MAX];
    size_t len;
    bool cut;
};

static void names_add(struct names *names, const char *name)
{
    const int len = snprintf(names->text + names->len, sizeof names->text - names->len, "%s%s",
                             names->len > 0 ? ", " : "", name);
    must(len >= 0);
    names->cut = names->cut || (size_t)len >= sizeof names->text - names->len;
    if (names->cut) {
        names->text[names->len] = '\0';
    } else {
        names->len += (size_t)len;
    }
}

static enum err unknown(const struct names *names, const char *what, const char *name,
                        struct error *e)
{
    return fail(e, ERR_INVALID, "there is no %s '%s'; there are: %s%s", what, name, names->text,
                names->cut ? " and more" : "");
}

/* ---- nodes ---- */

static must_use enum err nodes_check(const struct scenario *scenario, struct error *e)
{
    struct map *seen = map_new();
    enum err r = ERR_OK;
    for (size_t i = 0; r == ERR_OK && i < scenario->nodes.count; i++) {
        const struct cluster_node *node = &scenario->nodes.at[i];
        if (map_put(seen, node->spec.name, strlen(node->spec.name), (void *)(uintptr_t)1) != NULL) {
            r = fail(e, ERR_INVALID, "two nodes are named '%s'; each has a name of its own",
                     node->spec.name);
            r = scenario_check_fail_in(scenario, scenario_check_value(node->doc, "name"), e);
        }
    }
    map_free(seen);
    return r;
}

/* ---- accounts ---- */

static const struct account_spec *account_find(const struct scenario *scenario,
                                               enum account_kind kind, const char *name)
{
    for (size_t i = 0; i < scenario->accounts.count; i++) {
        const struct account_spec *spec = &scenario->accounts.at[i];
        if (spec->kind == kind && strcmp(spec->name, name) == 0) {
            return spec;
        }
    }
    return NULL;
}

static enum err department_unknown(const struct scenario *scenario, const char *name,
                                   struct error *e)
{
    struct names names = {0};
    if (account_find(scenario, ACCOUNT_DEPARTMENT, ACCOUNT_DEFAULT_NAME) == NULL) {
        names_add(&names, ACCOUNT_DEFAULT_NAME);
    }
    for (size_t i = 0; i < scenario->accounts.count; i++) {
        if (scenario->accounts.at[i].kind == ACCOUNT_DEPARTMENT) {
            names_add(&names, scenario->accounts.at[i].name);
        }
    }
    return unknown(&names, "department", name, e);
}

/* Walks from `spec` up to a top department. A department that leads into a cycle without being
 * part of it passes; the departments of the cycle are reported themselves. */
static enum err parents_check(const struct scenario *scenario, const struct account_spec *spec,
                              struct error *e)
{
    const struct account_spec *at = spec;
    for (size_t steps = 0; at->parent[0] != '\0' && steps <= scenario->accounts.count; steps++) {
        const struct account_spec *above = account_find(scenario, ACCOUNT_DEPARTMENT, at->parent);
        if (above == NULL) {
            const bool known = strcmp(at->parent, ACCOUNT_DEFAULT_NAME) == 0 || at != spec;
            return known ? ERR_OK : department_unknown(scenario, at->parent, e);
        }
        if (above == spec) {
            return fail(e, ERR_INVALID, "department '%s' would lie below itself: a cycle",
                        spec->name);
        }
        at = above;
    }
    return ERR_OK;
}

static must_use enum err accounts_check(const struct scenario *scenario, struct error *e)
{
    for (size_t i = 0; i < scenario->accounts.count; i++) {
        const struct account_spec *spec = &scenario->accounts.at[i];
        if (parents_check(scenario, spec, e) != ERR_OK) {
            const bool project = spec->kind == ACCOUNT_PROJECT;
            const struct doc *item = scenario_check_item_named(
                scenario, project ? "projects" : "departments", spec->name);
            const struct doc *at = scenario_check_value(item, project ? "department" : "parent");
            return scenario_check_fail_in(scenario, at, e);
        }
    }
    return ERR_OK;
}

/* ---- quotas ---- */

static bool project_of_jobs(const struct scenario *scenario, const char *name)
{
    for (size_t i = 0; i < scenario->jobs.count; i++) {
        if (strcmp(scenario->jobs.at[i].kind->spec.project, name) == 0) {
            return true;
        }
    }
    return false;
}

static enum err owner_check(const struct scenario *scenario, const struct quota_body *quota,
                            struct error *e)
{
    if (strcmp(quota->account, ACCOUNT_DEFAULT_NAME) == 0 ||
        account_find(scenario, quota->kind, quota->account) != NULL) {
        return ERR_OK;
    }
    if (quota->kind == ACCOUNT_DEPARTMENT) {
        return department_unknown(scenario, quota->account, e);
    }
    if (project_of_jobs(scenario, quota->account)) {
        return ERR_OK;
    }
    struct names names = {0};
    names_add(&names, ACCOUNT_DEFAULT_NAME);
    for (size_t i = 0; i < scenario->accounts.count; i++) {
        const struct account_spec *spec = &scenario->accounts.at[i];
        if (spec->kind == ACCOUNT_PROJECT && strcmp(spec->name, ACCOUNT_DEFAULT_NAME) != 0) {
            names_add(&names, spec->name);
        }
    }
    return unknown(&names, "project", quota->account, e);
}

static enum err pool_check(const struct scenario *scenario, const char *name, struct error *e)
{
    struct names names = {0};
    names_add(&names, POOL_DEFAULT_NAME);
    bool found = strcmp(name, POOL_DEFAULT_NAME) == 0;
    for (size_t i = 0; i < scenario->pools.count; i++) {
        const char *known = scenario->pools.at[i].name;
        found = found || strcmp(known, name) == 0;
        if (strcmp(known, POOL_DEFAULT_NAME) != 0) {
            names_add(&names, known);
        }
    }
    return found ? ERR_OK : unknown(&names, "pool", name, e);
}

static must_use enum err quotas_check(const struct scenario *scenario, struct error *e)
{
    for (size_t i = 0; i < scenario->quotas.count; i++) {
        const struct quota_body *quota = scenario->quotas.at[i];
        const char *key = names_account_kind(quota->kind);
        enum err r = owner_check(scenario, quota, e);
        if (r == ERR_OK) {
            key = "pool";
            r = pool_check(scenario, quota->pool, e);
        }
        if (r != ERR_OK) {
            (void)fail_in(e, "quotas[%zu].%s", i, key);
            const struct doc *item = scenario_check_item(scenario, "quotas", i);
            return scenario_check_fail_in(scenario, scenario_check_value(item, key), e);
        }
    }
    return ERR_OK;
}

/* ---- order of jobs ---- */

static const struct doc *after_place(const struct job_kind *kind, uint32_t index)
{
    const struct doc *place = kind->after_doc;
    if (place != NULL && place->kind == DOC_LIST) {
        place = place->first;
        for (; index > 0; index--) {
            place = place->next;
        }
    }
    return place;
}

/* Jobs are already sorted in the order of their submission. */
static must_use enum err after_check(const struct scenario *scenario, struct error *e)
{
    struct map *before = map_new();
    enum err r = ERR_OK;
    for (size_t i = 0; r == ERR_OK && i < scenario->jobs.count; i++) {
        const struct job *job = &scenario->jobs.at[i];
        for (uint32_t k = 0; r == ERR_OK && k < job->kind->after_count; k++) {
            const char *name = job->kind->after[k];
            if (map_get(before, name, strlen(name)) == NULL) {
                r = fail(e, ERR_INVALID,
                         "task '%s' comes after '%s', and no task of that name is submitted before "
                         "it",
                         job->name, name);
                r = scenario_check_fail_in(scenario, after_place(job->kind, k), e);
            }
        }
        if (job->name[0] != '\0') {
            (void)map_put(before, job->name, strlen(job->name), (void *)(uintptr_t)1);
        }
    }
    map_free(before);
    return r;
}

/* ---- events ---- */

static bool is_node_act(enum action_type type)
{
    return type <= ACTION_JOIN;
}

static bool is_task_act(enum action_type type)
{
    return type >= ACTION_KILL && type <= ACTION_PRIORITY;
}

static must_use enum err target_unknown(const struct scenario *scenario,
                                        const struct scenario_action *action, struct error *e)
{
    struct names names = {0};
    if (is_node_act(action->type)) {
        for (size_t i = 0; i < scenario->nodes.count; i++) {
            names_add(&names, scenario->nodes.at[i].spec.name);
        }
    }
    if (names.len > 0) {
        (void)unknown(&names, "node", action->target, e);
    } else {
        (void)fail(e, ERR_INVALID, "there is no %s '%s' in this scenario",
                   is_node_act(action->type) ? "node" : "task", action->target);
    }
    return fail_in(e, "%s:%u:%u: events", scenario->file, action->line, action->column);
}

/* Checks that nodes and tasks of events exist somewhere in the scenario. Whether they exist in
 * time shows during the run. */
static must_use enum err events_check(const struct scenario *scenario, struct error *e)
{
    enum err r = ERR_OK;
    struct map *nodes = map_new();
    struct map *tasks = map_new();
    for (size_t i = 0; i < scenario->nodes.count; i++) {
        const char *name = scenario->nodes.at[i].spec.name;
        (void)map_put(nodes, name, strlen(name), (void *)(uintptr_t)1);
    }
    for (size_t i = 0; scenario->names_needed && i < scenario->jobs.count; i++) {
        const char *name = scenario->jobs.at[i].name;
        if (name[0] != '\0') {
            (void)map_put(tasks, name, strlen(name), (void *)(uintptr_t)1);
        }
    }
    for (size_t i = 0; r == ERR_OK && i < scenario->actions.count; i++) {
        const struct scenario_action *action = &scenario->actions.at[i];
        const bool named = is_node_act(action->type) || is_task_act(action->type);
        const struct map *known = is_node_act(action->type) ? nodes : tasks;
        if (named && map_get(known, action->target, strlen(action->target)) == NULL) {
            r = target_unknown(scenario, action, e);
        }
    }
    map_free(nodes);
    map_free(tasks);
    return r;
}

enum err scenario_check(const struct scenario *scenario, struct error *e)
{
    enum err r = nodes_check(scenario, e);
    r = r == ERR_OK ? accounts_check(scenario, e) : r;
    r = r == ERR_OK ? quotas_check(scenario, e) : r;
    r = r == ERR_OK ? events_check(scenario, e) : r;
    return r == ERR_OK && scenario->names_needed ? after_check(scenario, e) : r;
}
