/* server_refs.c - see server_refs.h. SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_refs.h"

#include <stddef.h>
#include <string.h>

/* Files are read once and have at most POOLS_MAX pools, so comparing all pairs is cheap enough. */
const void *server_refs_find(const void *specs, uint32_t count, size_t size, size_t name_offset,
                             const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *spec = (const char *)specs + i * size;
        if (strcmp(*(const char *const *)(spec + name_offset), name) == 0) {
            return spec;
        }
    }
    return NULL;
}

#define FIND(specs, count, what)                                                                   \
    server_refs_find((specs), (count), sizeof *(specs), offsetof(__typeof__(*(specs)), name),      \
                     (what))

static const struct account_spec *department_find(const struct server_file *file, const char *name)
{
    return FIND(file->departments, file->department_count, name);
}

static bool department_known(const struct server_file *file, const char *name)
{
    return name[0] == '\0' || strcmp(name, ACCOUNT_DEFAULT_NAME) == 0 ||
           department_find(file, name) != NULL;
}

static bool project_known(const struct server_file *file, const char *name)
{
    return strcmp(name, ACCOUNT_DEFAULT_NAME) == 0 ||
           FIND(file->projects, file->project_count, name) != NULL;
}

/* The pool `default` always exists. */
static bool pool_known(const struct server_file *file, const char *name)
{
    return strcmp(name, "default") == 0 || FIND(file->pools, file->pool_count, name) != NULL;
}

/* Notes that the field `key` refers to a thing that the file does not declare. */
static void undeclared(const struct doc_value *map, const char *key, const char *what,
                       const char *name)
{
    fields_problem_in(map, key, "no %s '%s' is declared under %ss", what, name, what);
}

/* True when a department is its own ancestor. */
static bool in_cycle(const struct server_file *file, const struct account_spec *from)
{
    const struct account_spec *at = from;
    for (uint32_t steps = 0; at != NULL && steps <= file->department_count; steps++) {
        at = department_find(file, at->parent);
        if (at == from) {
            return true;
        }
    }
    return false;
}

static void department_check(const struct doc_value *v, const struct server_file *file)
{
    const struct account_spec *spec = &file->departments[v->index];
    if (!department_known(file, spec->parent)) {
        undeclared(v, "parent", "department", spec->parent);
    } else if (in_cycle(file, spec)) {
        fields_problem_in(v, "parent", "department '%s' would lie below itself", spec->name);
    } else if (strcmp(spec->name, ACCOUNT_DEFAULT_NAME) == 0 && spec->parent[0] != '\0') {
        fields_problem_in(v, "parent", "department '%s' is always at the top", spec->name);
    }
}

static void project_check(const struct doc_value *v, const struct server_file *file)
{
    const struct account_spec *spec = &file->projects[v->index];
    if (!department_known(file, spec->parent)) {
        undeclared(v, "department", "department", spec->parent);
    }
}

static void pool_check(const struct doc_value *v, const struct server_file *file)
{
    const char *name = file->pools[v->index].flavor;
    const struct flavor_spec *flavor = FIND(file->flavors, file->flavor_count, name);
    if (name[0] != '\0' && flavor == NULL) {
        undeclared(v, "flavor", "flavor", name);
    } else if (flavor != NULL && flavor->provider != file->pools[v->index].provider) {
        fields_problem_in(v, "flavor", "flavor '%s' is of another provider than the pool", name);
    }
    const char *network = file->pools[v->index].network;
    if (network[0] != '\0' && !network_built_in(network) &&
        FIND(file->networks, file->network_count, network) == NULL) {
        undeclared(v, "network", "network", network);
    }
}

static void quota_check(const struct doc_value *v, const struct server_file *file)
{
    const struct quota_body *quota = &file->quotas[v->index];
    const bool project = quota->kind == ACCOUNT_PROJECT;
    const char *kind = project ? "project" : "department";
    if (!(project ? project_known : department_known)(file, quota->account)) {
        undeclared(v, kind, kind, quota->account);
    }
    if (!pool_known(file, quota->pool)) {
        undeclared(v, "pool", "pool", quota->pool);
    }
    for (uint32_t i = 0; i < v->index; i++) {
        const struct quota_body *other = &file->quotas[i];
        if (other->kind == quota->kind && strcmp(other->account, quota->account) == 0 &&
            strcmp(other->pool, quota->pool) == 0) {
            fields_problem_in(v, "pool", "a second quota of '%s' in this pool", quota->account);
            return;
        }
    }
}

static void default_check(const struct doc_value *v, const struct server_file *file,
                          const char *key, const char *name)
{
    const struct doc_value defaults = fields_child(v, "defaults");
    if (fields_given(&defaults, key) != NULL && !pool_known(file, name)) {
        undeclared(&defaults, key, "pool", name);
    }
}

void server_refs_check(const struct doc_value *v, const struct server_file *file)
{
    static const struct {
        const char *list;
        void (*check)(const struct doc_value *item, const struct server_file *file);
    } lists[] = {
        {"departments", department_check},
        {"projects", project_check},
        {"quotas", quota_check},
        {"pools", pool_check},
    };
    default_check(v, file, "gpu_pool", file->gpu_pool);
    default_check(v, file, "cpu_pool", file->cpu_pool);
    if (v->in->problems->total > 0) {
        /* An item with a problem is not in the lists, and each reference to it would look like a
         * further problem. */
        return;
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const struct doc_value list = fields_child(v, lists[i].list);
        for (struct doc_value item = fields_first(&list); item.doc != NULL; fields_next(&item)) {
            lists[i].check(&item, file);
        }
    }
}
