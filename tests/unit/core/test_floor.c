/* test_floor.c - a guarantee shields the work that fits it, and no larger work (S10.15 to S10.21).
 *
 * `bo` borrows, `ow` asks for more than it is guaranteed and no more than its share.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

struct two {
    struct org org;
    account_id bo;
    account_id ow;
};

static void two_open(struct two *two, int64_t guaranteed_bo, int64_t guaranteed_ow)
{
    org_init(&two->org);
    two->bo = org_add(&two->org, ACCOUNT_PROJECT, "bo", "default");
    two->ow = org_add(&two->org, ACCOUNT_PROJECT, "ow", "default");
    org_quota(&two->org, two->bo,
              (struct org_quota){.guaranteed = guaranteed_bo, .limit = ORG_UNLIMITED, .weight = 1});
    org_quota(&two->org, two->ow,
              (struct org_quota){.guaranteed = guaranteed_ow, .limit = ORG_UNLIMITED, .weight = 1});
}

static task_id ask(struct two *two, const char *project, unsigned slots)
{
    return org_submit(&two->org, (struct org_task){.project = project, .slots = slots});
}

static void a_task_larger_than_the_guarantee_is_not_shielded(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4);
    org_nodes(&two.org, 1, 10);
    const task_id gang = ask(&two, "bo", 8);
    org_settle(&two.org);
    const task_id five = ask(&two, "ow", 5);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, five));
    assert_false(org_runs(&two.org, gang));
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.why[0].rule, EVICT_SHARE);
    org_done(&two.org);
}

static void a_task_that_fits_is_shielded(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 6);
    org_nodes(&two.org, 1, 8);
    const task_id own = ask(&two, "ow", 3);
    const task_id large = ask(&two, "bo", 3);
    (void)ask(&two, "bo", 1);
    (void)ask(&two, "bo", 1);
    org_settle(&two.org);
    assert_int_equal(org_holds(&two.org, two.bo), 5);
    const task_id four = ask(&two, "ow", 4); /* needs one of the small tasks, too */
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 0);
    assert_false(org_runs(&two.org, four));
    assert_true(org_runs(&two.org, large));
    assert_true(org_runs(&two.org, own));
    org_done(&two.org);
}

/* The gang runs with 7 of its 8 instances. The eighth fits the guarantee, but cannot run alone. */
static void an_instance_above_the_minimum_goes_with_its_gang(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 4);
    org_nodes(&two.org, 1, 10);
    (void)org_submit(
        &two.org,
        (struct org_task){
            .project = "bo", .slots = 1, .instances = 8, .min_instances = 7, .gang = true});
    org_settle(&two.org);
    const task_id five = ask(&two, "ow", 5);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, five));
    assert_int_equal(org_holds(&two.org, two.bo), 0);
    org_done(&two.org);
}

static void waiting_tasks_that_fit_find_places_beside_the_claimant(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 4, 4);
    org_nodes(&two.org, 1, 10);
    (void)ask(&two, "bo", 8);
    org_settle(&two.org);
    const task_id waits = ask(&two, "bo", 4);
    org_settle(&two.org);
    const task_id five = ask(&two, "ow", 5);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, five));
    assert_true(org_runs(&two.org, waits));
    assert_int_equal(two.org.evicted_count, 1);
    org_done(&two.org);
}

/* Beside the claimant 3 slots of one node and 2 of the other are left: the waiting task of 4 would have to evict the claimant. */
static void waiting_tasks_that_find_no_place_keep_what_their_account_holds(void **state)
{
    (void)state;
    for (unsigned size = 3; size <= 4; size++) {
        struct two two;
        two_open(&two, 4, 4);
        org_nodes(&two.org, 1, 8);
        (void)rig_node(&two.org.rig, "small", 2, 0, 9);
        const task_id gang = ask(&two, "bo", 8);
        org_settle(&two.org);
        const task_id waits = ask(&two, "bo", size);
        org_settle(&two.org);
        const task_id five = ask(&two, "ow", 5);
        org_settle(&two.org);
        assert_int_equal(org_runs(&two.org, five), size == 3);
        assert_int_equal(org_runs(&two.org, waits), size == 3);
        assert_int_equal(org_runs(&two.org, gang), size == 4);
        org_done(&two.org);
    }
}

/* The small task of `bo` was told to stop and is still there: whether it will find a place cannot be tried yet. */
static void a_task_that_is_leaving_counts_as_a_waiting_one(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 2);
    org_quota(&two.org, two.ow,
              (struct org_quota){.guaranteed = 2, .limit = ORG_UNLIMITED, .weight = 3});
    org_nodes(&two.org, 1, 4);
    (void)ask(&two, "ow", 1);
    const task_id large = ask(&two, "bo", 2);
    const task_id small = ask(&two, "bo", 1);
    org_settle(&two.org);
    (void)ask(&two, "ow", 1);
    (void)org_pass(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, small.v);
    const task_id third = ask(&two, "ow", 1);
    (void)org_pass(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, third));
    assert_true(org_runs(&two.org, small));
    assert_false(org_runs(&two.org, large));
    org_done(&two.org);
}

/* Within its guarantee the claimant takes at once, whatever of the payer fits. */
static void a_guarantee_asks_for_no_floor(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 4, 5);
    org_nodes(&two.org, 1, 8);
    (void)rig_node(&two.org.rig, "small", 2, 0, 9);
    (void)ask(&two, "bo", 8);
    org_settle(&two.org);
    (void)ask(&two, "bo", 4);
    org_settle(&two.org);
    const task_id five = ask(&two, "ow", 5);
    org_settle(&two.org);
    assert_true(org_runs(&two.org, five));
    org_done(&two.org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_larger_than_the_guarantee_is_not_shielded),
        cmocka_unit_test(a_task_that_fits_is_shielded),
        cmocka_unit_test(an_instance_above_the_minimum_goes_with_its_gang),
        cmocka_unit_test(waiting_tasks_that_fit_find_places_beside_the_claimant),
        cmocka_unit_test(waiting_tasks_that_find_no_place_keep_what_their_account_holds),
        cmocka_unit_test(a_task_that_is_leaving_counts_as_a_waiting_one),
        cmocka_unit_test(a_guarantee_asks_for_no_floor),
    };
    return cmocka_run_group_tests_name("floor", tests, NULL, NULL);
}
