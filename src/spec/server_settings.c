/* server_settings.c - see server_settings.h. SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_settings.h"

#include "base/amount.h"
#include "base/doc.h"
#include "base/fail.h"

#include <inttypes.h>
#include <string.h>

/* The name in the file is map.key, or key where map is "". */
struct setting_row {
    const char *name;
    const char *map;
    const char *key;
    const char *(*value)(const struct server_file *file, struct arena *arena);
};

static const char *duration_text(int64_t ms, struct arena *arena)
{
    char text[AMOUNT_TEXT_MAX];
    amount_duration_text(ms, text);
    return arena_str(arena, text);
}

static const char *listen_value(const struct server_file *file, struct arena *arena)
{
    const bool ipv6 = strchr(file->listen_address, ':') != NULL;
    return arena_fmt(arena, ipv6 ? "[%s]:%u" : "%s:%u", file->listen_address,
                     (unsigned)file->listen_port);
}

static const char *lost_after_value(const struct server_file *file, struct arena *arena)
{
    return duration_text(file->lost_after_ms, arena);
}

static const char *keep_tasks_value(const struct server_file *file, struct arena *arena)
{
    return file->history_keep_ms == 0 ? "for ever" : duration_text(file->history_keep_ms, arena);
}

static const char *keep_facts_value(const struct server_file *file, struct arena *arena)
{
    return arena_fmt(arena, "%" PRIu64, file->facts_keep);
}

static const char *node_life_value(const struct server_file *file, struct arena *arena)
{
    return duration_text(file->tls_node_life_ms, arena);
}

/* An address may carry a name and a password, which nobody is shown. */
static const char *storage_value(const struct server_file *file, struct arena *arena)
{
    (void)arena;
    return strchr(file->qarnot.storage, '@') != NULL ? "(an address with a password)"
                                                     : file->qarnot.storage;
}

#define TEXT_VALUE(name, member)                                                                   \
    static const char *name(const struct server_file *file, struct arena *arena)                   \
    {                                                                                              \
        (void)arena;                                                                               \
        return file->member != NULL ? file->member : "";                                           \
    }
TEXT_VALUE(data_value, data_dir)
TEXT_VALUE(gpu_pool_value, gpu_pool)
TEXT_VALUE(cpu_pool_value, cpu_pool)
TEXT_VALUE(cert_value, tls_cert)
TEXT_VALUE(key_value, tls_key)
TEXT_VALUE(credentials_value, ec2_credentials)
TEXT_VALUE(provider_value, qarnot.provider)
TEXT_VALUE(keys_value, qarnot.keys)
TEXT_VALUE(region_value, qarnot.region)

static const struct setting_row rows[] = {
    {"listen", "", "listen", listen_value},
    {"data", "", "data", data_value},
    {"defaults.gpu_pool", "defaults", "gpu_pool", gpu_pool_value},
    {"defaults.cpu_pool", "defaults", "cpu_pool", cpu_pool_value},
    {"lost_after", "", "lost_after", lost_after_value},
    {"retention.tasks", "retention", "tasks", keep_tasks_value},
    {"retention.facts", "retention", "facts", keep_facts_value},
    {"tls.cert", "tls", "cert", cert_value},
    {"tls.key", "tls", "key", key_value},
    {"tls.node_life", "tls", "node_life", node_life_value},
    {"ec2.credentials", "ec2", "credentials", credentials_value},
    {"compat.qarnot.provider", "compat.qarnot", "provider", provider_value},
    {"compat.qarnot.storage", "compat.qarnot", "storage", storage_value},
    {"compat.qarnot.storage_credentials", "compat.qarnot", "storage_credentials", keys_value},
    {"compat.qarnot.storage_region", "compat.qarnot", "storage_region", region_value},
};
enum { ROWS = sizeof rows / sizeof rows[0] };
_Static_assert(sizeof rows / sizeof rows[0] < SERVER_SETTINGS_MAX,
               "the command line may add settings");

/* The map with this path, or NULL. */
static const struct doc *map_at(const struct doc *root, const char *path)
{
    const struct doc *map = root;
    const char *p = path;
    while (map != NULL && *p != '\0') {
        char name[32];
        const size_t len = strcspn(p, ".");
        must(len < sizeof name);
        memcpy(name, p, len);
        name[len] = '\0';
        map = map->kind == DOC_MAP ? doc_get(map, name) : NULL;
        p += len + (p[len] == '.' ? 1 : 0);
    }
    return map != NULL && map->kind == DOC_MAP ? map : NULL;
}

uint32_t server_settings_said(const struct doc *root)
{
    uint32_t said = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        const struct doc *map = map_at(root, rows[i].map);
        said |= map != NULL && doc_get(map, rows[i].key) != NULL ? 1U << i : 0;
    }
    return said;
}

void server_settings_init(struct server_settings *settings, const struct server_file *file,
                          struct arena *arena)
{
    settings->count = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        settings->at[i] = (struct server_setting){rows[i].name, rows[i].value(file, arena),
                                                  (file->said >> i & 1U) != 0 ? "file" : "default"};
    }
}

void server_settings_flag(struct server_settings *settings, const char *name, const char *value)
{
    uint32_t i = 0;
    if (value == NULL) {
        return;
    }
    while (i < settings->count && strcmp(settings->at[i].name, name) != 0) {
        i++;
    }
    must(i < SERVER_SETTINGS_MAX);
    settings->at[i] = (struct server_setting){name, value, "command line"};
    settings->count += i == settings->count ? 1 : 0;
}
