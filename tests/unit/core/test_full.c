/* test_full.c - a server that has as many of something as it may have refuses one more, and says how many there may be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/state/state.h"

#include <stdio.h>
#include <stdlib.h>

static const struct pool_spec pool = {.name = "another", .title = "", .description = ""};
static const struct account_spec account = {
    .kind = ACCOUNT_PROJECT, .name = "another", .parent = "", .title = "", .description = ""};

static struct node_spec node_spec(void)
{
    return (struct node_spec){.name = "another",
                              .pool = "",
                              .slots_milli = 1000,
                              .cpu_milli = 1000,
                              .memory_bytes = 1 << 20,
                              .boot_id = "",
                              .address = "",
                              .version = ""};
}

/* Is the input refused because there are too many of these? Nothing is applied. */
static bool too_many(struct rig *rig, struct input in, const char *of, int64_t most)
{
    arena_clear(&rig->arena);
    fact_list_init(&rig->facts, &rig->arena);
    in.now_ms = rig->now_ms;
    in.actor = "user:test";
    in.cause = "";
    if (core_decide(rig->core, &in, &rig->facts) == VERDICT_OK) {
        return false;
    }
    assert_int_equal(rig->facts.refusal.code, REASON_LIMIT);
    assert_string_equal(rig->facts.refusal.text, of);
    assert_int_equal(rig->facts.refusal.available, most);
    return true;
}

/* With one less than the most, one more is taken; with the most, it is refused. The counter is put back. */
#define FILLS_UP(rig, counter, most, ...)                                                          \
    do {                                                                                           \
        const uint64_t before = (counter);                                                         \
        (counter) = (__typeof__(counter))((most)-1);                                               \
        assert_false(too_many(rig, __VA_ARGS__));                                                  \
        (counter) = (__typeof__(counter))(most);                                                   \
        assert_true(too_many(rig, __VA_ARGS__));                                                   \
        (counter) = (__typeof__(counter))before;                                                   \
    } while (0)

static void a_full_server_refuses_one_more(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    struct core *core = rig.core;
    const struct task_spec task = rig_spec();
    const struct node_spec node = node_spec();
    const struct input new_pool = {.type = INPUT_POOL_CREATE, .pool = {.spec = &pool}};
    struct input new_account = {.type = INPUT_ACCOUNT_SET};
    new_account.account.spec = &account;
    const struct input new_node = {.type = INPUT_NODE_JOIN, .node = {.spec = &node}};
    const struct input new_task = {.type = INPUT_TASK_SUBMIT,
                                   .submit = {.specs = &task, .count = 1}};
    const struct input new_launch = {.type = INPUT_LAUNCH_ASK, .launch = {.pool = {1}, .count = 1}};
    const uint64_t last = core->pools.last;
    core->pools.last = POOLS_MAX + 1; /* more were made than there are */
    FILLS_UP(&rig, core->pool_count, POOLS_MAX, new_pool, "pools", POOLS_MAX);
    core->pools.last = last;
    FILLS_UP(&rig, core->pools.last, UINT32_MAX, new_pool, "pools", POOLS_MAX);
    FILLS_UP(&rig, core->accounts.last, UINT32_MAX, new_account, "departments and projects",
             ACCOUNTS_MAX);
    const uint64_t accounts = core->accounts.last;
    core->accounts.last = ACCOUNTS_MAX + 1;
    FILLS_UP(&rig, core->accounts.count, ACCOUNTS_MAX, new_account, "departments and projects",
             ACCOUNTS_MAX);
    core->accounts.last = accounts;
    struct account *top = table_edit(&core->accounts, ACCOUNT_DEFAULT_DEPARTMENT.v);
    FILLS_UP(&rig, top->child_count, ACCOUNT_CHILDREN_MAX, new_account,
             "accounts below one department", ACCOUNT_CHILDREN_MAX);
    FILLS_UP(&rig, core->node_count, NODES_MAX, new_node, "nodes", NODES_MAX);
    FILLS_UP(&rig, core->instances.count, PENDING_TASKS_MAX, new_task, "tasks that have not ended",
             PENDING_TASKS_MAX);
    FILLS_UP(&rig, core->launches.count, LAUNCHES_MAX, new_launch, "launches", LAUNCHES_MAX);
    rig_done(&rig);
}

/* Each node brings names of its own until the server knows as many as it may; quotas name a few of them. */
static void names_of_resources_and_quotas_have_an_end(void **state)
{
    (void)state;
    enum { NAMES = RESOURCES_MAX - RESOURCE_NAMED_FIRST };
    static char names[NAMES + 1][8];
    static struct named_amount amounts[NAMES + 1];
    struct node_spec node = node_spec();
    struct rig rig;
    rig_init(&rig);
    for (uint32_t i = 0; i <= NAMES; i++) {
        (void)snprintf(names[i], sizeof names[i], "r%u", (unsigned)i);
        amounts[i] = (struct named_amount){names[i], 1000};
    }
    const struct input join = {.type = INPUT_NODE_JOIN, .node = {.spec = &node}};
    for (uint32_t at = 0; at < NAMES; at += NODE_RESOURCES_MAX) {
        node.name = names[at];
        node.supervisor[0]++;
        node.resources = &amounts[at];
        node.resource_count = NAMES - at < NODE_RESOURCES_MAX ? NAMES - at : NODE_RESOURCES_MAX;
        assert_int_equal(rig_do(&rig, join), VERDICT_OK);
    }
    node.name = "last";
    node.supervisor[0]++;
    node.resources = &amounts[NAMES];
    node.resource_count = 1;
    assert_true(too_many(&rig, join, "resource names", RESOURCES_MAX));
    node.resources = &amounts[NAMES - 1];
    assert_false(too_many(&rig, join, "", 0));

    struct quota_amount of[QUOTA_DIMS_MAX + 1];
    struct quota_spec spec = {.amounts = of,
                              .rules.rank = QUOTA_RANK_DEFAULT,
                              .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                              .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    for (uint32_t i = 0; i <= QUOTA_DIMS_MAX; i++) {
        of[i] = (struct quota_amount){names[i], 1000, 1000, QUOTA_WEIGHT_DEFAULT};
    }
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = ACCOUNT_DEFAULT_PROJECT;
    in.quota.pool.v = 1;
    in.quota.spec = &spec;
    spec.amount_count = QUOTA_DIMS_MAX - DIM_NAMED_FIRST;
    assert_false(too_many(&rig, in, "", 0));
    spec.amount_count++;
    assert_true(
        too_many(&rig, in, "named resources with quotas", QUOTA_DIMS_MAX - DIM_NAMED_FIRST));
    spec.amount_count = QUOTA_DIMS_MAX + 1;
    assert_true(too_many(&rig, in, "resources with quotas", QUOTA_DIMS_MAX));
    of[1].resource = of[0].resource;
    assert_true(too_many(&rig, in, "amounts of one resource", 1));
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_server_refuses_one_more),
        cmocka_unit_test(names_of_resources_and_quotas_have_an_end),
    };
    return cmocka_run_group_tests_name("core_full", tests, NULL, NULL);
}
