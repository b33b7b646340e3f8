/* test_broken_gangs.c - gangs that lose instances: whole again in time, or stopped; and what counts while promises are open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

enum { GRACE_MS = STALE_GRACE_MS_DEFAULT };

struct yard {
    struct org org;
    node_id nodes[3]; /* of two slots each */
};

static void yard_open(struct yard *yard)
{
    static const char *const names[] = {"n1", "n2", "n3"};
    org_init(&yard->org);
    for (uint32_t i = 0; i < 3; i++) {
        yard->nodes[i] = rig_node(&yard->org.rig, names[i], 2, 0, (uint8_t)(i + 1));
    }
}

/* A gang of four slots on two of the nodes. */
static struct task_spec gang_spec(uint32_t least)
{
    struct task_spec spec = rig_spec();
    spec.instances = 4;
    spec.gang = true;
    spec.min_instances = least;
    return spec;
}

static task_id gang_run(struct yard *yard, struct task_spec spec)
{
    const task_id gang = rig_submit(&yard->org.rig, spec);
    org_settle(&yard->org);
    assert_true(org_runs(&yard->org, gang));
    return gang;
}

static const struct task *row(const struct yard *yard, task_id task)
{
    return query_task(yard->org.rig.core, task);
}

static void node_lose(struct yard *yard, node_id node)
{
    assert_int_equal(rig_on_node(&yard->org.rig, INPUT_NODE_SILENT, node), VERDICT_OK);
    assert_int_equal(rig_on_node(&yard->org.rig, INPUT_NODE_LOST, node), VERDICT_OK);
}

/* The node of an instance is lost, and no other has room. */
static void lose_in_vain(struct yard *yard, task_id gang)
{
    const node_id lost = query_instance(yard->org.rig.core, gang, 0)->node;
    for (uint32_t i = 0; i < 3; i++) {
        const node_id node = yard->nodes[i];
        if (query_node(yard->org.rig.core, node)->instance_count == 0) {
            assert_int_equal(rig_on_node(&yard->org.rig, INPUT_NODE_SILENT, node), VERDICT_OK);
        }
    }
    node_lose(yard, lost);
}

static void tick(struct yard *yard, int64_t later_ms)
{
    yard->org.rig.now_ms += later_ms;
    assert_int_equal(rig_do(&yard->org.rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
}

static void what_was_lost_comes_back_and_the_others_go_on(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    const task_id gang = gang_run(&yard, gang_spec(3));
    node_lose(&yard, query_instance(yard.org.rig.core, gang, 0)->node);
    assert_int_equal(row(&yard, gang)->active_count, 2);
    assert_int_equal(row(&yard, gang)->stopping_count, 0);
    assert_int_equal(row(&yard, gang)->stale_ms, yard.org.rig.now_ms);
    org_settle(&yard.org);
    assert_true(org_runs(&yard.org, gang));
    assert_int_equal(row(&yard, gang)->stale_ms, 0);
    uint32_t again = 0;
    for (uint32_t i = 0; i < 4; i++) {
        again += query_instance(yard.org.rig.core, gang, i)->attempt == 2;
    }
    assert_int_equal(again, 2);
    org_done(&yard.org);
}

static void after_its_grace_all_of_it_begins_again(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    const task_id gang = gang_run(&yard, gang_spec(3));
    lose_in_vain(&yard, gang);
    assert_int_equal(query_deadline(yard.org.rig.core), yard.org.rig.now_ms + GRACE_MS);
    tick(&yard, GRACE_MS - 1);
    assert_int_equal(row(&yard, gang)->stopping_count, 0);
    tick(&yard, 1);
    assert_int_equal(rig_count(&yard.org.rig, FACT_EVICTED), 2);
    assert_int_equal(rig_fact(&yard.org.rig, FACT_EVICTED)->evicted.why.rule, EVICT_STALE);
    assert_int_equal(row(&yard, gang)->stopping_count, 2);
    org_settle(&yard.org);
    assert_int_equal(row(&yard, gang)->waiting_count, 4);
    assert_int_equal(row(&yard, gang)->retries, 0);
    assert_int_equal(row(&yard, gang)->preempted_count, 0);
    assert_int_equal(query_task_eviction(yard.org.rig.core, gang)->why.rule, EVICT_STALE);
    org_done(&yard.org);
}

static void one_that_needs_all_is_stopped_at_once(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    const task_id gang = gang_run(&yard, gang_spec(0));
    lose_in_vain(&yard, gang);
    assert_int_equal(row(&yard, gang)->stopping_count, 2);
    org_done(&yard.org);
}

static void a_task_may_have_a_grace_of_its_own(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    struct task_spec spec = gang_spec(0);
    spec.own_stale_grace = true;
    spec.stale_grace_ms = 5000;
    const task_id gang = gang_run(&yard, spec);
    lose_in_vain(&yard, gang);
    assert_int_equal(row(&yard, gang)->stopping_count, 0);
    tick(&yard, 5000);
    assert_int_equal(row(&yard, gang)->stopping_count, 2);
    org_done(&yard.org);
}

static void never_is_never(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    struct task_spec spec = gang_spec(0);
    spec.own_stale_grace = true;
    spec.stale_grace_ms = STALE_GRACE_NEVER;
    const task_id gang = gang_run(&yard, spec);
    lose_in_vain(&yard, gang);
    tick(&yard, 1000 * (int64_t)GRACE_MS);
    assert_int_equal(row(&yard, gang)->stopping_count, 0);
    assert_int_equal(row(&yard, gang)->active_count, 2);
    org_done(&yard.org);
}

static void shorter(struct pool_spec *spec)
{
    spec->stale_grace_ms = 10000;
}

static void the_grace_of_a_pool_can_change_meanwhile(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    const task_id gang = gang_run(&yard, gang_spec(3));
    lose_in_vain(&yard, gang);
    org_pool(&yard.org, shorter);
    tick(&yard, 10000);
    assert_int_equal(row(&yard, gang)->stopping_count, 2);
    org_done(&yard.org);
}

static void a_new_server_gives_it_its_grace_anew(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    const task_id gang = gang_run(&yard, gang_spec(3));
    lose_in_vain(&yard, gang);
    yard.org.rig.now_ms += GRACE_MS - 1;
    assert_int_equal(rig_do(&yard.org.rig, (struct input){.type = INPUT_SERVER_START}), VERDICT_OK);
    tick(&yard, GRACE_MS - 1);
    assert_int_equal(row(&yard, gang)->stopping_count, 0);
    tick(&yard, 1);
    assert_int_equal(row(&yard, gang)->stopping_count, 2);
    org_done(&yard.org);
}

static void who_gives_up_meanwhile_did_not_fail(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    const task_id gang = gang_run(&yard, gang_spec(3));
    lose_in_vain(&yard, gang);
    const uint32_t stays =
        query_instance(yard.org.rig.core, gang, 0)->state == INSTANCE_RUNNING ? 0 : 3;
    rig_report(&yard.org.rig, gang, stays, REPORT_ENDED, 1);
    assert_int_equal(row(&yard, gang)->stopping_count, 1);
    org_settle(&yard.org);
    assert_int_equal(rig_state(&yard.org.rig, gang), TASK_PENDING);
    assert_int_equal(row(&yard, gang)->waiting_count, 4);
    assert_int_equal(row(&yard, gang)->retries, 0);
    org_done(&yard.org);
}

/* ---- gangs that fail ---- */

static void a_gang_that_fails_ends_though_some_still_wait(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    struct task_spec spec = gang_spec(2);
    spec.instances = 8; /* six slots: two wait */
    const task_id gang = rig_submit(&yard.org.rig, spec);
    org_settle(&yard.org);
    assert_int_equal(row(&yard, gang)->waiting_count, 2);
    rig_report(&yard.org.rig, gang, 0, REPORT_ENDED, 7);
    org_settle(&yard.org);
    assert_null(row(&yard, gang));
    assert_int_equal(query_task_outcome(yard.org.rig.core, gang), TASK_FAILED);
    org_done(&yard.org);
}

static void a_gang_that_fails_while_one_makes_room_ends(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    struct org *org = &yard.org;
    const account_id owner = org_add(org, ACCOUNT_PROJECT, "owner", "");
    const account_id lender = org_add(org, ACCOUNT_PROJECT, "borrower", "");
    org_quota(org, owner, (struct org_quota){.guaranteed = 1, .limit = ORG_UNLIMITED});
    org_quota(org, lender, (struct org_quota){.guaranteed = 0, .limit = ORG_UNLIMITED});
    struct task_spec spec = gang_spec(2);
    spec.instances = 6;
    spec.project = "borrower";
    const task_id gang = gang_run(&yard, spec);
    (void)org_submit(org, (struct org_task){.project = "owner", .slots = 1});
    (void)org_pass(org);
    assert_int_equal(org->evicted_count, 1);
    const uint32_t leaves = org->evicted[0].index;
    rig_report(&org->rig, gang, leaves == 0 ? 1 : 0, REPORT_ENDED, 7);
    rig_report(&org->rig, gang, leaves, REPORT_ENDED, 143); /* preempted, but not to come again */
    org_settle(org);
    assert_null(row(&yard, gang));
    assert_int_equal(query_task_outcome(org->rig.core, gang), TASK_FAILED);
    org_done(org);
}

/* ---- promises ---- */

static void capped(struct pool_spec *spec)
{
    spec->user_slots_max = 4 * SLOT_MILLI;
}

static void promises_count_for_the_cap_of_a_user(void **state)
{
    (void)state;
    struct yard yard;
    yard_open(&yard);
    struct org *org = &yard.org;
    const account_id owner = org_add(org, ACCOUNT_PROJECT, "owner", "");
    (void)org_add(org, ACCOUNT_PROJECT, "borrower", "");
    org_quota(org, owner, (struct org_quota){.guaranteed = 6, .limit = ORG_UNLIMITED, .weight = 1});
    struct task_spec spec = rig_spec();
    spec.user = "other";
    spec.project = "borrower";
    for (uint32_t i = 0; i < 6; i++) {
        (void)rig_submit(&org->rig, spec);
    }
    org_settle(org);
    org_pool(org, capped);
    for (uint32_t i = 0; i < 6; i++) {
        (void)org_submit(org, (struct org_task){.project = "owner", .slots = 1});
    }
    (void)org_pass(org);
    assert_int_equal(org->evicted_count, 4);
    org_settle(org);
    assert_int_equal(org->evicted_count, 4);
    assert_int_equal(org_holds(org, owner), 4);
    org_done(org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_lost_comes_back_and_the_others_go_on),
        cmocka_unit_test(after_its_grace_all_of_it_begins_again),
        cmocka_unit_test(one_that_needs_all_is_stopped_at_once),
        cmocka_unit_test(a_task_may_have_a_grace_of_its_own),
        cmocka_unit_test(never_is_never),
        cmocka_unit_test(the_grace_of_a_pool_can_change_meanwhile),
        cmocka_unit_test(a_new_server_gives_it_its_grace_anew),
        cmocka_unit_test(who_gives_up_meanwhile_did_not_fail),
        cmocka_unit_test(a_gang_that_fails_ends_though_some_still_wait),
        cmocka_unit_test(a_gang_that_fails_while_one_makes_room_ends),
        cmocka_unit_test(promises_count_for_the_cap_of_a_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
