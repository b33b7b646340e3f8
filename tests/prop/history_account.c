/* history_account.c - random edits of departments, projects and quotas, valid and invalid ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include "history_account.h"

enum { NAMES = 5 };

static const char *const names[NAMES] = {"default", "a", "b", "c", "d"};
static const char *const users[] = {"root", "ann", "bob"};

const char *pick_project(struct world *world)
{
    const char *name = names[dice_roll(&world->dice, NAMES)];
    const bool there = query_account_named(world->core, ACCOUNT_PROJECT, name) != NULL;
    return there || dice_once_in(&world->dice, 10) ? name : "default";
}

const char *pick_user(struct world *world)
{
    return users[dice_roll(&world->dice, 3)];
}

static enum account_kind pick_kind(struct world *world)
{
    return dice_once_in(&world->dice, 2) ? ACCOUNT_PROJECT : ACCOUNT_DEPARTMENT;
}

void account_set(struct world *world)
{
    const struct account_spec spec = {
        .kind = pick_kind(world),
        .name = names[dice_roll(&world->dice, NAMES)],
        .parent = dice_once_in(&world->dice, 3) ? "" : names[dice_roll(&world->dice, NAMES)],
        .title = dice_once_in(&world->dice, 2) ? "t" : "",
        .description = "",
    };
    const struct account *account = query_account_named(world->core, spec.kind, spec.name);
    const bool create = account == NULL || dice_once_in(&world->dice, 8);
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.account = create ? (account_id){0} : account->id;
    in.account.spec = &spec;
    (void)world_step(world, in);
}

static const struct account *pick_account(struct world *world)
{
    return query_account_named(world->core, pick_kind(world),
                               names[dice_roll(&world->dice, NAMES)]);
}

void account_delete(struct world *world)
{
    const struct account *account = pick_account(world);
    if (account != NULL) {
        struct input in = {.type = INPUT_ACCOUNT_DELETE};
        in.account.account = account->id;
        (void)world_step(world, in);
    }
}

static int64_t amount_roll(struct world *world, int64_t low)
{
    return dice_once_in(&world->dice, 3) ? low + (int64_t)dice_roll(&world->dice, 3)
                                         : 500 * (int64_t)dice_roll(&world->dice, 12);
}

void quota_set(struct world *world)
{
    static const char *const resources[] = {"slots", "cpu", "memory", "foo", "bar"};
    const struct account *account = pick_account(world);
    const struct pool *pool = query_pool_next(world->core, (pool_id){dice_roll(&world->dice, 2)});
    if (account == NULL || pool == NULL) {
        return;
    }
    struct quota_amount amounts[5];
    struct quota_spec spec = {
        .amounts = amounts,
        .rules.rank = dice_once_in(&world->dice, 4) ? 200 : QUOTA_RANK_DEFAULT,
        .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
        .rules.reclaim_min_runtime_ms = dice_once_in(&world->dice, 6) ? 5000 : QUOTA_INHERIT,
    };
    for (uint32_t i = 0; i < 5; i++) {
        if (dice_once_in(&world->dice, i < 3 ? 2 : 4)) {
            amounts[spec.amount_count++] = (struct quota_amount){
                .resource = resources[i],
                .guaranteed = amount_roll(world, QUOTA_UNSET),
                .limit = dice_once_in(&world->dice, 2) ? QUOTA_UNLIMITED
                                                       : amount_roll(world, QUOTA_UNLIMITED),
                .weight = dice_once_in(&world->dice, 2) ? QUOTA_WEIGHT_DEFAULT
                                                        : 500 * dice_roll(&world->dice, 5),
            };
        }
    }
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = account->id;
    in.quota.pool = pool->id;
    in.quota.spec = &spec;
    (void)world_step(world, in);
}

static void project_make(struct world *world, enum account_kind kind, const char *name,
                         const char *parent)
{
    const struct account_spec spec = {
        .kind = kind, .name = name, .parent = parent, .title = "", .description = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    law(world_step(world, in) == VERDICT_OK, "an account is made");
    const struct quota_amount amount = {
        .resource = "slots",
        .guaranteed = SLOT_MILLI * (int64_t)dice_roll(&world->dice, 5),
        .limit = QUOTA_UNLIMITED,
        .weight = 500 * dice_roll(&world->dice, 4),
    };
    const struct quota_spec quota = {
        .amounts = &amount,
        .amount_count = 1,
        .rules.rank = QUOTA_RANK_DEFAULT,
        .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
        .rules.reclaim_min_runtime_ms = QUOTA_INHERIT,
    };
    in = (struct input){.type = INPUT_QUOTA_SET};
    in.quota.account = query_account_named(world->core, kind, name)->id;
    in.quota.pool = query_pool_named(world->core, "default")->id;
    in.quota.spec = &quota;
    law(world_step(world, in) == VERDICT_OK, "a quota is set");
}

void organisation_make(struct world *world)
{
    project_make(world, ACCOUNT_DEPARTMENT, "a", "");
    for (uint32_t i = 1; i < NAMES; i++) {
        project_make(world, ACCOUNT_PROJECT, names[i], i % 2 == 0 ? "a" : "default");
    }
}
