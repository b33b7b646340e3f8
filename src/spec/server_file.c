/* server_file.c - the fields of the server file. Every department, project and pool that the file
 * refers to must be declared in the file, or be `default`. A slip is thus found with its line when
 * the file is read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_file.h"

#include "core/model/names.h"
#include "spec/account_spec.h"
#include "spec/fields.h"
#include "spec/flavor_spec.h"
#include "spec/network_spec.h"
#include "spec/pool_spec.h"
#include "spec/server_refs.h"
#include "spec/server_settings.h"

#include <string.h>

enum {
    PATH_LEN_MAX = 4096,
    ADDRESS_LEN_MAX = 255,
    LISTEN_PORT_DEFAULT = 8080,
    QUOTAS_MAX = 16384,
    NODE_LIFE_MS_MIN = 4000,
    NODE_LIFE_DAYS_MAX = 365
};

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
        .ec2_credentials = "",
        .qarnot.provider = "local",
        .qarnot.storage = "",
        .qarnot.keys = "",
        .qarnot.region = "us-east-1",
        .tls_node_life_ms = DAY_MS,
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

/* A node asks for its next certificate after half of the time. */
static void node_life_read(const struct doc_value *v, void *object)
{
    struct server_file *file = object;
    int64_t life_ms = 0;
    if (!fields_value_duration(v, &life_ms)) {
        return;
    }
    if (life_ms >= NODE_LIFE_MS_MIN && life_ms <= NODE_LIFE_DAYS_MAX * DAY_MS) {
        file->tls_node_life_ms = life_ms;
    } else {
        fields_problem(v, "a node's certificate is valid for 4s to %dd", NODE_LIFE_DAYS_MAX);
    }
}

#define IN_FILE(member) offsetof(struct server_file, member)

static const struct field retention_fields[] = {
    {.name = "tasks", .read = fields_duration, .offset = IN_FILE(history_keep_ms)},
    {.name = "facts", .read = keep_facts_read},
    {0},
};

static const struct field defaults_fields[] = {
    FIELDS_NAME("gpu_pool", struct server_file, gpu_pool, "a pool"),
    FIELDS_NAME("cpu_pool", struct server_file, cpu_pool, "a pool"),
    {0},
};

static const struct field tls_fields[] = {
    {.name = "cert",
     .read = fields_text,
     .offset = IN_FILE(tls_cert),
     .min = 1,
     .max = PATH_LEN_MAX},
    {.name = "key", .read = fields_text, .offset = IN_FILE(tls_key), .min = 1, .max = PATH_LEN_MAX},
    {.name = "node_life", .read = node_life_read},
    {0},
};

static const struct field ec2_fields[] = {
    {.name = "credentials",
     .read = fields_text,
     .offset = IN_FILE(ec2_credentials),
     .min = 1,
     .max = PATH_LEN_MAX},
    {0},
};

static void storage_read(const struct doc_value *v, void *object)
{
    const char *url = "";
    if (!fields_value_text(v, TEXT_LEN_MAX, &url)) {
        return;
    }
    if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) {
        fields_problem(v, "the address of an S3 store is wanted, like https://s3.example.org");
        return;
    }
    ((struct server_file *)object)->qarnot.storage = url;
}

static void provider_read(const struct doc_value *v, void *object)
{
    const char *word = "";
    if (!fields_value_text(v, NAME_LEN_MAX, &word)) {
        return;
    }
    for (unsigned i = POOL_LOCAL; i < POOL_PROVIDER_COUNT; i++) {
        if (strcmp(word, names_pool_provider((enum pool_provider)i)) == 0) {
            ((struct server_file *)object)->qarnot.provider = word;
            return;
        }
    }
    fields_problem(
        v, "'%.40s' is no provider that brings up nodes; local and slurm need nothing more", word);
}

static const struct field qarnot_fields[] = {
    {.name = "provider", .read = provider_read},
    {.name = "storage", .read = storage_read},
    {.name = "storage_credentials",
     .read = fields_text,
     .offset = IN_FILE(qarnot.keys),
     .min = 1,
     .max = PATH_LEN_MAX},
    {.name = "storage_region",
     .read = fields_text,
     .offset = IN_FILE(qarnot.region),
     .min = 1,
     .max = NAME_LEN_MAX},
    {0},
};
static const struct field compat_fields[] = {
    {.name = "qarnot", .read = fields_inner, .inner = qarnot_fields},
    {0},
};

/* ---- lists of things with names ---- */

/* One list of the server file: how to read its items, and where the list is put in struct
 * server_file. An item is a struct of `size` bytes with its name at `name_offset`. */
struct declared {
    const char *what;
    size_t size;
    size_t name_offset;
    field_fn read;
    enum account_kind kind; /* of departments and projects */
    size_t list_offset;     /* the place of the list in struct server_file */
    size_t count_offset;
};

enum { LIST_POOLS, LIST_FLAVORS, LIST_NETWORKS, LIST_DEPARTMENTS, LIST_PROJECTS };
#define DECLARED(what, object, kind, list, count)                                                  \
    {                                                                                              \
#what, sizeof(struct object), offsetof(struct object, name), object##_fields, kind,        \
            IN_FILE(list), IN_FILE(count)                                                          \
    }
static const struct declared lists[] = {
    [LIST_POOLS] = DECLARED(pool, pool_spec, 0, pools, pool_count),
    [LIST_FLAVORS] = DECLARED(flavor, flavor_spec, 0, flavors, flavor_count),
    [LIST_NETWORKS] = DECLARED(network, network_spec, 0, networks, network_count),
    [LIST_DEPARTMENTS] =
        DECLARED(department, account_spec, ACCOUNT_DEPARTMENT, departments, department_count),
    [LIST_PROJECTS] = DECLARED(project, account_spec, ACCOUNT_PROJECT, projects, project_count),
};

/* Makes the defaults of an item, without a name. */
static void declared_init(const struct declared *list, void *spec)
{
    if (list == &lists[LIST_POOLS]) {
        pool_spec_init(spec, NULL);
    } else if (list == &lists[LIST_FLAVORS]) {
        flavor_spec_init(spec);
    } else if (list == &lists[LIST_NETWORKS]) {
        network_spec_init(spec);
    } else {
        account_spec_init(spec, list->kind);
    }
}

static const char *name_of(const struct declared *list, const void *spec)
{
    return *(const char *const *)((const char *)spec + list->name_offset);
}

/* Reads a list of the file. `min` of the field's row is the index of the list in `lists`. */
static void list_read(const struct doc_value *v, void *object)
{
    const struct declared *list = &lists[v->field->min];
    if (!fields_bounded(v, DOC_LIST, v->field->max, v->field->name, "")) {
        return;
    }
    char *specs = arena_alloc(v->in->arena, list->size * (v->doc->count + 1));
    uint32_t count = 0;
    for (struct doc_value item = fields_first(v); item.doc != NULL; fields_next(&item)) {
        void *spec = specs + count * list->size;
        declared_init(list, spec);
        list->read(&item, spec);
        const char *name = name_of(list, spec);
        if (name == NULL) {
            continue;
        }
        if (server_refs_find(specs, count, list->size, list->name_offset, name) != NULL) {
            fields_problem_in(&item, "name", "%s '%s' is declared twice", list->what, name);
            continue;
        }
        count++;
    }
    memcpy((char *)object + list->list_offset, &specs, sizeof specs);
    memcpy((char *)object + list->count_offset, &count, sizeof count);
}

static void quotas_read(const struct doc_value *v, void *object)
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

/* ---- the table ---- */

static const struct field server_fields[] = {
    {.name = "listen", .read = listen_read},
    {.name = "data",
     .read = fields_text,
     .offset = IN_FILE(data_dir),
     .min = 1,
     .max = PATH_LEN_MAX},
    {.name = "defaults", .read = fields_inner, .inner = defaults_fields},
    {.name = "pools", .read = list_read, .min = LIST_POOLS, .max = POOLS_MAX},
    {.name = "flavors", .read = list_read, .min = LIST_FLAVORS, .max = FLAVORS_MAX},
    {.name = "networks", .read = list_read, .min = LIST_NETWORKS, .max = NETWORKS_MAX},
    {.name = "departments",
     .read = list_read,
     .min = LIST_DEPARTMENTS,
     .max = ACCOUNT_CHILDREN_MAX},
    {.name = "projects", .read = list_read, .min = LIST_PROJECTS, .max = ACCOUNT_CHILDREN_MAX},
    {.name = "quotas", .read = quotas_read, .max = QUOTAS_MAX},
    {.name = "lost_after", .read = fields_duration, .offset = IN_FILE(lost_after_ms)},
    {.name = "retention", .read = fields_inner, .inner = retention_fields},
    {.name = "tls", .read = fields_inner, .inner = tls_fields},
    {.name = "ec2", .read = fields_inner, .inner = ec2_fields},
    {.name = "compat", .read = fields_inner, .inner = compat_fields},
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
        problem_syntax(problems, arena, e);
        return problem_file_error(problems, name, e);
    }
    struct server_file file;
    server_file_init(&file);
    const struct doc_value v = {.in = &in, .doc = doc};
    (void)fields_read(&v, server_fields, &file);
    file.said = server_settings_said(doc);
    server_refs_check(&v, &file);
    if (file.lost_after_ms < 1000) {
        fields_problem_in(&v, "lost_after", "at least 1s is wanted");
    }
    enum err r = problem_file_error(problems, name, e);
    if (r == ERR_OK) {
        *ret = file;
    }
    return r;
}
