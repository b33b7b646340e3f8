/* change_user.c - rows of users: one for each that has tasks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"
#include "core/model/blob.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/state/change.h"
#include "core/state/key.h"
#include "core/state/state.h"

#include <string.h>

static const struct user_row *user_named(const struct core *core, const char *name)
{
    uint64_t hash = key_name_hash(name);
    struct okey key = {{hash}};
    const struct oindex *names = &core->orders[ORDER_USER_NAME];
    for (bool more = oindex_from(names, key, &key); more && key.at[0] == hash;
         more = oindex_next(names, key, &key)) {
        const struct user_row *user = table_get(&core->users, key.at[1]);
        must(user != NULL);
        if (strcmp(blob_bytes(user->name).p, name) == 0) {
            return user;
        }
    }
    return NULL;
}

user_id change_user_take(struct core *core, const char *name)
{
    const struct user_row *found = user_named(core, name);
    if (found != NULL) {
        struct user_row *user = table_edit(&core->users, found->id.v);
        user->task_count++;
        return user->id;
    }
    must(core->users.last < UINT32_MAX);
    struct user_row *user = table_add(&core->users);
    user->id.v = (uint32_t)core->users.last;
    user->task_count = 1;
    user->name = blob_new(name, strlen(name) + 1);
    must(oindex_insert(&core->orders[ORDER_USER_NAME],
                       (struct okey){{key_name_hash(name), user->id.v}}));
    return user->id;
}

void change_user_drop(struct core *core, user_id id)
{
    struct user_row *user = table_edit(&core->users, id.v);
    must(user != NULL);
    must(user->task_count > 0);
    if (--user->task_count == 0) {
        uint64_t hash = key_name_hash(blob_bytes(user->name).p);
        must(oindex_remove(&core->orders[ORDER_USER_NAME], (struct okey){{hash, id.v}}));
        table_remove(&core->users, id.v);
    }
}
