/* test_victims.c - who has to go: the order of accounts and inside one, protections in time, what is moved rather than lost, and
 * what is never taken.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "core/sched/explain/explain.h"

/* Two teams with equal rights on one pool; `lender` runs first. */
struct two {
    struct org org;
    account_id lender;
    account_id taker;
};

static void two_open(struct two *two, uint32_t nodes, unsigned slots, int64_t guaranteed)
{
    org_init(&two->org);
    org_nodes(&two->org, nodes, slots);
    two->lender = org_add(&two->org, ACCOUNT_PROJECT, "lender", "");
    two->taker = org_add(&two->org, ACCOUNT_PROJECT, "taker", "");
    const struct org_quota quota = {guaranteed, ORG_UNLIMITED, 1, 0, 0, 0};
    org_quota(&two->org, two->lender, quota);
    org_quota(&two->org, two->taker, quota);
}

static task_id lend(struct two *two, unsigned slots, uint32_t priority)
{
    return org_submit(&two->org,
                      (struct org_task){.project = "lender", .slots = slots, .priority = priority});
}

static task_id take(struct two *two, unsigned slots)
{
    return org_submit(&two->org, (struct org_task){.project = "taker", .slots = slots});
}

static void youngest(struct pool_spec *spec)
{
    spec->victims = VICTIMS_YOUNGEST;
}

static void off(struct pool_spec *spec)
{
    spec->preemption_off = true;
}

static void protected(struct pool_spec *spec)
{
    spec->reclaim_min_runtime_ms = 600000;
}

static void delayed(struct pool_spec *spec)
{
    spec->preemption_delay_ms = 600000;
}

static void by_priority(struct pool_spec *spec)
{
    spec->policy = POLICY_PRIORITY;
}

static void unmoved(struct pool_spec *spec)
{
    spec->consolidation_max = 0;
}

/* ---- inside an account ---- */

static void the_lowest_priority_goes_first(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4, 2);
    const task_id low = lend(&two, 1, 10);
    for (uint32_t i = 0; i < 3; i++) {
        (void)lend(&two, 1, 50);
    }
    org_settle(&two.org);
    const task_id claimant = take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, low.v);
    assert_true(org_runs(&two.org, claimant));
    org_done(&two.org);
}

static void the_set_that_loses_least_goes(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4, 2);
    (void)lend(&two, 1, 0);
    (void)lend(&two, 1, 0);
    org_settle(&two.org);
    two.org.rig.now_ms += 5000;
    const task_id wide = lend(&two, 2, 0);
    (void)org_pass(&two.org);
    (void)org_agents(&two.org);
    two.org.rig.now_ms++; /* what starts in a moment is not taken back in that moment */
    /* Each of the small ones loses less than the wide one, both together lose more. */
    const task_id claimant = take(&two, 2);
    (void)org_pass(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, wide.v);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, claimant));
    org_done(&two.org);
}

static void what_ran_longest_stays(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 1);
    const task_id first = lend(&two, 1, 0);
    org_settle(&two.org);
    two.org.rig.now_ms += 3600000;
    const task_id second = lend(&two, 1, 0);
    org_settle(&two.org);
    (void)take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, second.v);
    assert_true(org_runs(&two.org, first));
    org_done(&two.org);
}

static void an_elastic_gang_gives_what_is_above_its_minimum(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4, 2);
    const task_id elastic = org_submit(
        &two.org,
        (struct org_task){
            .project = "lender", .slots = 1, .instances = 4, .min_instances = 1, .gang = true});
    org_settle(&two.org);
    assert_int_equal(org_holds(&two.org, two.lender), 4);
    (void)take(&two, 2);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 2);
    assert_int_equal(two.org.evicted[0].index, 3);
    assert_int_equal(two.org.evicted[1].index, 2);
    assert_int_equal(query_task(two.org.rig.core, elastic)->active_count, 2);
    assert_int_equal(org_holds(&two.org, two.taker), 2);
    org_done(&two.org);
}

static void a_gang_goes_whole(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4, 2);
    const task_id gang = org_submit(
        &two.org, (struct org_task){.project = "lender", .slots = 1, .instances = 4, .gang = true});
    org_settle(&two.org);
    (void)take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 4);
    assert_int_equal(rig_state(&two.org.rig, gang), TASK_PENDING);
    assert_int_equal(org_holds(&two.org, two.taker), 1);
    org_done(&two.org);
}

/* ---- between accounts ---- */

static void the_account_furthest_above_its_right_gives(void **state)
{
    (void)state;
    struct org org;
    org_init(&org);
    org_nodes(&org, 1, 10);
    const account_id a = org_add(&org, ACCOUNT_PROJECT, "a", "");
    const account_id b = org_add(&org, ACCOUNT_PROJECT, "b", "");
    const account_id c = org_add(&org, ACCOUNT_PROJECT, "c", "");
    org_quota(&org, a, (struct org_quota){2, ORG_UNLIMITED, 1, 0, 0, 0});
    org_quota(&org, b, (struct org_quota){2, ORG_UNLIMITED, 1, 0, 0, 0});
    org_quota(&org, c, (struct org_quota){2, ORG_UNLIMITED, 1, 0, 0, 0});
    (void)org_submit(&org, (struct org_task){.project = "a", .slots = 1, .instances = 7});
    org_settle(&org);
    (void)org_submit(&org, (struct org_task){.project = "b", .slots = 1, .instances = 3});
    org_settle(&org);
    (void)org_submit(&org, (struct org_task){.project = "c", .slots = 1, .instances = 2});
    org_settle(&org);
    assert_int_equal(org_holds(&org, c), 2);
    assert_int_equal(org_holds(&org, b), 3);
    assert_int_equal(org_holds(&org, a), 5);
    org_done(&org);
}

static void nobody_within_his_guarantee_loses(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4, 4);
    for (uint32_t i = 0; i < 4; i++) {
        (void)lend(&two, 1, 0);
    }
    org_settle(&two.org);
    const task_id claimant = take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    assert_false(org_runs(&two.org, claimant));
    org_done(&two.org);
}

static void what_is_not_preemptible_stays(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4, 2);
    (void)org_submit(
        &two.org, (struct org_task){.project = "lender", .slots = 2, .fixed = true, .priority = 1});
    const task_id loose = lend(&two, 2, 100);
    org_settle(&two.org);
    (void)take(&two, 2);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, loose.v);
    org_done(&two.org);
}

static void nothing_is_evicted_in_vain(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 2, 2);
    /* One of two slots of each node is out of reach: no place for two slots can be made. */
    for (uint32_t i = 0; i < 2; i++) {
        (void)org_submit(&two.org,
                         (struct org_task){.project = "lender", .slots = 1, .fixed = true});
        org_settle(&two.org);
        (void)lend(&two, 1, 0);
        org_settle(&two.org);
    }
    const task_id claimant = take(&two, 2);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    assert_false(org_runs(&two.org, claimant));
    org_done(&two.org);
}

/* ---- protections ---- */

static void preemption_can_be_off(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 1);
    org_pool(&two.org, off);
    (void)lend(&two, 1, 0);
    (void)lend(&two, 1, 0);
    org_settle(&two.org);
    (void)take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    org_done(&two.org);
}

static void a_minimum_runtime_protects_until_it_is_over(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 1);
    org_pool(&two.org, protected);
    (void)lend(&two, 1, 0);
    (void)lend(&two, 1, 0);
    org_settle(&two.org);
    const task_id claimant = take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    /* Nothing else happens, the claimant's patience is over: the pool wakes by itself. */
    two.org.rig.now_ms += 2 * 60000;
    org_settle(&two.org);
    const int64_t wake_ms = query_pool(two.org.rig.core, org_pool_id)->wake_ms;
    assert_true(wake_ms > two.org.rig.now_ms);
    assert_int_equal(query_deadline(two.org.rig.core), wake_ms);
    pool_id due;
    assert_false(query_pass_due(two.org.rig.core, wake_ms - 1, &due));
    assert_true(query_pass_due(two.org.rig.core, wake_ms, &due));
    two.org.rig.now_ms = wake_ms;
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_true(org_runs(&two.org, claimant));
    org_done(&two.org);
}

static void a_claimant_waits_for_its_delay(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 1);
    org_pool(&two.org, delayed);
    (void)lend(&two, 1, 0);
    (void)lend(&two, 1, 0);
    org_settle(&two.org);
    const task_id claimant = take(&two, 1);
    const int64_t due_ms = query_task(two.org.rig.core, claimant)->submitted_ms + 600000;
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    const int64_t wake_ms = query_pool(two.org.rig.core, org_pool_id)->wake_ms;
    assert_true(wake_ms != 0 && wake_ms <= due_ms);
    two.org.rig.now_ms = due_ms;
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_true(org_runs(&two.org, claimant));
    org_done(&two.org);
}

static void a_claimant_may_have_a_delay_of_its_own(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 1);
    org_pool(&two.org, delayed);
    (void)lend(&two, 1, 0);
    (void)lend(&two, 1, 0);
    org_settle(&two.org);
    struct task_spec spec = rig_spec();
    spec.project = "taker";
    spec.preemption_delay_ms = 20000;
    const task_id claimant = rig_submit(&two.org.rig, spec);
    const int64_t due_ms = query_task(two.org.rig.core, claimant)->submitted_ms + 20000;
    (void)org_pass(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    struct explanation why;
    explain_task(two.org.rig.core, claimant, &why);
    assert_int_equal(why.reason.code, REASON_PREEMPTION_DELAY);
    assert_int_equal(why.reason.until_ms, due_ms);
    assert_int_equal(query_pool(two.org.rig.core, org_pool_id)->wake_ms, due_ms);
    two.org.rig.now_ms = due_ms;
    org_settle(&two.org);
    assert_true(org_runs(&two.org, claimant));
    org_done(&two.org);
}

/* ---- priorities ---- */

static void a_higher_priority_takes_inside_its_project(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 2);
    const task_id low = lend(&two, 1, 10);
    const task_id middle = lend(&two, 1, 50);
    org_settle(&two.org);
    const task_id equal = lend(&two, 1, 50);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1); /* the low one made room for the equal one */
    assert_int_equal(two.org.evicted[0].task.v, low.v);
    assert_int_equal(two.org.why[0].rule, EVICT_PRIORITY);
    org_forget(&two.org);
    (void)lend(&two, 1, 50);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0); /* equal priorities never take from each other */
    assert_true(org_runs(&two.org, equal));
    assert_true(org_runs(&two.org, middle));
    org_done(&two.org);
}

static void in_a_pool_by_priority_it_takes_from_anybody(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2, 2);
    org_pool(&two.org, by_priority);
    const task_id low = lend(&two, 1, 10);
    (void)lend(&two, 1, 90);
    org_settle(&two.org);
    const task_id claimant = take(&two, 1); /* priority 50 */
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, low.v);
    assert_true(org_runs(&two.org, claimant));
    org_done(&two.org);
}

/* ---- moving ---- */

/* Two nodes of four slots, each half full, and a task for three. */
static task_id half_full(struct two *two, task_id *ret_last)
{
    two_open(two, 2, 4, 8);
    for (uint32_t i = 0; i < 4; i++) {
        const task_id task = lend(two, 2, 0);
        *ret_last = task;
    }
    org_settle(&two->org);
    const struct task *row = query_task_next(two->org.rig.core, (task_id){0});
    /* One of the two on each node ends. */
    node_id kept = {0};
    while (row != NULL) {
        const task_id id = row->id;
        const node_id node = query_instance(two->org.rig.core, id, 0)->node;
        if (node.v == kept.v) {
            org_kill(&two->org, id);
        } else {
            *ret_last = id;
        }
        kept = node;
        row = query_task_next(two->org.rig.core, id);
    }
    org_settle(&two->org);
    org_forget(&two->org);
    assert_int_equal(org_holds(&two->org, two->lender), 4);
    return lend(two, 3, 0);
}

static void tasks_move_together_for_a_larger_one(void **state)
{
    (void)state;
    struct two two;
    task_id last;
    const task_id large = half_full(&two, &last);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.why[0].rule, EVICT_CONSOLIDATE);
    assert_int_equal(two.org.why[0].claimant.v, large.v);
    assert_true(org_runs(&two.org, large));
    assert_int_equal(org_holds(&two.org, two.lender), 7); /* nobody lost its place */
    org_done(&two.org);
}

static void the_one_that_moves_has_its_place_kept(void **state)
{
    (void)state;
    struct two two;
    task_id last;
    const task_id large = half_full(&two, &last);
    assert_true(org_pass(&two.org));
    assert_int_equal(two.org.evicted_count, 1);
    const task_id moved = two.org.evicted[0].task;
    const struct claim *claim = query_instance_claim(two.org.rig.core, moved, 0);
    assert_non_null(claim);
    assert_int_not_equal(claim->node.v, query_instance(two.org.rig.core, moved, 0)->node.v);
    assert_non_null(query_instance_claim(two.org.rig.core, large, 0));
    /* A late comer does not get it. */
    const task_id late = take(&two, 2);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, moved));
    assert_true(org_runs(&two.org, large));
    assert_false(org_runs(&two.org, late));
    org_done(&two.org);
}

static void a_pool_may_not_want_that(void **state)
{
    (void)state;
    struct two two;
    task_id last;
    const task_id large = half_full(&two, &last);
    org_pool(&two.org, unmoved);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    assert_false(org_runs(&two.org, large));
    org_done(&two.org);
}

/* The lender may lose one slot only, but the claimant needs a whole node: one is lost, the other moves. */
static void who_finds_another_place_is_not_lost(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 4, 4);
    org_pool(&two.org, youngest);
    (void)lend(&two, 2, 0);
    const task_id filler = lend(&two, 2, 0);
    org_settle(&two.org);
    const task_id pair = lend(&two, 2, 0);
    const task_id one = lend(&two, 1, 0);
    org_settle(&two.org);
    org_kill(&two.org, filler);
    org_settle(&two.org);
    org_forget(&two.org);
    assert_int_equal(org_holds(&two.org, two.lender), 5);
    const task_id claimant = take(&two, 4);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, claimant));
    assert_true(org_runs(&two.org, pair));
    assert_int_equal(org_holds(&two.org, two.lender), 4);
    assert_false(org_runs(&two.org, one));
    org_done(&two.org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_priority_goes_first),
        cmocka_unit_test(the_set_that_loses_least_goes),
        cmocka_unit_test(what_ran_longest_stays),
        cmocka_unit_test(an_elastic_gang_gives_what_is_above_its_minimum),
        cmocka_unit_test(a_gang_goes_whole),
        cmocka_unit_test(the_account_furthest_above_its_right_gives),
        cmocka_unit_test(nobody_within_his_guarantee_loses),
        cmocka_unit_test(what_is_not_preemptible_stays),
        cmocka_unit_test(nothing_is_evicted_in_vain),
        cmocka_unit_test(preemption_can_be_off),
        cmocka_unit_test(a_minimum_runtime_protects_until_it_is_over),
        cmocka_unit_test(a_claimant_waits_for_its_delay),
        cmocka_unit_test(a_claimant_may_have_a_delay_of_its_own),
        cmocka_unit_test(a_higher_priority_takes_inside_its_project),
        cmocka_unit_test(in_a_pool_by_priority_it_takes_from_anybody),
        cmocka_unit_test(tasks_move_together_for_a_larger_one),
        cmocka_unit_test(the_one_that_moves_has_its_place_kept),
        cmocka_unit_test(a_pool_may_not_want_that),
        cmocka_unit_test(who_finds_another_place_is_not_lost),
    };
    return cmocka_run_group_tests_name("core_victims", tests, NULL, NULL);
}
