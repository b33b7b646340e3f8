/* pool_accounts.c - see pool_accounts.h.
 *
 * Quotas of named resources are left out: the nodes of a provider have none. A guarantee that nobody set is computed by the simulator as by
 * the server. SPDX-License-Identifier: Apache-2.0 */
#include "cli/pool_accounts.h"

#include "cli/api.h"
#include "cli/item.h"

#include <string.h>

enum { PAGE = 500, ITEMS_MAX = 20000 };

/* Reads all pages of a list. */
static enum err list_read(struct cli *cli, const char *path, struct doc_list *ret, struct error *e)
{
    const char *cursor = "";
    while (cursor != NULL && ret->count < ITEMS_MAX) {
        struct api_reply reply;
        const char *page =
            arena_fmt(&cli->arena, "%s%climit=%d%s%s", path, strchr(path, '?') == NULL ? '?' : '&',
                      PAGE, cursor[0] == '\0' ? "" : "&cursor=", api_escape(&cli->arena, cursor));
        const enum err r = api_get(cli, &cli->arena, page, &reply, e);
        if (r != ERR_OK) {
            return r;
        }
        const struct doc *items = item_at(reply.doc, "items");
        for (const struct doc *d = items == NULL ? NULL : items->first; d != NULL; d = d->next) {
            vec_push(ret, d);
        }
        const struct doc *next = item_at(reply.doc, "next");
        cursor = next != NULL && next->kind == DOC_STRING ? next->text.p : NULL;
    }
    return ERR_OK;
}

enum err pool_accounts_read(struct cli *cli, const char *pool, struct pool_accounts *ret,
                            struct error *e)
{
    *ret = (struct pool_accounts){0};
    const char *quotas =
        arena_fmt(&cli->arena, "/quotas?pool=%s&all=true", api_escape(&cli->arena, pool));
    enum err r = list_read(cli, "/departments", &ret->departments, e);
    r = r == ERR_OK ? list_read(cli, "/projects", &ret->projects, e) : r;
    return r == ERR_OK ? list_read(cli, quotas, &ret->quotas, e) : r;
}

void pool_accounts_done(struct pool_accounts *accounts)
{
    vec_done(&accounts->departments);
    vec_done(&accounts->projects);
    vec_done(&accounts->quotas);
}

bool pool_accounts_has(const struct pool_accounts *accounts, const char *project)
{
    for (size_t i = 0; i < accounts->projects.count; i++) {
        if (strcmp(item_text(accounts->projects.at[i], "name"), project) == 0) {
            return true;
        }
    }
    return false;
}

/* Writes a name and the account above. The accounts `default` are part of every state. */
static void account_json(const struct doc *item, const char *above, struct json_out *j)
{
    const char *name = item_text(item, "name");
    const char *parent = item_text(item, above);
    if (strcmp(name, "default") == 0) {
        return;
    }
    json_out_object(j);
    json_out_kv_text(j, "name", name);
    if (parent[0] != '\0') {
        json_out_kv_text(j, above, parent);
    }
    json_out_end(j);
}

static void amount_json(const struct doc *line, struct json_out *j)
{
    static const char *const fields[] = {"limit", "weight"};
    json_out_key(j, item_text(line, "resource"));
    json_out_object(j);
    if (!item_true(line, "computed") && doc_get(line, "guaranteed") != NULL) {
        item_json_field(j, doc_get(line, "guaranteed"), false);
    }
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const struct doc *field = doc_get(line, fields[i]);
        if (field != NULL && field->kind != DOC_NULL) {
            item_json_field(j, field, false);
        }
    }
    json_out_end(j);
}

static bool same_account(const struct doc *a, const struct doc *b)
{
    return strcmp(item_text(a, "kind"), item_text(b, "kind")) == 0 &&
           strcmp(item_text(a, "account"), item_text(b, "account")) == 0;
}

static bool is_built_in(const char *resource)
{
    return strcmp(resource, "slots") == 0 || strcmp(resource, "cpu") == 0 ||
           strcmp(resource, "memory") == 0;
}

/* Writes the quota of the account of the line at `from`. Returns the first line of the next account. */
static size_t quota_json(const struct pool_accounts *accounts, size_t from, const char *pool,
                         struct json_out *j)
{
    const struct doc *first = accounts->quotas.at[from];
    const bool project = strcmp(item_text(first, "kind"), "project") == 0;
    json_out_object(j);
    json_out_kv_text(j, project ? "project" : "department", item_text(first, "account"));
    json_out_kv_text(j, "pool", pool);
    if (doc_get(first, "rank") != NULL) {
        item_json_field(j, doc_get(first, "rank"), false);
    }
    json_out_key(j, "resources");
    json_out_object(j);
    size_t at = from;
    for (; at < accounts->quotas.count && same_account(first, accounts->quotas.at[at]); at++) {
        if (is_built_in(item_text(accounts->quotas.at[at], "resource"))) {
            amount_json(accounts->quotas.at[at], j);
        }
    }
    json_out_end(j);
    json_out_end(j);
    return at;
}

void pool_accounts_json(const struct pool_accounts *accounts, const char *pool, struct json_out *j)
{
    json_out_key(j, "departments");
    json_out_array(j);
    for (size_t i = 0; i < accounts->departments.count; i++) {
        account_json(accounts->departments.at[i], "parent", j);
    }
    json_out_end(j);
    json_out_key(j, "projects");
    json_out_array(j);
    for (size_t i = 0; i < accounts->projects.count; i++) {
        account_json(accounts->projects.at[i], "department", j);
    }
    json_out_end(j);
    json_out_key(j, "quotas");
    json_out_array(j);
    for (size_t i = 0; i < accounts->quotas.count;) {
        i = quota_json(accounts, i, pool, j);
    }
    json_out_end(j);
}
