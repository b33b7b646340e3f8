/* settings.c - GET /config: the settings that the server runs with and the objects of its file, each with where it
 * comes from, and the file itself. SPDX-License-Identifier: Apache-2.0 */
#include "api/api_internal.h"
#include "api/call.h"
#include "api/handlers.h"
#include "core/model/names.h"

#include <string.h>

enum {
    SETTINGS_OBJECTS_MAX = 500,     /* objects in the answer */
    SETTINGS_TEXT_MAX = 100 * 1024, /* a longer file is not shown */
};

struct settings_list {
    struct json_out *j;
    const struct server_file *file;
    size_t count;
};

static void item_json(struct json_out *j, const char *kind, const char *name, const char *value,
                      const char *origin)
{
    json_out_put(j, "{kind:%s,name:%s", kind, name);
    json_out_kv_text(j, "value", value);
    json_out_put(j, "origin:%s}", origin);
}

/* Has one of these objects this name? Each begins with a pointer to its name, `size` bytes apart. */
static bool named(const void *objects, uint32_t count, size_t size, size_t name_at,
                  const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *at = (const char *)objects + i * size + name_at;
        if (strcmp(*(const char *const *)(const void *)at, name) == 0) {
            return true;
        }
    }
    return false;
}
#define NAMED(list, count, object, name)                                                           \
    named(list, count, sizeof(struct object), offsetof(struct object, name), name)

static void object_json(struct settings_list *list, const char *kind, const char *name,
                        bool in_file)
{
    if (list->count++ < SETTINGS_OBJECTS_MAX) {
        const bool built_in = strcmp(name, ACCOUNT_DEFAULT_NAME) == 0;
        item_json(list->j, kind, name, NULL, in_file ? "file" : built_in ? "built in" : "API");
    }
}

static void objects_json(struct settings_list *list, const struct core *core)
{
    const struct server_file *file = list->file;
    const struct pool *pool = NULL;
    const struct flavor *flavor = NULL;
    const struct network *network = NULL;
    const struct account *account = NULL;
    while ((pool = query_pool_next(core, pool != NULL ? pool->id : (pool_id){0})) != NULL) {
        const char *name = query_pool_name(core, pool->id);
        if (!pool->deleted) {
            object_json(list, "pool", name,
                        file != NULL && NAMED(file->pools, file->pool_count, pool_spec, name));
        }
    }
    while ((flavor = query_flavor_next(core, flavor != NULL ? flavor->id : (flavor_id){0})) !=
           NULL) {
        const char *name = query_flavor_name(core, flavor->id);
        object_json(list, "flavor", name,
                    file != NULL && NAMED(file->flavors, file->flavor_count, flavor_spec, name));
    }
    while ((network = query_network_next(core, network != NULL ? network->id : (network_id){0})) !=
           NULL) {
        const char *name = query_network_name(core, network->id);
        object_json(list, "network", name,
                    file != NULL && NAMED(file->networks, file->network_count, network_spec, name));
    }
    while ((account = query_account_next(core, account != NULL ? account->id : (account_id){0})) !=
           NULL) {
        const char *name = query_account_name(core, account->id);
        const bool project = account->kind == ACCOUNT_PROJECT;
        object_json(
            list, names_account_kind(account->kind), name,
            file != NULL &&
                (project ? NAMED(file->projects, file->project_count, account_spec, name)
                         : NAMED(file->departments, file->department_count, account_spec, name)));
    }
}

void settings_show(struct call *call)
{
    const struct api_host *host = call->api->o.host;
    struct host_config config;
    struct json_out j;
    host->config(host->ctx, call_arena(call), &config);
    call_json(call, &j);
    json_out_object(&j);
    json_out_kv_text(&j, "path", config.path);
    json_out_kv_text(&j, "problem", config.problem);
    json_out_kv_text(&j, "text",
                     config.path != NULL && config.text.len <= SETTINGS_TEXT_MAX ? config.text.p
                                                                                 : NULL);
    json_out_key(&j, "items");
    json_out_array(&j);
    for (uint32_t i = 0; i < config.settings.count; i++) {
        const struct server_setting *setting = &config.settings.at[i];
        item_json(&j, "setting", setting->name, setting->value, setting->origin);
    }
    struct settings_list list = {.j = &j, .file = config.file};
    objects_json(&list, call_core(call));
    json_out_end(&j);
    json_out_put(&j, "more:%lu}",
                 list.count > SETTINGS_OBJECTS_MAX ? list.count - SETTINGS_OBJECTS_MAX : (size_t)0);
    call_answer_json(call, 200);
}
