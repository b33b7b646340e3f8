/* account_json.c - writes the department and project objects.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wire/account_json.h"

void account_json_parent(struct json_out *j, const struct core *core, const struct account *account)
{
    json_out_key(j, account->kind == ACCOUNT_PROJECT ? "department" : "parent");
    if (account->parent.v == 0) {
        json_out_null(j);
    } else {
        json_out_text(j, query_account_name(core, account->parent));
    }
}

void account_json(struct json_out *j, const struct core *core, const struct account *account,
                  struct arena *arena)
{
    struct account_spec spec;
    query_account_spec(core, account->id, arena, &spec);
    json_out_object(j);
    json_out_kv_text(j, "name", spec.name);
    account_json_parent(j, core, account);
    json_out_kv_text(j, "title", spec.title);
    json_out_kv_text(j, "description", spec.description);
    json_out_kv_u64(j, "tasks", account->task_count);
    if (account->kind == ACCOUNT_DEPARTMENT) {
        json_out_kv_u64(j, "children", account->child_count);
    }
    json_out_end(j);
}
