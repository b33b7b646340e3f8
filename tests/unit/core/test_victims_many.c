/* test_victims_many.c - who has to go where there are many nodes: what makes room is found behind any number of smaller pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

enum { NODES = 70, NODE_SLOTS = 2 };

/* Most nodes are shared: one slot is the taker's, one the lender's, who borrows. The first are the lender's alone, and oldest. */
struct many {
    struct org org;
    account_id taker;
    task_id lone; /* what the lender has alone */
};

static void many_open(struct many *many, struct org_task lone)
{
    many->org = (struct org){0};
    org_init(&many->org);
    org_nodes(&many->org, NODES, NODE_SLOTS);
    const account_id lender = org_add(&many->org, ACCOUNT_PROJECT, "lender", "");
    many->taker = org_add(&many->org, ACCOUNT_PROJECT, "taker", "");
    org_quota(&many->org, lender, (struct org_quota){20, ORG_UNLIMITED, 1, 0, 0, 0});
    org_quota(&many->org, many->taker, (struct org_quota){100, ORG_UNLIMITED, 1, 0, 0, 0});
    many->lone = org_submit(&many->org, lone);
    org_settle(&many->org);
    many->org.rig.now_ms += 3600000;
    for (uint32_t i = lone.gang ? lone.instances : 1; i < NODES; i++) {
        (void)org_submit(&many->org, (struct org_task){.project = "taker", .slots = 1});
        (void)org_submit(&many->org, (struct org_task){.project = "lender", .slots = 1});
        org_settle(&many->org);
    }
    assert_int_equal(query_pool(many->org.rig.core, org_pool_id)->slots_free, 0);
    assert_int_equal(many->org.evicted_count, 0);
}

static void one_that_makes_room_alone_is_found_behind_many_small_ones(void **state)
{
    (void)state;
    struct many many;
    many_open(&many, (struct org_task){.project = "lender", .slots = NODE_SLOTS});
    const task_id claimant =
        org_submit(&many.org, (struct org_task){.project = "taker", .slots = NODE_SLOTS});
    (void)org_pass(&many.org);
    assert_int_equal(many.org.evicted_count, 1);
    assert_int_equal(many.org.evicted[0].task.v, many.lone.v);
    org_settle(&many.org);
    assert_true(org_runs(&many.org, claimant));
    org_done(&many.org);
}

static void a_gang_that_makes_room_is_found_behind_many_small_ones(void **state)
{
    (void)state;
    struct many many;
    many_open(&many, (struct org_task){
                         .project = "lender", .slots = NODE_SLOTS, .instances = 3, .gang = true});
    const task_id claimant = org_submit(
        &many.org,
        (struct org_task){.project = "taker", .slots = NODE_SLOTS, .instances = 2, .gang = true});
    (void)org_pass(&many.org);
    assert_int_equal(many.org.evicted_count, 3);
    for (uint32_t i = 0; i < many.org.evicted_count; i++) {
        assert_int_equal(many.org.evicted[i].task.v, many.lone.v);
    }
    org_settle(&many.org);
    assert_true(org_runs(&many.org, claimant));
    org_done(&many.org);
}

static void of_those_that_make_room_alone_the_youngest_goes(void **state)
{
    (void)state;
    struct many many;
    many_open(&many, (struct org_task){.project = "lender", .slots = NODE_SLOTS});
    org_nodes(&many.org, 2, NODE_SLOTS);
    task_id young = {0};
    for (uint32_t i = 0; i < 2; i++) {
        young = org_submit(&many.org, (struct org_task){.project = "lender", .slots = NODE_SLOTS});
        org_settle(&many.org);
        many.org.rig.now_ms += 60000;
    }
    (void)org_submit(&many.org, (struct org_task){.project = "taker", .slots = NODE_SLOTS});
    (void)org_pass(&many.org);
    assert_int_equal(many.org.evicted_count, 1);
    assert_int_equal(many.org.evicted[0].task.v, young.v);
    org_done(&many.org);
}

static void youngest(struct pool_spec *spec)
{
    spec->victims = VICTIMS_YOUNGEST;
}

static void where_the_youngest_go_what_makes_room_is_found_as_well(void **state)
{
    (void)state;
    struct many many;
    many_open(&many, (struct org_task){.project = "lender", .slots = NODE_SLOTS});
    org_pool(&many.org, youngest);
    (void)org_submit(&many.org, (struct org_task){.project = "taker", .slots = NODE_SLOTS});
    (void)org_pass(&many.org);
    assert_int_equal(many.org.evicted_count, 1);
    assert_int_equal(many.org.evicted[0].task.v, many.lone.v);
    org_done(&many.org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_makes_room_alone_is_found_behind_many_small_ones),
        cmocka_unit_test(a_gang_that_makes_room_is_found_behind_many_small_ones),
        cmocka_unit_test(of_those_that_make_room_alone_the_youngest_goes),
        cmocka_unit_test(where_the_youngest_go_what_makes_room_is_found_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
