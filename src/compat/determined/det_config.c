/* det_config.c - see det_config.h. SPDX-License-Identifier: Apache-2.0 */
#include "compat/determined/det_config.h"

#include "compat/determined/det_fields.h"
#include "compat/determined/det_resolve.h"
#include "compat/determined/det_rules.h"

#include <string.h>

enum { POOL_LIST_MAX = 1024, MANAGERS_MAX = 64 };

/* A copy of the map with one key renamed. */
static struct doc *renamed(struct arena *arena, const struct doc *map, const char *from,
                           const char *to)
{
    struct doc *copy = det_resolve_empty(arena, DOC_MAP);
    copy->line = map->line;
    copy->column = map->column;
    for (const struct doc *value = map->first; value != NULL; value = value->next) {
        det_resolve_put(arena, copy, strcmp(value->key.p, from) == 0 ? to : value->key.p, value);
    }
    return copy;
}

/* ---- schedulers and providers ---- */

static void scheduler_put(const struct doc_value *map, struct doc *into)
{
    const struct doc_value v = fields_child(map, "scheduler");
    if (v.doc == NULL) {
        return;
    }
    if (v.doc->kind != DOC_MAP) {
        fields_wanted(&v, "a map");
        return;
    }
    const struct doc *type = fields_given(&v, "type");
    const char *name = "priority";
    (void)doc_text(type, &name);
    det_resolve_put(map->in->arena, into, "scheduler",
                    det_resolve_map(&v, strcmp(name, "priority") == 0
                                            ? det_fields_scheduler_priority
                                            : det_fields_scheduler));
}

static const struct field *provider_fields(const char *type)
{
    return strcmp(type, "aws") == 0   ? det_fields_provider_aws
           : strcmp(type, "gcp") == 0 ? det_fields_provider_gcp
           : strcmp(type, "hpc") == 0 ? det_fields_provider_hpc
                                      : det_fields_provider_any;
}

/* The address with scheme and port. What is no address stays as it is. */
static void master_url_put(struct arena *arena, struct doc *provider)
{
    const char *url = det_resolve_get_text(provider, "master_url");
    const char *scheme = strstr(url, "://");
    const char *host = scheme == NULL ? url : scheme + 3;
    if (url[0] == '\0' || strchr(host, '/') != NULL) {
        return;
    }
    const char *behind = host[0] == '[' ? strchr(host, ']') : host;
    const bool port = behind != NULL && strchr(behind, ':') != NULL;
    det_resolve_put_text(
        arena, provider, "master_url",
        arena_fmt(arena, "%s%s%s", scheme == NULL ? "http://" : "", url, port ? "" : ":8080"));
}

static void provider_put(const struct doc_value *map, struct doc *into)
{
    const struct doc_value v = fields_child(map, "provider");
    const char *type = "";
    if (v.doc == NULL) {
        return;
    }
    if (v.doc->kind != DOC_MAP) {
        fields_wanted(&v, "a map");
        return;
    }
    (void)doc_text(fields_given(&v, "type"), &type);
    struct doc *provider = det_resolve_map(&v, provider_fields(type));
    const struct doc *account = doc_get(provider, "service_account");
    if (det_resolve_get_text(account, "email")[0] != '\0' && doc_get(account, "scopes") == NULL) {
        struct doc *scopes = det_resolve_empty(map->in->arena, DOC_LIST);
        struct doc *mail = renamed(map->in->arena, account, "", "");
        det_resolve_put_text(map->in->arena, scopes, NULL,
                             "https://www.googleapis.com/auth/cloud-platform");
        det_resolve_put(map->in->arena, mail, "scopes", scopes);
        det_resolve_put(map->in->arena, provider, "service_account", mail);
    }
    master_url_put(map->in->arena, provider);
    det_resolve_put(map->in->arena, into, "provider", provider);
}

/* ---- pools ---- */

static struct doc *pool_resolve(const struct doc_value *v)
{
    struct doc *pool = det_resolve_map(v, det_fields_pool);
    const struct doc *old = doc_get(pool, "max_cpu_containers_per_agent");
    if (old != NULL) {
        det_resolve_put(v->in->arena, pool, "max_aux_containers_per_agent", old);
    }
    if (v->doc->kind == DOC_MAP) {
        scheduler_put(v, pool);
        provider_put(v, pool);
    }
    return pool;
}

/* The pools at `resource_pools` of the map; NULL: none are given. */
static struct doc *pools_resolve(const struct doc_value *map)
{
    const struct doc_value v = fields_child(map, "resource_pools");
    if (v.doc == NULL || !fields_bounded(&v, DOC_LIST, POOL_LIST_MAX, "pools", "")) {
        return NULL;
    }
    struct doc *pools = det_resolve_empty(map->in->arena, DOC_LIST);
    for (struct doc_value item = fields_first(&v); item.doc != NULL; fields_next(&item)) {
        det_resolve_put(map->in->arena, pools, NULL, pool_resolve(&item));
    }
    return pools;
}

/* ---- managers ---- */

/* The old spelling of a name counts when the new one is absent. */
static void default_pool_put(struct arena *arena, struct doc *manager, const char *key,
                             const char *old)
{
    const char *name = det_resolve_get_text(manager, key);
    const char *other = old == NULL ? "" : det_resolve_get_text(manager, old);
    const bool none = det_resolve_get_switch(manager, "no_default_resource_pools");
    det_resolve_put_text(arena, manager, key,
                         none               ? ""
                         : name[0] != '\0'  ? name
                         : other[0] != '\0' ? other
                                            : "default");
}

static void manager_names_put(struct arena *arena, struct doc *manager, bool root, bool agent)
{
    const char *name = det_resolve_get_text(manager, "cluster_name");
    name = name[0] != '\0' ? name : det_resolve_get_text(manager, "name");
    det_resolve_put_text(arena, manager, "cluster_name",
                         name[0] != '\0' || !root ? name : "default");
    default_pool_put(arena, manager, "default_aux_resource_pool",
                     agent ? "default_cpu_resource_pool" : NULL);
    default_pool_put(arena, manager, "default_compute_resource_pool",
                     agent ? "default_gpu_resource_pool" : NULL);
}

/* The manager of the map; `root`: that of the file, which has defaults. */
static struct doc *manager_resolve(const struct doc_value *map, bool root)
{
    static const struct doc none = {.kind = DOC_MAP};
    struct doc_value v = fields_child(map, "resource_manager");
    struct arena *arena = map->in->arena;
    const char *type = "agent";
    v.doc = v.doc == NULL ? &none : v.doc;
    (void)doc_text(doc_get(v.doc, "type"), &type);
    const bool agent = strcmp(type, "agent") == 0;
    if (!agent && strcmp(type, "kubernetes") != 0) { /* Slurm and PBS: fields of their own */
        struct doc *other = det_resolve_empty(arena, DOC_MAP);
        det_resolve_put_text(arena, other, "type", type);
        det_resolve_put_text(arena, other, "name", det_resolve_get_text(v.doc, "name"));
        det_resolve_put_text(arena, other, "cluster_name",
                             det_resolve_get_text(v.doc, "cluster_name"));
        manager_names_put(arena, other, root, false);
        return other;
    }
    struct doc *manager =
        det_resolve_map(&v, agent ? det_fields_manager_agent : det_fields_manager_kubernetes);
    manager_names_put(arena, manager, root, agent);
    if (agent && v.doc->kind == DOC_MAP) {
        static const struct doc priority = {.kind = DOC_MAP};
        const struct doc_value missing = {
            .in = map->in, .doc = &priority, .up = &v, .key = "scheduler"};
        if (fields_given(&v, "scheduler") == NULL) {
            det_resolve_put(arena, manager, "scheduler",
                            det_resolve_map(&missing, det_fields_scheduler_priority));
        }
        scheduler_put(&v, manager);
    }
    return manager;
}

static void additional_put(const struct doc_value *map, struct doc *into)
{
    const struct doc_value v = fields_child(map, "additional_resource_managers");
    struct arena *arena = map->in->arena;
    if (v.doc == NULL || !fields_bounded(&v, DOC_LIST, MANAGERS_MAX, "managers", "")) {
        return;
    }
    struct doc *list = det_resolve_empty(arena, DOC_LIST);
    for (struct doc_value item = fields_first(&v); item.doc != NULL; fields_next(&item)) {
        struct doc *one = det_resolve_empty(arena, DOC_MAP);
        struct doc *pools = pools_resolve(&item);
        det_resolve_put(arena, one, "resource_manager", manager_resolve(&item, false));
        if (pools != NULL) {
            det_resolve_put(arena, one, "resource_pools", pools);
        }
        det_resolve_put(arena, list, NULL, one);
    }
    det_resolve_put(arena, into, "additional_resource_managers", list);
}

/* ---- the file ---- */

static const struct field file_fields[] = {
    {.name = "resource_manager", .read = fields_skip},
    {.name = "resource_pools", .read = fields_skip},
    {.name = "additional_resource_managers", .read = fields_skip},
    {.name = "launch_error", .read = det_resolve_switch, .note = "true"},
    {.name = "scheduler", .read = fields_skip},
    {.name = "provisioner", .read = fields_skip},
    {0},
};

static bool is_elsewhere(const struct doc *value)
{
    bool found = false;
    for (const char *const *name = det_fields_elsewhere; *name != NULL && !found; name++) {
        found = strcmp(value->key.p, *name) == 0;
    }
    return found;
}

/* The file without what is not about pools. */
static struct doc *about_pools(struct arena *arena, const struct doc *doc)
{
    struct doc *kept = det_resolve_empty(arena, DOC_MAP);
    kept->line = doc->line;
    kept->column = doc->column;
    for (const struct doc *value = doc->first; value != NULL; value = value->next) {
        if (!is_elsewhere(value)) {
            det_resolve_put(arena, kept, value->key.p, value);
        }
    }
    return kept;
}

/* `resource_provider` of the old scheduler becomes the manager; its type `default` is `agent` now. */
static struct doc *old_manager(struct arena *arena, const struct doc *scheduler)
{
    const struct doc *provider = doc_get(scheduler, "resource_provider");
    struct doc *manager = provider != NULL && provider->kind == DOC_MAP
                              ? renamed(arena, provider, "", "")
                              : det_resolve_empty(arena, DOC_MAP);
    const char *type = det_resolve_get_text(manager, "type");
    if (type[0] == '\0' || strcmp(type, "default") == 0) {
        det_resolve_put_text(arena, manager, "type", "agent");
        type = "agent";
    }
    if (scheduler != NULL && strcmp(type, "agent") == 0) {
        struct doc *now = det_resolve_empty(arena, DOC_MAP);
        const struct doc *fit = renamed(arena, scheduler, "fit", "fitting_policy");
        for (const struct doc *value = fit->first; value != NULL; value = value->next) {
            if (strcmp(value->key.p, "resource_provider") != 0) {
                det_resolve_put(arena, now, value->key.p, value);
            }
        }
        det_resolve_put(arena, manager, "scheduler", now);
    }
    return manager;
}

/* The form before pools, as the form with pools; a file without the old names stays as it is. */
static const struct doc *new_form(const struct doc_value *v)
{
    struct arena *arena = v->in->arena;
    const struct doc *scheduler = fields_given(v, "scheduler");
    const struct doc *provisioner = fields_given(v, "provisioner");
    if (scheduler == NULL && provisioner == NULL) {
        return v->doc;
    }
    if (fields_given(v, "resource_manager") != NULL || fields_given(v, "resource_pools") != NULL) {
        fields_problem(v, "cannot use the old and the new configuration schema at the same time");
        return v->doc;
    }
    struct doc *doc = renamed(arena, v->doc, "", "");
    struct doc *pools = det_resolve_empty(arena, DOC_LIST);
    struct doc *pool = det_resolve_empty(arena, DOC_MAP);
    det_resolve_put_text(arena, pool, "pool_name", "default");
    if (provisioner != NULL && provisioner->kind == DOC_MAP) {
        det_resolve_put(arena, pool, "provider", renamed(arena, provisioner, "provider", "type"));
    }
    det_resolve_put(arena, pools, NULL, pool);
    det_resolve_put(arena, doc, "resource_manager", old_manager(arena, scheduler));
    det_resolve_put(arena, doc, "resource_pools", pools);
    return doc;
}

void det_config_read(const struct doc *doc, struct arena *arena, struct det_config *ret)
{
    *ret = (struct det_config){0};
    struct reader in = {.arena = arena, .problems = &ret->form};
    struct doc_value v = {.in = &in, .doc = doc};
    if (doc->kind != DOC_MAP) {
        fields_wanted(&v, "a map of fields");
        return;
    }
    v.doc = about_pools(arena, doc);
    v.doc = new_form(&v);
    struct doc *resolved = det_resolve_map(&v, file_fields);
    struct doc *pools = pools_resolve(&v);
    det_resolve_put(arena, resolved, "resource_manager", manager_resolve(&v, true));
    if (pools == NULL) { /* one pool, named default */
        static const struct doc none = {.kind = DOC_MAP};
        const struct doc_value empty = {.in = &in, .doc = &none, .up = &v, .key = "resource_pools"};
        struct doc *pool = pool_resolve(&empty);
        pools = det_resolve_empty(arena, DOC_LIST);
        det_resolve_put_text(arena, pool, "pool_name", "default");
        det_resolve_put(arena, pools, NULL, pool);
    }
    det_resolve_put(arena, resolved, "resource_pools", pools);
    additional_put(&v, resolved);
    ret->resolved = resolved;
    struct reader rules = {.arena = arena, .problems = &ret->rules};
    v.in = &rules;
    det_rules_check(&v, resolved);
}
