/* test_sharing.c - pools shared by accounts: fair shares, turns, bounds at every level, policies, gangs that grow, and the
 * reasons of those who wait. SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/explain/explain.h"
#include "core/sched/order/shares.h"
#include "core_rig.h"

static const pool_id pool = {1};

/* ---- building ---- */

static account_id add(struct rig *rig, enum account_kind kind, const char *name, const char *parent)
{
    struct account_spec spec = {.kind = kind, .name = name, .parent = parent};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_account_named(rig->core, kind, name)->id;
}

static account_id project(struct rig *rig, const char *name, const char *department)
{
    return add(rig, ACCOUNT_PROJECT, name, department);
}

/* Whole slots (or thousandths of another resource); a weight of 0 here is the default. */
struct deal {
    const char *resource;
    int64_t guaranteed;
    int64_t limit;
    uint32_t weight;
};

static void quota(struct rig *rig, account_id account, struct deal deal)
{
    const bool slots = deal.resource == NULL;
    const int64_t unit = slots ? SLOT_MILLI : 1;
    struct quota_amount amount = {.resource = slots ? "slots" : deal.resource,
                                  .guaranteed = deal.guaranteed < 0 ? deal.guaranteed
                                                                    : deal.guaranteed * unit,
                                  .limit = deal.limit < 0 ? deal.limit : deal.limit * unit,
                                  .weight = deal.weight > 0 ? deal.weight : QUOTA_WEIGHT_DEFAULT};
    struct quota_spec spec = {.amounts = &amount,
                              .amount_count = 1,
                              .rules.rank = QUOTA_RANK_DEFAULT,
                              .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                              .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = account;
    in.quota.pool = pool;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void pool_edit_spec(struct rig *rig, void (*change)(struct pool_spec *spec))
{
    struct pool_spec spec;
    struct arena arena;
    arena_init(&arena);
    query_pool_spec(rig->core, pool, &arena, &spec);
    change(&spec);
    struct input in = {.type = INPUT_POOL_EDIT};
    in.pool.pool = pool;
    in.pool.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    arena_done(&arena);
}

static task_id submit(struct rig *rig, const char *account, unsigned slots, unsigned instances)
{
    struct task_spec spec = rig_spec();
    spec.project = account;
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.instances = instances;
    return rig_submit(rig, spec);
}

static int64_t share(const struct rig *rig, account_id account)
{
    return shares_of(rig->core, account, pool, DIM_SLOTS) / SLOT_MILLI;
}

static uint32_t active(const struct rig *rig, task_id task)
{
    return query_task(rig->core, task)->active_count;
}

static struct explanation why(const struct rig *rig, task_id task)
{
    struct explanation explanation;
    explain_task(rig->core, task, &explanation);
    return explanation;
}

/* ---- shares ---- */

enum { TEAMS = 4 };

/* Two departments of 20 on 80 slots, four projects of 5 each; weights as the guarantees; the second never borrows. */
struct site {
    account_id rd;
    account_id mlops;
    account_id rd_teams[TEAMS];
    account_id ml_teams[TEAMS];
};

static struct site site_make(struct rig *rig)
{
    static const char *const rd[TEAMS] = {"rd1", "rd2", "rd3", "rd4"};
    static const char *const ml[TEAMS] = {"mlo1", "mlo2", "mlo3", "mlo4"};
    struct site site;
    char name[] = "n00";
    for (int i = 0; i < 20; i++) {
        name[1] = (char)('0' + i / 10);
        name[2] = (char)('0' + i % 10);
        (void)rig_node(rig, name, 4, 0, 1);
    }
    site.rd = add(rig, ACCOUNT_DEPARTMENT, "rd", "");
    site.mlops = add(rig, ACCOUNT_DEPARTMENT, "mlops", "");
    quota(rig, site.rd, (struct deal){NULL, 20, QUOTA_UNLIMITED, 20000});
    quota(rig, site.mlops, (struct deal){NULL, 20, 20, 20000});
    for (int i = 0; i < TEAMS; i++) {
        site.rd_teams[i] = project(rig, rd[i], "rd");
        site.ml_teams[i] = project(rig, ml[i], "mlops");
        quota(rig, site.rd_teams[i], (struct deal){NULL, 5, QUOTA_UNLIMITED, 5000});
        quota(rig, site.ml_teams[i], (struct deal){NULL, 5, 5, 5000});
    }
    return site;
}

static void everybody_hungry_gets_the_guarantee_and_lenders_lend(void **state)
{
    struct rig *rig = *state;
    const struct site site = site_make(rig);
    static const char *const all[] = {"rd1", "rd2", "rd3", "rd4", "mlo1", "mlo2", "mlo3", "mlo4"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        (void)submit(rig, all[i], 1, 200);
    }
    assert_int_equal(share(rig, site.rd), 60);
    assert_int_equal(share(rig, site.mlops), 20);
    for (int i = 0; i < TEAMS; i++) {
        assert_int_equal(share(rig, site.rd_teams[i]), 15);
        assert_int_equal(share(rig, site.ml_teams[i]), 5);
    }
}

static void what_nobody_wants_is_lent(void **state)
{
    struct rig *rig = *state;
    const struct site site = site_make(rig);
    (void)submit(rig, "rd1", 1, 100);
    assert_int_equal(share(rig, site.rd), 80);
    assert_int_equal(share(rig, site.rd_teams[0]), 80);
    assert_int_equal(share(rig, site.mlops), 0);
    (void)submit(rig, "rd2", 1, 80);
    assert_int_equal(share(rig, site.rd_teams[0]), 40);
    assert_int_equal(share(rig, site.rd_teams[1]), 40);
    (void)submit(rig, "rd3", 1, 80);
    (void)submit(rig, "mlo1", 1, 5);
    assert_int_equal(share(rig, site.rd), 75);
    assert_int_equal(share(rig, site.mlops), 5);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(share(rig, site.rd_teams[i]), 25);
    }
}

/* ---- turns and bounds ---- */

static void an_account_below_its_guarantee_is_served_first(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    quota(rig, project(rig, "a", "default"), (struct deal){NULL, 2, QUOTA_UNLIMITED, 0});
    quota(rig, project(rig, "b", "default"), (struct deal){NULL, 2, QUOTA_UNLIMITED, 0});
    const task_id early = submit(rig, "a", 1, 4);
    const task_id late = submit(rig, "b", 1, 2);
    rig_pass(rig);
    assert_int_equal(active(rig, early), 2);
    assert_int_equal(active(rig, late), 2);
}

static void a_limit_of_a_department_binds_its_projects_together(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 8, 0, 1);
    const account_id ml = add(rig, ACCOUNT_DEPARTMENT, "ml", "");
    (void)project(rig, "a", "ml");
    (void)project(rig, "b", "ml");
    quota(rig, ml, (struct deal){NULL, 0, 3, 0});
    const task_id first = submit(rig, "a", 1, 4);
    const task_id second = submit(rig, "b", 1, 4);
    rig_pass(rig);
    assert_int_equal(active(rig, first) + active(rig, second), 3);
    const struct explanation explanation = why(rig, first);
    assert_int_equal(explanation.reason.code, REASON_OVER_LIMIT);
    assert_int_equal(explanation.reason.account.v, ml.v);
    assert_int_equal(explanation.account.limit, 3000);
    assert_int_equal(explanation.account.allocated, 3000);
    /* As much more as the reason says is missing, and the next one starts. */
    const int64_t more = explanation.reason.wanted - explanation.reason.available;
    quota(rig, ml, (struct deal){NULL, 0, (explanation.account.limit + more) / SLOT_MILLI, 0});
    rig_pass(rig);
    assert_int_equal(active(rig, first) + active(rig, second), 4);
}

static void a_smaller_request_within_the_limit_starts(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 8, 0, 1);
    quota(rig, project(rig, "a", "default"), (struct deal){NULL, 0, 5, 0});
    (void)submit(rig, "a", 2, 1);
    rig_pass(rig);
    const task_id large = submit(rig, "a", 4, 1);
    rig_pass(rig);
    const struct explanation explanation = why(rig, large);
    assert_int_equal(explanation.reason.code, REASON_OVER_LIMIT);
    assert_int_equal(explanation.reason.wanted, 4000);
    assert_int_equal(explanation.reason.available, 3000);
    assert_int_equal(explanation.reason.smallest, 3000);
    const task_id smaller = submit(rig, "a", (unsigned)(explanation.reason.smallest / 1000), 1);
    rig_pass(rig);
    assert_int_equal(active(rig, smaller), 1);
    assert_int_equal(active(rig, large), 0);
}

static void work_that_is_not_preemptible_stays_within_the_guarantee(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 8, 0, 1);
    const account_id a = project(rig, "a", "default");
    quota(rig, a, (struct deal){NULL, 2, QUOTA_UNLIMITED, 0});
    struct task_spec spec = rig_spec();
    spec.project = "a";
    spec.slots_milli = 3000;
    spec.preemptible = false;
    const task_id fixed = rig_submit(rig, spec);
    rig_pass(rig);
    const struct explanation explanation = why(rig, fixed);
    assert_int_equal(active(rig, fixed), 0);
    assert_int_equal(explanation.reason.code, REASON_OVER_GUARANTEE);
    assert_int_equal(explanation.reason.account.v, a.v);
    assert_int_equal(explanation.reason.wanted, 3000);
    assert_int_equal(explanation.reason.available, 2000);
    assert_int_equal(explanation.reason.smallest, 2000);
    /* Both ways out. */
    spec.preemptible = true;
    const task_id preemptible = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(active(rig, preemptible), 1);
    quota(rig, a, (struct deal){NULL, 3, QUOTA_UNLIMITED, 0});
    rig_pass(rig);
    assert_int_equal(active(rig, fixed), 1);
}

static void cpu_that_comes_with_slots_counts_against_its_limit(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    struct node_spec node;
    query_node_spec(rig->core, query_node_named(rig->core, "n")->id, &rig->kept, &node);
    const account_id a = project(rig, "a", "default");
    const int64_t part = node.cpu_milli / 4;
    quota(rig, a, (struct deal){"cpu", QUOTA_UNLIMITED, 2 * part, 0});
    const task_id task = submit(rig, "a", 1, 4);
    rig_pass(rig);
    assert_int_equal(active(rig, task), 2);
    assert_int_equal(why(rig, task).reason.code, REASON_OVER_LIMIT);
    assert_int_equal(why(rig, task).reason.resource.v, RESOURCE_CPU);
    quota(rig, a, (struct deal){"cpu", QUOTA_UNLIMITED, 3 * part, 0});
    rig_pass(rig);
    assert_int_equal(active(rig, task), 3);
}

static void cap_two(struct pool_spec *spec)
{
    spec->user_slots_max = 2000;
}

static void a_user_has_no_more_than_the_pools_cap(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 8, 0, 1);
    pool_edit_spec(rig, cap_two);
    const task_id mine = submit(rig, "default", 1, 4);
    struct task_spec spec = rig_spec();
    spec.user = "v";
    const task_id theirs = rig_submit(rig, spec);
    rig_pass(rig);
    assert_int_equal(active(rig, mine), 2);
    assert_int_equal(active(rig, theirs), 1);
    const struct explanation explanation = why(rig, mine);
    assert_int_equal(explanation.reason.code, REASON_USER_CAP);
    assert_int_equal(explanation.reason.available, 0);
}

static void delay_minute(struct pool_spec *spec)
{
    spec->preemption_delay_ms = 60000;
}

static void who_may_take_back_waits_for_the_delay_first(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 2, 0, 1);
    pool_edit_spec(rig, delay_minute);
    (void)project(rig, "a", "default");
    quota(rig, project(rig, "b", "default"), (struct deal){NULL, 2, QUOTA_UNLIMITED, 0});
    (void)submit(rig, "a", 1, 2);
    rig_pass(rig);
    const task_id owner = submit(rig, "b", 1, 1);
    rig_pass(rig);
    const struct explanation explanation = why(rig, owner);
    assert_int_equal(explanation.reason.code, REASON_PREEMPTION_DELAY);
    assert_int_equal(explanation.reason.until_ms, rig->now_ms + 60000);
}

/* ---- policies ---- */

static void policy_fifo(struct pool_spec *spec)
{
    spec->policy = POLICY_FIFO;
}

static void policy_priority(struct pool_spec *spec)
{
    spec->policy = POLICY_PRIORITY;
}

static void policy_round_robin(struct pool_spec *spec)
{
    spec->policy = POLICY_ROUND_ROBIN;
}

static void placement_spread(struct pool_spec *spec)
{
    spec->placement = PLACEMENT_SPREAD;
}

static task_id with_priority(struct rig *rig, const char *account, uint32_t priority)
{
    struct task_spec spec = rig_spec();
    spec.project = account;
    spec.priority = priority;
    return rig_submit(rig, spec);
}

static void fifo_goes_by_submission_priority_by_priority(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 1, 0, 1);
    (void)project(rig, "a", "default");
    (void)project(rig, "b", "default");
    pool_edit_spec(rig, policy_fifo);
    const task_id low = with_priority(rig, "a", 10);
    const task_id high = with_priority(rig, "b", 90);
    rig_pass(rig);
    assert_int_equal(active(rig, low), 1);
    assert_int_equal(active(rig, high), 0);
    rig_run(rig, low, 0, 0);
    pool_edit_spec(rig, policy_priority);
    const task_id again = with_priority(rig, "a", 10);
    rig_pass(rig);
    assert_int_equal(active(rig, high), 1);
    assert_int_equal(active(rig, again), 0);
}

static void round_robin_takes_projects_in_turn(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 4, 0, 1);
    (void)project(rig, "a", "default");
    (void)project(rig, "b", "default");
    pool_edit_spec(rig, policy_round_robin);
    const task_id many = submit(rig, "a", 1, 10);
    const task_id few = submit(rig, "b", 1, 10);
    rig_pass(rig);
    assert_int_equal(active(rig, many), 2);
    assert_int_equal(active(rig, few), 2);
}

static void spread_takes_the_emptiest_node(void **state)
{
    struct rig *rig = *state;
    const node_id first = rig_node(rig, "n1", 4, 0, 1);
    const node_id second = rig_node(rig, "n2", 4, 0, 2);
    pool_edit_spec(rig, placement_spread);
    const task_id task = submit(rig, "default", 1, 3);
    rig_pass(rig);
    assert_int_equal(query_instance(rig->core, task, 0)->node.v, first.v);
    assert_int_equal(query_instance(rig->core, task, 1)->node.v, second.v);
    assert_int_equal(query_instance(rig->core, task, 2)->node.v, first.v);
}

/* ---- gangs that grow ---- */

static task_id elastic(struct rig *rig, uint32_t least, uint32_t most)
{
    struct task_spec spec = rig_spec();
    spec.instances = most;
    spec.gang = true;
    spec.min_instances = least;
    return rig_submit(rig, spec);
}

static void a_gang_starts_with_its_minimum_and_grows(void **state)
{
    struct rig *rig = *state;
    const task_id gang = elastic(rig, 2, 4);
    (void)rig_node(rig, "n1", 1, 0, 1);
    rig_pass(rig);
    assert_int_equal(active(rig, gang), 0);
    assert_int_equal(why(rig, gang).reason.code, REASON_GANG_TOO_LARGE);
    (void)rig_node(rig, "n2", 2, 0, 2);
    rig_pass(rig);
    assert_int_equal(active(rig, gang), 3);
    (void)rig_node(rig, "n3", 2, 0, 3);
    rig_pass(rig);
    assert_int_equal(active(rig, gang), 4);
}

static void a_gang_below_its_minimum_goes_before_one_that_grows(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n", 5, 0, 1);
    const task_id first = elastic(rig, 2, 8);
    const task_id second = elastic(rig, 2, 8);
    rig_pass(rig);
    assert_int_equal(active(rig, first), 3);
    assert_int_equal(active(rig, second), 2);
}

static void a_gang_loses_one_and_goes_on(void **state)
{
    struct rig *rig = *state;
    const node_id first = rig_node(rig, "n1", 2, 0, 1);
    const node_id second = rig_node(rig, "n2", 1, 0, 2);
    const task_id gang = elastic(rig, 2, 3);
    rig_pass(rig);
    assert_int_equal(active(rig, gang), 3);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_SILENT, second), VERDICT_OK);
    assert_int_equal(rig_on_node(rig, INPUT_NODE_LOST, second), VERDICT_OK);
    assert_int_equal(active(rig, gang), 2);
    assert_int_equal(query_task(rig->core, gang)->stopping_count, 0);
    assert_int_equal(query_task(rig->core, gang)->waiting_count, 1);
    /* Below its minimum it waits for those it lost, but not for ever. */
    const uint32_t kept = query_instance(rig->core, gang, 0)->state == INSTANCE_WAITING ? 1 : 0;
    (void)rig_on_node(rig, INPUT_NODE_SILENT, first);
    rig_report(rig, gang, kept, REPORT_LOST, 0);
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, gang)->stopping_count, 0);
    assert_int_equal(query_task(rig->core, gang)->stale_ms, rig->now_ms);
    rig->now_ms += STALE_GRACE_MS_DEFAULT - 1;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(query_task(rig->core, gang)->stopping_count, 0);
    rig->now_ms += 1;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
    assert_int_equal(query_task(rig->core, gang)->stopping_count, 1);
    assert_int_equal(query_task_eviction(rig->core, gang)->why.rule, EVICT_STALE);
    assert_int_equal(query_task(rig->core, gang)->stale_ms, 0);
}

static void more_slots_than_a_node_has_spread_unevenly(void **state)
{
    struct rig *rig = *state;
    (void)rig_node(rig, "n5", 5, 0, 1);
    (void)rig_node(rig, "n4", 4, 0, 2);
    (void)rig_node(rig, "n3", 3, 0, 3);
    const task_id seven = submit(rig, "default", 7, 1);
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, seven)->instance_count, 7);
    assert_int_equal(active(rig, seven), 7);
    const task_id five = submit(rig, "default", 5, 1);
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, five)->instance_count, 1); /* one node could hold it */
    struct task_spec spec = rig_spec();
    spec.slots_milli = 13000;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(rig->facts.refusal.wanted, 13000);
    assert_int_equal(rig->facts.refusal.smallest, 12000);
    spec.slots_milli = rig->facts.refusal.smallest;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_OK);
}

static int setup(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(everybody_hungry_gets_the_guarantee_and_lenders_lend),
        TEST(what_nobody_wants_is_lent),
        TEST(an_account_below_its_guarantee_is_served_first),
        TEST(a_limit_of_a_department_binds_its_projects_together),
        TEST(a_smaller_request_within_the_limit_starts),
        TEST(work_that_is_not_preemptible_stays_within_the_guarantee),
        TEST(cpu_that_comes_with_slots_counts_against_its_limit),
        TEST(a_user_has_no_more_than_the_pools_cap),
        TEST(who_may_take_back_waits_for_the_delay_first),
        TEST(fifo_goes_by_submission_priority_by_priority),
        TEST(round_robin_takes_projects_in_turn),
        TEST(spread_takes_the_emptiest_node),
        TEST(a_gang_starts_with_its_minimum_and_grows),
        TEST(a_gang_below_its_minimum_goes_before_one_that_grows),
        TEST(a_gang_loses_one_and_goes_on),
        TEST(more_slots_than_a_node_has_spread_unevenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
