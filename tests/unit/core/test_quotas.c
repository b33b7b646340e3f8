/* test_quotas.c - quotas as they were set: listed and read again (an exported state has them), and no more resources than can be
 * accounted. SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "core/sched/order/shares.h"

static const struct quota_amount amounts[] = {{"slots", 1000, 5000, 3000},
                                              {"memory", QUOTA_UNSET, 77, QUOTA_WEIGHT_DEFAULT}};

static void quota_set(struct org *org, account_id account, pool_id pool)
{
    const struct quota_spec spec = {.amounts = amounts,
                                    .amount_count = 2,
                                    .rules.rank = 7,
                                    .rules.preempt_min_runtime_ms = 8,
                                    .rules.reclaim_min_runtime_ms = 9};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = account;
    in.quota.pool = pool;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

/* Everything that was set comes back, in order of pool and account, of the pools that exist. */
static void what_was_set_can_be_listed_and_edited(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    struct rig *rig = &org.rig;
    const account_id a = org_add(&org, ACCOUNT_PROJECT, "a", "");
    const account_id b = org_add(&org, ACCOUNT_PROJECT, "b", "");
    const struct pool_spec other = {.name = "other", .title = "", .description = ""};
    struct input in = {.type = INPUT_POOL_CREATE, .pool = {.spec = &other}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    const pool_id second = query_pool_named(rig->core, "other")->id;
    quota_set(&org, b, (pool_id){1});
    quota_set(&org, a, (pool_id){1});
    quota_set(&org, b, second);
    struct quota_spec read;
    query_quota_spec(rig->core, b, second, &rig->kept, &read);
    assert_int_equal(read.amount_count, 2);
    assert_string_equal(read.amounts[0].resource, "slots");
    assert_int_equal(read.amounts[0].guaranteed, 1000);
    assert_int_equal(read.amounts[0].limit, 5000);
    assert_int_equal(read.amounts[0].weight, 3000);
    assert_string_equal(read.amounts[1].resource, "memory");
    assert_int_equal(read.amounts[1].guaranteed, QUOTA_UNSET);
    assert_int_equal(read.amounts[1].limit, 77);
    assert_int_equal(read.rules.rank, 7);
    assert_int_equal(read.rules.preempt_min_runtime_ms, 8);
    assert_int_equal(read.rules.reclaim_min_runtime_ms, 9);
    query_quota_spec(rig->core, a, second, &rig->kept, &read);
    assert_int_equal(read.amount_count, 0);
    assert_int_equal(read.rules.rank, QUOTA_RANK_DEFAULT);
    account_id account = {0};
    pool_id pool = {0};
    assert_true(query_quota_next(rig->core, &account, &pool));
    assert_true(account.v == a.v && pool.v == 1);
    assert_true(query_quota_next(rig->core, &account, &pool));
    assert_true(account.v == b.v && pool.v == 1);
    assert_true(query_quota_next(rig->core, &account, &pool));
    assert_true(account.v == b.v && pool.v == second.v);
    assert_false(query_quota_next(rig->core, &account, &pool));
    in = (struct input){.type = INPUT_POOL_DELETE, .pool = {.pool = second, .now = true}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    account = b;
    pool = (pool_id){1};
    assert_false(query_quota_next(rig->core, &account, &pool));
    org_done(&org);
}

static enum verdict name_resource(struct org *org, account_id account, uint32_t number)
{
    char name[8];
    (void)snprintf(name, sizeof name, "r%u", number);
    const struct quota_amount amount = {name, (int64_t)number * 1000, QUOTA_UNLIMITED, 1000};
    const struct quota_spec spec = {.amounts = &amount,
                                    .amount_count = 1,
                                    .rules.rank = QUOTA_RANK_DEFAULT,
                                    .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                                    .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = account;
    in.quota.pool = org_pool_id;
    in.quota.spec = &spec;
    return rig_do(&org->rig, in);
}

/* Slots, cpu and memory are always accounted; five names more are, and a sixth is refused until one of them is free again. What all
 * nodes have of a name is divided. */
static void eight_resources_can_be_accounted(void **state)
{
    (void)state;
    struct org org;
    struct named_amount has[6];
    static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5"};
    account_id projects[6];
    org_init(&org);
    for (uint32_t i = 0; i < 6; i++) {
        has[i] = (struct named_amount){names[i], 1000 * (int64_t)(i + 1)};
        char name[8];
        (void)snprintf(name, sizeof name, "p%u", i);
        projects[i] = org_add(&org, ACCOUNT_PROJECT, name, "");
    }
    for (uint8_t i = 1; i <= 3; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "n%u", i);
        struct node_spec spec = {.name = name,
                                 .pool = "",
                                 .slots_milli = 4000,
                                 .cpu_milli = 4000,
                                 .memory_bytes = 1 << 20,
                                 .resources = has,
                                 .resource_count = 6,
                                 .supervisor = {i},
                                 .boot_id = "",
                                 .address = "",
                                 .version = ""};
        struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
        assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(name_resource(&org, projects[i], i), VERDICT_OK);
        assert_int_equal(query_dim_count(org.rig.core), 4 + i);
    }
    assert_int_equal(name_resource(&org, projects[5], 5), VERDICT_REFUSED);
    assert_int_equal(org.rig.facts.refusal.code, REASON_LIMIT);
    assert_int_equal(org.rig.facts.refusal.available, 5);
    struct task_spec spec = rig_spec();
    const struct named_amount wants = {"r4", 5000};
    spec.project = "p1";
    spec.instances = 3;
    spec.resources = &wants;
    spec.resource_count = 1;
    (void)rig_submit(&org.rig, spec);
    resource_id resource;
    uint32_t dim;
    assert_true(query_resource_named(org.rig.core, "r4", &resource));
    assert_true(query_dim_of(org.rig.core, resource, &dim));
    assert_int_equal(dim, 7);
    /* Three nodes have 5 each; 4 of these 15 are guaranteed to p4, which wants none of it. */
    assert_int_equal(shares_of(org.rig.core, projects[1], org_pool_id, dim), 15000);
    struct core *plain = core_copy(org.rig.core);
    core_caches_off(plain);
    assert_int_equal(shares_of(plain, projects[1], org_pool_id, dim), 15000);
    core_free(plain);
    org_settle(&org);
    struct usage usage;
    query_usage(org.rig.core, projects[1], org_pool_id, &usage);
    assert_int_equal(usage.allocated.at[dim], 15000);
    org_done(&org);
}

static int64_t shown(const struct org *org, account_id account)
{
    const int64_t share = shares_shown(org->rig.core, account, org_pool_id, DIM_SLOTS);
    struct core *plain = core_copy(org->rig.core);
    core_caches_off(plain);
    assert_int_equal(shares_shown(plain, account, org_pool_id, DIM_SLOTS), share);
    core_free(plain);
    return share;
}

/* The shares of the accounts below each department make its share, and those at the top at most the pool. */
static void assert_adds_up(const struct org *org, int64_t total)
{
    const struct account *parent = NULL;
    do {
        const account_id above = parent != NULL ? parent->id : (account_id){0};
        const struct account *child =
            query_account_child_next(org->rig.core, above, (account_id){0});
        int64_t sum = 0;
        for (; child != NULL; child = query_account_child_next(org->rig.core, above, child->id)) {
            sum += shown(org, child->id);
        }
        if (parent == NULL) {
            assert_in_range(sum, 0, total);
        } else if (parent->kind == ACCOUNT_DEPARTMENT) {
            assert_int_equal(sum, shown(org, parent->id));
        }
        parent = query_account_next(org->rig.core, above);
    } while (parent != NULL);
}

static void shown_shares_add_up(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 4);
    const account_id ml = org_add(&org, ACCOUNT_DEPARTMENT, "ml", "");
    const account_id ops = org_add(&org, ACCOUNT_DEPARTMENT, "ops", "");
    const account_id a = org_add(&org, ACCOUNT_PROJECT, "a", "ml");
    const account_id b = org_add(&org, ACCOUNT_PROJECT, "b", "ml");
    const account_id c = org_add(&org, ACCOUNT_PROJECT, "c", "ops");
    static const char *const names[] = {"a", "b", "c"};
    for (uint32_t i = 0; i < 3; i++) {
        (void)org_submit(&org, (struct org_task){.project = names[i], .slots = 1, .instances = 6});
    }
    assert_adds_up(&org, 4 * SLOT_MILLI);
    /* Fourteen and three are promised of four. */
    org_quota(&org, a, (struct org_quota){.guaranteed = 8, .limit = ORG_UNLIMITED, .weight = 1});
    org_quota(&org, b, (struct org_quota){.guaranteed = 6, .limit = ORG_UNLIMITED, .weight = 1});
    org_quota(&org, c, (struct org_quota){.guaranteed = 3, .limit = 1, .weight = 1});
    assert_true(shares_of(org.rig.core, a, org_pool_id, DIM_SLOTS) > 4 * SLOT_MILLI);
    assert_int_equal(shown(&org, ml) + shown(&org, ops), 4 * SLOT_MILLI);
    assert_adds_up(&org, 4 * SLOT_MILLI);
    /* The department has less than the accounts below are promised. */
    org_quota(&org, ml, (struct org_quota){.guaranteed = 2, .limit = ORG_UNLIMITED, .weight = 1});
    assert_int_equal(shown(&org, a) + shown(&org, b), shown(&org, ml));
    assert_adds_up(&org, 4 * SLOT_MILLI);
    /* Six wait below ops, and one of them may run: its department does not show the others. */
    org_quota(&org, a, (struct org_quota){.limit = 0, .weight = 1});
    org_quota(&org, b, (struct org_quota){.limit = 0, .weight = 1});
    assert_int_equal(shown(&org, c), 1 * SLOT_MILLI);
    assert_int_equal(shown(&org, ops), 1 * SLOT_MILLI);
    assert_adds_up(&org, 4 * SLOT_MILLI);
    org_done(&org);
}

static void spreads(struct pool_spec *spec)
{
    spec->placement = PLACEMENT_SPREAD;
}

static void node_with_cpu(struct org *org, const char *name, unsigned slots, int64_t cpu_milli,
                          uint8_t supervisor)
{
    struct node_spec spec = {.name = name,
                             .pool = "default",
                             .slots_milli = (int64_t)slots * SLOT_MILLI,
                             .cpu_milli = cpu_milli,
                             .boot_id = "",
                             .address = "",
                             .version = "",
                             .trouble = "",
                             .unprevented = ""};
    spec.supervisor[0] = supervisor;
    struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(&org->rig, in), VERDICT_OK);
}

/* A slot of node `wide` brings two cores, a slot of node `narrow` half a core. The project may hold two cores. One instance on `wide`
 * would leave too little for the other instance, so the gang starts on `narrow` as a whole. */
static void a_gang_stays_within_a_limit_of_cpu(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_pool(&org, spreads);
    node_with_cpu(&org, "wide", 4, 8000, 1);
    node_with_cpu(&org, "narrow", 4, 2000, 2);
    const struct quota_amount cpu[] = {{"cpu", 0, 2000, QUOTA_WEIGHT_DEFAULT}};
    const struct quota_spec spec = {.amounts = cpu, .amount_count = 1};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = org_add(&org, ACCOUNT_PROJECT, "a", "");
    in.quota.pool = org_pool_id;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(&org.rig, in), VERDICT_OK);
    struct task_spec gang = rig_spec();
    gang.project = "a";
    gang.gang = true;
    gang.instances = 2;
    gang.min_instances = 2;
    const task_id task = rig_submit(&org.rig, gang);
    (void)org_pass(&org);
    assert_int_equal(rig_state(&org.rig, task), TASK_STARTING);
    const node_id narrow = query_node_named(org.rig.core, "narrow")->id;
    assert_int_equal(query_instance(org.rig.core, task, 0)->node.v, narrow.v);
    assert_int_equal(query_instance(org.rig.core, task, 1)->node.v, narrow.v);
    org_done(&org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_set_can_be_listed_and_edited),
        cmocka_unit_test(eight_resources_can_be_accounted),
        cmocka_unit_test(shown_shares_add_up),
        cmocka_unit_test(a_gang_stays_within_a_limit_of_cpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
