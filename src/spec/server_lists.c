/* server_lists.c - pools, departments, projects and quotas of the server file. Every department,
 * project and pool that an item refers to must be declared in the same file, or be `default`. A
 * slip is thus found with its line when the file is read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_internal.h"

#include "spec/account_spec.h"
#include "spec/pool_spec.h"

#include <string.h>

/* ---- lists of things with names ---- */

static void pool_clear(void *spec)
{
    pool_spec_init(spec, NULL);
}

static void department_clear(void *spec)
{
    account_spec_init(spec, ACCOUNT_DEPARTMENT);
}

static void project_clear(void *spec)
{
    account_spec_init(spec, ACCOUNT_PROJECT);
}

/* What a list declares: structs of `size` bytes, each with its name at `name_offset`. */
struct declared {
    const char *what;
    size_t size;
    size_t name_offset;
    void (*clear)(void *spec);
    field_fn read;
};
static const struct declared pool_list = {"pool", sizeof(struct pool_spec),
                                          offsetof(struct pool_spec, name), pool_clear,
                                          pool_spec_fields};
static const struct declared department_list = {"department", sizeof(struct account_spec),
                                                offsetof(struct account_spec, name),
                                                department_clear, account_spec_fields};
static const struct declared project_list = {"project", sizeof(struct account_spec),
                                             offsetof(struct account_spec, name), project_clear,
                                             account_spec_fields};

static const char *name_of(const struct declared *list, const void *spec)
{
    return *(const char *const *)((const char *)spec + list->name_offset);
}

/* Files are read once and have at most POOLS_MAX pools, so comparing all pairs is cheap enough. */
static const void *declared_find(const struct declared *list, const void *specs, uint32_t count,
                                 const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        const void *spec = (const char *)specs + i * list->size;
        if (strcmp(name_of(list, spec), name) == 0) {
            return spec;
        }
    }
    return NULL;
}

/* Reads a list. NULL: the value is no such list. */
static void *list_read(const struct doc_value *v, const struct declared *list, uint32_t *ret_count)
{
    if (!fields_bounded(v, DOC_LIST, v->field->max, v->field->name, "")) {
        return NULL;
    }
    char *specs = arena_alloc(v->in->arena, list->size * (v->doc->count + 1));
    uint32_t count = 0;
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        void *spec = specs + count * list->size;
        list->clear(spec);
        list->read(&item, spec);
        const char *name = name_of(list, spec);
        if (name == NULL) {
            continue;
        }
        if (declared_find(list, specs, count, name) != NULL) {
            fields_problem_in(&item, "name", "%s '%s' is declared twice", list->what, name);
            continue;
        }
        count++;
    }
    *ret_count = count;
    return specs;
}

void server_lists_pools(const struct doc_value *v, void *object)
{
    struct server_file *file = object;
    file->pools = list_read(v, &pool_list, &file->pool_count);
}

void server_lists_departments(const struct doc_value *v, void *object)
{
    struct server_file *file = object;
    file->departments = list_read(v, &department_list, &file->department_count);
}

void server_lists_projects(const struct doc_value *v, void *object)
{
    struct server_file *file = object;
    file->projects = list_read(v, &project_list, &file->project_count);
}

void server_lists_quotas(const struct doc_value *v, void *object)
{
    struct server_file *file = object;
    if (!fields_bounded(v, DOC_LIST, v->field->max, v->field->name, "")) {
        return;
    }
    struct quota_body *quotas = arena_new(v->in->arena, struct quota_body, v->doc->count + 1);
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        quota_spec_body_init(&quotas[item.index]);
        quota_spec_fields(&item, &quotas[item.index]);
    }
    file->quotas = quotas;
    file->quota_count = v->doc->count;
}

/* ---- references between items ---- */

static const struct account_spec *department_find(const struct server_file *file, const char *name)
{
    return declared_find(&department_list, file->departments, file->department_count, name);
}

static bool department_known(const struct server_file *file, const char *name)
{
    return name[0] == '\0' || strcmp(name, ACCOUNT_DEFAULT_NAME) == 0 ||
           department_find(file, name) != NULL;
}

static bool project_known(const struct server_file *file, const char *name)
{
    return strcmp(name, ACCOUNT_DEFAULT_NAME) == 0 ||
           declared_find(&project_list, file->projects, file->project_count, name) != NULL;
}

/* The pool `default` always exists. */
static bool pool_known(const struct server_file *file, const char *name)
{
    return strcmp(name, "default") == 0 ||
           declared_find(&pool_list, file->pools, file->pool_count, name) != NULL;
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

void server_lists_check(const struct doc_value *v, const struct server_file *file)
{
    static const struct {
        const char *list;
        void (*check)(const struct doc_value *item, const struct server_file *file);
    } lists[] = {
        {"departments", department_check}, {"projects", project_check}, {"quotas", quota_check}};
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
