/* user_cap.c - slots by user, in a small table of those who have moved.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/order/user_cap.h"

#include "base/hash.h"
#include "core/model/claim.h"
#include "core/model/oindex.h"
#include "core/model/table.h"
#include "core/model/task.h"
#include "core/model/vector.h"
#include "core/state/key.h"
#include "core/state/query.h"

enum { USERS_FIRST = 16 };

static struct user_slots *slot_of(struct user_slots *at, uint32_t room, user_id user)
{
    uint32_t i = (uint32_t)hash_u64(user.v) & (room - 1);
    while (at[i].user.v != 0 && at[i].user.v != user.v) {
        i = (i + 1) & (room - 1);
    }
    return &at[i];
}

static void grow(struct user_caps *caps)
{
    const uint32_t room = caps->room == 0 ? USERS_FIRST : caps->room * 2;
    struct user_slots *grown = arena_new(caps->arena, struct user_slots, room);
    for (uint32_t i = 0; i < caps->room; i++) {
        if (caps->at[i].user.v != 0) {
            *slot_of(grown, room, caps->at[i].user) = caps->at[i];
        }
    }
    caps->at = grown;
    caps->room = room;
}

static struct user_slots *user_edit(struct user_caps *caps, user_id user)
{
    if ((caps->count + 1) * 2 > caps->room) {
        grow(caps);
    }
    struct user_slots *found = slot_of(caps->at, caps->room, user);
    if (found->user.v == 0) {
        found->user = user;
        for (unsigned view = 0; view < VIEW_COUNT; view++) {
            found->slots[view] = query_usage_user_slots(caps->core, user, caps->pool);
        }
        caps->count++;
    }
    return found;
}

void user_cap_move(struct user_caps *caps, user_id user, enum view view, int64_t slots)
{
    if (caps->slots_max > 0 && slots != 0) {
        user_edit(caps, user)->slots[view] += slots;
    }
}

int64_t user_cap_left(const struct user_caps *caps, user_id user, enum view view)
{
    if (caps->slots_max == 0) {
        return VECTOR_UNLIMITED;
    }
    const struct user_slots *found = caps->count == 0 ? NULL : slot_of(caps->at, caps->room, user);
    int64_t held = 0;
    if (found == NULL || found->user.v == 0) {
        held = query_usage_user_slots(caps->core, user, caps->pool);
    } else {
        const int64_t now = view == VIEW_NOW ? found->slots[VIEW_NOW] : 0;
        held = found->slots[VIEW_LATER] > now ? found->slots[VIEW_LATER] : now;
    }
    return held < caps->slots_max ? caps->slots_max - held : 0;
}

static void node_load(struct user_caps *caps, uint64_t node)
{
    const struct core *core = caps->core;
    struct okey key = {{node, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_ON_NODE], key, &key) && key.at[0] == node) {
        const struct instance *instance = query_instance_row(core, key.at[3]);
        if (instance->state == INSTANCE_STOPPING) {
            user_cap_move(caps, query_task(core, instance->task)->user, VIEW_LATER,
                          -instance->slots_milli);
        }
    }
    key = (struct okey){{node, 0, 0, 0}};
    while (oindex_next(&core->orders[ORDER_CLAIM], key, &key) && key.at[0] == node) {
        const struct claim *claim = table_get(&core->claims, key.at[3]);
        user_cap_move(caps, query_task(core, (task_id){key.at[1]})->user, VIEW_LATER,
                      claim->slots_milli);
    }
}

void user_cap_init(struct user_caps *caps, const struct core *core, pool_id pool,
                   struct arena *arena)
{
    *caps = (struct user_caps){.core = core,
                               .pool = pool,
                               .arena = arena,
                               .slots_max = query_pool(core, pool)->user_slots_max};
    struct okey key = {{pool.v, 0, 0, 0}};
    while (caps->slots_max > 0 && oindex_next(&core->orders[ORDER_NODE_CHANGING], key, &key) &&
           key.at[0] == pool.v) {
        node_load(caps, key.at[1]);
    }
}
