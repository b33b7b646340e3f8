/* server_accounts.c - departments, projects and quotas of the server file. Every department,
 * project and pool that an item refers to must be declared in the same file, or be `default`. A
 * slip is thus found with its line when the file is read.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/server_internal.h"

#include "spec/account_internal.h"
#include "core/model/names.h"
#include "spec/quota_internal.h"

#include <string.h>

static bool is_list(struct reader *in, const struct doc_place *place, const struct doc *doc,
                    const struct field *field)
{
    if (doc->kind == DOC_LIST && doc->count <= field->max) {
        return true;
    }
    fields_problem(in, place, doc, "a list of at most %d %s is wanted, not %s", (int)field->max,
                   field->name, doc->kind == DOC_LIST ? "a longer one" : fields_what(doc));
    return false;
}

static const struct account_spec *account_find(const struct account_spec *specs, uint32_t count,
                                               const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(specs[i].name, name) == 0) {
            return &specs[i];
        }
    }
    return NULL;
}

static struct account_spec *accounts_read(struct reader *in, const struct doc_place *place,
                                          const struct doc *doc, enum account_kind kind,
                                          uint32_t *ret_count)
{
    struct account_spec *specs = arena_new(in->arena, struct account_spec, doc->count + 1);
    uint32_t count = 0;
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index++};
        struct account_spec *spec = &specs[count];
        *spec = (struct account_spec){.kind = kind, .parent = "", .title = "", .description = ""};
        account_spec_fields(in, &at, item, true, spec);
        if (spec->name == NULL) {
            continue;
        }
        if (account_find(specs, count, spec->name) != NULL) {
            struct doc_place name = {.up = &at, .key = "name"};
            fields_problem(in, &name, doc_get(item, "name"), "%s '%s' is declared twice",
                           names_account_kind(kind), spec->name);
            continue;
        }
        count++;
    }
    *ret_count = count;
    return specs;
}

void server_accounts_departments(struct reader *in, const struct doc_place *place,
                                 const struct doc *doc, const struct field *field, void *object)
{
    struct server_file *file = object;
    if (is_list(in, place, doc, field)) {
        file->departments =
            accounts_read(in, place, doc, ACCOUNT_DEPARTMENT, &file->department_count);
    }
}

void server_accounts_projects(struct reader *in, const struct doc_place *place,
                              const struct doc *doc, const struct field *field, void *object)
{
    struct server_file *file = object;
    if (is_list(in, place, doc, field)) {
        file->projects = accounts_read(in, place, doc, ACCOUNT_PROJECT, &file->project_count);
    }
}

void server_accounts_quotas(struct reader *in, const struct doc_place *place, const struct doc *doc,
                            const struct field *field, void *object)
{
    struct server_file *file = object;
    if (!is_list(in, place, doc, field)) {
        return;
    }
    struct quota_body *quotas = arena_new(in->arena, struct quota_body, doc->count + 1);
    uint32_t index = 0;
    for (const struct doc *item = doc->first; item != NULL; item = item->next) {
        struct doc_place at = {.up = place, .index = index};
        quota_spec_body_init(&quotas[index]);
        quota_spec_fields(in, &at, item, &quotas[index]);
        index++;
    }
    file->quotas = quotas;
    file->quota_count = index;
}

/* ---- references between items ---- */

/* Returns the item at `index` of the list `key` of the file. */
static const struct doc *item_at(const struct doc *doc, const char *key, uint32_t index)
{
    const struct doc *list = doc_get(doc, key);
    const struct doc *item = list != NULL ? list->first : NULL;
    for (; item != NULL && index > 0; index--) {
        item = item->next;
    }
    return item;
}

struct account_spot {
    const char *list;
    uint32_t index;
    const char *key;
};

/* Notes a problem of three words: "no project", "x", "is declared under projects". */
static void spot_problem(struct reader *in, const struct doc *doc, struct account_spot spot,
                         const char *const words[3])
{
    struct doc_place list = {.key = spot.list};
    struct doc_place item = {.up = &list, .index = spot.index};
    struct doc_place at = {.up = &item, .key = spot.key};
    fields_problem(in, &at, doc_get(item_at(doc, spot.list, spot.index), spot.key), "%s '%s' %s",
                   words[0], words[1], words[2]);
}

static void department_missing(struct reader *in, const struct doc *doc, struct account_spot spot,
                               const char *name)
{
    spot_problem(in, doc, spot,
                 (const char *[3]){"no department", name, "is declared under departments"});
}

static bool department_known(const struct server_file *file, const char *name)
{
    return name[0] == '\0' || strcmp(name, ACCOUNT_DEFAULT_NAME) == 0 ||
           account_find(file->departments, file->department_count, name) != NULL;
}

/* True when a department is its own ancestor. */
static bool in_cycle(const struct server_file *file, const struct account_spec *from)
{
    const struct account_spec *at = from;
    for (uint32_t steps = 0; at != NULL && steps <= file->department_count; steps++) {
        at = account_find(file->departments, file->department_count, at->parent);
        if (at == from) {
            return true;
        }
    }
    return false;
}

static void departments_check(struct reader *in, const struct doc *doc,
                              const struct server_file *file)
{
    for (uint32_t i = 0; i < file->department_count; i++) {
        const struct account_spec *spec = &file->departments[i];
        struct account_spot spot = {"departments", i, "parent"};
        if (!department_known(file, spec->parent)) {
            department_missing(in, doc, spot, spec->parent);
        } else if (in_cycle(file, spec)) {
            spot_problem(in, doc, spot,
                         (const char *[3]){"department", spec->name, "would lie below itself"});
        } else if (strcmp(spec->name, ACCOUNT_DEFAULT_NAME) == 0 && spec->parent[0] != '\0') {
            spot_problem(in, doc, spot,
                         (const char *[3]){"department", spec->name, "is always at the top"});
        }
    }
}

static void quota_check(struct reader *in, const struct doc *doc, const struct server_file *file,
                        uint32_t index)
{
    const struct quota_body *quota = &file->quotas[index];
    bool project = quota->kind == ACCOUNT_PROJECT;
    bool known =
        strcmp(quota->account, ACCOUNT_DEFAULT_NAME) == 0 ||
        (project ? account_find(file->projects, file->project_count, quota->account)
                 : account_find(file->departments, file->department_count, quota->account)) != NULL;
    struct account_spot spot = {"quotas", index, project ? "project" : "department"};
    if (!known && !project) {
        department_missing(in, doc, spot, quota->account);
    } else if (!known) {
        spot_problem(in, doc, spot,
                     (const char *[3]){"no project", quota->account, "is declared under projects"});
    }
    spot.key = "pool";
    if (strcmp(quota->pool, "default") != 0 && !server_file_pool_declared(file, quota->pool)) {
        spot_problem(in, doc, spot,
                     (const char *[3]){"no pool", quota->pool, "is declared under pools"});
    }
    for (uint32_t i = 0; i < index; i++) {
        const struct quota_body *other = &file->quotas[i];
        if (other->kind == quota->kind && strcmp(other->account, quota->account) == 0 &&
            strcmp(other->pool, quota->pool) == 0) {
            spot_problem(in, doc, spot,
                         (const char *[3]){"a second quota of", quota->account, "in this pool"});
            return;
        }
    }
}

void server_accounts_check(struct reader *in, const struct doc *doc, const struct server_file *file)
{
    if (in->problems->total > 0) {
        /* An item with a problem is not in the lists, and each reference to it would look like a
         * further problem. */
        return;
    }
    departments_check(in, doc, file);
    for (uint32_t i = 0; i < file->project_count; i++) {
        if (!department_known(file, file->projects[i].parent)) {
            struct account_spot spot = {"projects", i, "department"};
            department_missing(in, doc, spot, file->projects[i].parent);
        }
    }
    for (uint32_t i = 0; i < file->quota_count; i++) {
        quota_check(in, doc, file, i);
    }
}
