/* server_file.c - the fields of the server file.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_file.h"

#include "spec/server_internal.h"

#include <string.h>

enum { PATH_LEN_MAX = 4096, ADDRESS_LEN_MAX = 255, LISTEN_PORT_DEFAULT = 8080, QUOTAS_MAX = 16384 };

#define MINUTE_MS ((int64_t)60 * 1000)
#define DAY_MS (24 * 60 * MINUTE_MS)
#define FACTS_KEEP_DEFAULT 1000000
#define FACTS_KEEP_MAX 1000000000

void server_file_init(struct server_file *file)
{
    *file = (struct server_file){
        .listen_address = "127.0.0.1",
        .listen_port = LISTEN_PORT_DEFAULT,
        .listen_loopback = true,
        .data_dir = "/var/lib/weir",
        .gpu_pool = "default",
        .cpu_pool = "default",
        .lost_after_ms = 5 * MINUTE_MS,
        .history_keep_ms = 90 * DAY_MS,
        .facts_keep = FACTS_KEEP_DEFAULT,
    };
}

enum err server_file_listen_parse(struct str text, struct arena *arena, const char **ret_address,
                                  uint16_t *ret_port, struct error *e)
{
    const char *colon = text.len > 0 ? memrchr(text.p, ':', text.len) : NULL;
    struct str address = {text.p, colon != NULL ? (size_t)(colon - text.p) : 0};
    struct str port_text = {colon, 0};
    uint64_t port = UINT64_MAX;
    if (colon != NULL) {
        port_text = (struct str){colon + 1, text.len - address.len - 1};
    }
    bool bracketed = address.len > 2 && address.p[0] == '[' && address.p[address.len - 1] == ']';
    if (bracketed) {
        address = (struct str){address.p + 1, address.len - 2};
    }
    bool ipv6 = address.len > 0 && memchr(address.p, ':', address.len) != NULL;
    if (colon == NULL || address.len == 0 || address.len > ADDRESS_LEN_MAX || ipv6 != bracketed ||
        address.p[0] == '[' || !str_to_u64(port_text, &port) || port > UINT16_MAX) {
        return fail(e, ERR_INVALID,
                    "an address and a port are wanted, like 127.0.0.1:8080 or [::1]:8080, not "
                    "'%.*s'",
                    (int)(text.len < 80 ? text.len : 80), text.p);
    }
    *ret_address = arena_strn(arena, address.p, address.len);
    *ret_port = (uint16_t)port;
    return ERR_OK;
}

bool server_file_listen_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strcmp(address, "localhost") == 0;
}

static void listen_read(const struct doc_value *v, void *object)
{
    struct server_file *file = object;
    const char *text;
    struct error e;
    if (fields_value_text(v, SIZE_MAX, &text) &&
        fields_ok(v,
                  server_file_listen_parse(v->doc->text, v->in->arena, &file->listen_address,
                                           &file->listen_port, &e),
                  &e)) {
        file->listen_loopback = server_file_listen_is_loopback(file->listen_address);
    }
}

static void keep_facts_read(const struct doc_value *v, void *object)
{
    (void)fields_value_u64(v, 0, FACTS_KEEP_MAX, &((struct server_file *)object)->facts_keep);
}

#define IN_FILE(member) offsetof(struct server_file, member)

static const struct field retention_fields[] = {
    {.name = "tasks", .read = fields_duration, .offset = IN_FILE(history_keep_ms)},
    {.name = "facts", .read = keep_facts_read},
    {0},
};

static void retention_read(const struct doc_value *v, void *object)
{
    (void)fields_read(v, retention_fields, object);
}

static const struct field defaults_fields[] = {
    {.name = "gpu_pool", .read = fields_name, .offset = IN_FILE(gpu_pool), .note = "a pool"},
    {.name = "cpu_pool", .read = fields_name, .offset = IN_FILE(cpu_pool), .note = "a pool"},
    {0},
};

static void defaults_read(const struct doc_value *v, void *object)
{
    (void)fields_read(v, defaults_fields, object);
}

static const struct field server_fields[] = {
    {.name = "listen", .read = listen_read},
    {.name = "data",
     .read = fields_text,
     .offset = IN_FILE(data_dir),
     .min = 1,
     .max = PATH_LEN_MAX},
    {.name = "defaults", .read = defaults_read},
    {.name = "pools", .read = server_lists_pools, .max = POOLS_MAX},
    {.name = "departments", .read = server_lists_departments, .max = ACCOUNT_CHILDREN_MAX},
    {.name = "projects", .read = server_lists_projects, .max = ACCOUNT_CHILDREN_MAX},
    {.name = "quotas", .read = server_lists_quotas, .max = QUOTAS_MAX},
    {.name = "lost_after", .read = fields_duration, .offset = IN_FILE(lost_after_ms)},
    {.name = "retention", .read = retention_read},
    {.name = "tls", .note = "TLS does not exist yet; listen on loopback, or behind a proxy"},
    {.name = "store", .note = "SQLite under 'data' is the only store for now"},
    {0},
};

enum err server_file_read(struct str text, const char *name, struct arena *arena,
                          struct server_file *ret, struct problems *problems, struct error *e)
{
    *problems = (struct problems){0};
    struct reader in = {.arena = arena, .problems = problems};
    struct doc *doc;
    if (doc_yaml_parse(arena, text, &doc, e) != ERR_OK) {
        problems->at[0] =
            (struct problem){.path = arena_str(arena, e->path), .text = arena_str(arena, e->text)};
        problems->count = 1;
        problems->total = 1;
        return fail_in(e, "%s", name);
    }
    struct server_file file;
    server_file_init(&file);
    const struct doc_value v = {.in = &in, .doc = doc};
    (void)fields_read(&v, server_fields, &file);
    server_lists_check(&v, &file);
    if (file.lost_after_ms < 1000) {
        fields_problem_in(&v, "lost_after", "at least 1s is wanted");
    }
    enum err r = problem_file_error(problems, name, e);
    if (r == ERR_OK) {
        *ret = file;
    }
    return r;
}
