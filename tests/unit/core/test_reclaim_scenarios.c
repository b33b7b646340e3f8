/* test_reclaim_scenarios.c - whole organisations: who holds what after each step, who had to go, and that it ends there.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

/* ---- two departments on 80 slots ---- */

enum { RD = 4, MLO = 4, JOBS = 20 };

struct site {
    struct org org;
    account_id rd;
    account_id mlops;
    account_id rd_of[RD];
    account_id mlo_of[MLO];
    task_id rd1[JOBS];
};

static const char *const rd_names[RD] = {"rd1", "rd2", "rd3", "rd4"};
static const char *const mlo_names[MLO] = {"mlo1", "mlo2", "mlo3", "mlo4"};

/* Borrowing allowed for R&D, not for MLops; where it is a plain switch the guarantee is the weight. */
static void site_open(struct site *site)
{
    struct org *org = &site->org;
    org_init(org);
    org_nodes(org, 20, 4);
    site->rd = org_add(org, ACCOUNT_DEPARTMENT, "rd", "");
    site->mlops = org_add(org, ACCOUNT_DEPARTMENT, "mlops", "");
    org_quota(org, site->rd, (struct org_quota){20, ORG_UNLIMITED, 20, 0, 0, 0});
    org_quota(org, site->mlops, (struct org_quota){20, 20, 20, 0, 0, 0});
    for (uint32_t i = 0; i < RD; i++) {
        site->rd_of[i] = org_add(org, ACCOUNT_PROJECT, rd_names[i], "rd");
        org_quota(org, site->rd_of[i], (struct org_quota){5, ORG_UNLIMITED, 5, 0, 0, 0});
    }
    for (uint32_t i = 0; i < MLO; i++) {
        site->mlo_of[i] = org_add(org, ACCOUNT_PROJECT, mlo_names[i], "mlops");
        org_quota(org, site->mlo_of[i], (struct org_quota){5, 5, 5, 0, 0, 0});
    }
}

static task_id training(struct site *site, const char *project)
{
    return org_submit(&site->org, (struct org_task){.project = project, .slots = 4});
}

static task_id inference(struct site *site, const char *project, unsigned slots)
{
    return org_submit(&site->org,
                      (struct org_task){.project = project, .slots = slots, .fixed = true});
}

static void assert_holds(const struct site *site, account_id account, int64_t slots)
{
    assert_int_equal(org_holds(&site->org, account), slots);
}

static uint32_t settled_evictions(struct site *site)
{
    org_forget(&site->org);
    org_settle(&site->org);
    return site->org.evicted_count;
}

static void step_1_all_is_lent(struct site *site)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        site->rd1[i] = training(site, "rd1");
    }
    assert_int_equal(settled_evictions(site), 0);
    assert_holds(site, site->rd_of[0], 80);
}

static void step_2_the_owner_gets_his_own(struct site *site)
{
    const task_id task = inference(site, "mlo1", 4);
    assert_int_equal(settled_evictions(site), 1);
    const struct eviction *why = &site->org.why[0];
    assert_int_equal(site->org.evicted[0].task.v, site->rd1[JOBS - 1].v);
    assert_int_equal(why->claimant.v, task.v);
    assert_int_equal(why->rule, EVICT_SHARE);
    assert_int_equal(why->victim.account.v, site->rd.v);
    assert_int_equal(why->victim.allocated, 80 * SLOT_MILLI);
    assert_int_equal(why->victim.guaranteed, 20 * SLOT_MILLI);
    assert_int_equal(why->victim.share, 76 * SLOT_MILLI);
    assert_int_equal(why->taker.account.v, site->mlops.v);
    assert_int_equal(why->taker.allocated, 0);
    assert_int_equal(why->taker.share, 4 * SLOT_MILLI);
    assert_true(org_runs(&site->org, task));
    assert_int_equal(rig_state(&site->org.rig, site->rd1[JOBS - 1]), TASK_PENDING);
    assert_holds(site, site->rd_of[0], 76);
}

static void step_3_above_the_limit_waits(struct site *site)
{
    const task_id large = inference(site, "mlo1", 4);
    const task_id small = inference(site, "mlo1", 1);
    assert_int_equal(settled_evictions(site), 1);
    assert_false(org_runs(&site->org, large));
    assert_true(org_runs(&site->org, small));
    assert_holds(site, site->rd_of[0], 72);
    assert_holds(site, site->mlo_of[0], 5);
}

static void step_4_the_others_come(struct site *site)
{
    for (uint32_t i = 1; i < MLO; i++) {
        (void)inference(site, mlo_names[i], 4);
    }
    assert_int_equal(settled_evictions(site), 3);
    assert_holds(site, site->mlops, 17);
    assert_holds(site, site->rd_of[0], 60);
}

static void step_5_siblings_share(struct site *site)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        (void)training(site, "rd2");
    }
    assert_int_equal(settled_evictions(site), 7);
    assert_holds(site, site->rd_of[0], 32);
    assert_holds(site, site->rd_of[1], 28);
}

static void step_6_a_gang_uses_what_is_free(struct site *site)
{
    const task_id never = org_submit(
        &site->org, (struct org_task){
                        .project = "rd3", .slots = 3, .instances = 2, .gang = true, .fixed = true});
    assert_int_equal(settled_evictions(site), 0);
    assert_false(org_runs(&site->org, never));
    const task_id gang = org_submit(
        &site->org, (struct org_task){
                        .project = "rd3", .slots = 1, .instances = 5, .gang = true, .fixed = true});
    assert_int_equal(settled_evictions(site), 1);
    assert_true(org_runs(&site->org, gang));
    assert_holds(site, site->rd_of[0], 28);
    assert_holds(site, site->rd_of[1], 28);
    assert_holds(site, site->rd_of[2], 5);
    assert_holds(site, site->mlops, 17);
}

static void step_7_the_rest_grows_into_what_is_free(struct site *site)
{
    for (uint32_t i = 0; i < JOBS; i++) {
        org_kill(&site->org, site->rd1[i]);
    }
    assert_int_equal(settled_evictions(site), 0);
    assert_holds(site, site->rd_of[0], 0);
    assert_holds(site, site->rd_of[1], 56);
}

static void two_departments_lend_and_take_back(void **state)
{
    (void)state;
    struct site site = {0};
    site_open(&site);
    step_1_all_is_lent(&site);
    step_2_the_owner_gets_his_own(&site);
    step_3_above_the_limit_waits(&site);
    step_4_the_others_come(&site);
    step_5_siblings_share(&site);
    step_6_a_gang_uses_what_is_free(&site);
    step_7_the_rest_grows_into_what_is_free(&site);
    org_done(&site.org);
}

/* ---- two teams on four slots ---- */

static void quick_start(struct org *org, void (*change)(struct pool_spec *spec), task_id *a1,
                        task_id *a2, task_id *b2)
{
    org_init(org);
    org_nodes(org, 2, 2);
    org_pool(org, change);
    const account_id a = org_add(org, ACCOUNT_PROJECT, "team-a", "");
    const account_id b = org_add(org, ACCOUNT_PROJECT, "team-b", "");
    org_quota(org, a, (struct org_quota){2, ORG_UNLIMITED, 1, 0, 0, 0});
    org_quota(org, b, (struct org_quota){2, ORG_UNLIMITED, 1, 0, 0, 0});
    *a1 = org_submit(org, (struct org_task){.project = "team-a", .slots = 1});
    org_settle(org);
    *a2 = org_submit(org, (struct org_task){.project = "team-a", .slots = 2});
    org_settle(org);
    const task_id b1 = org_submit(org, (struct org_task){.project = "team-b", .slots = 1});
    org_settle(org);
    assert_true(org_runs(org, *a1) && org_runs(org, *a2) && org_runs(org, b1));
    *b2 = org_submit(org, (struct org_task){.project = "team-b", .slots = 1});
    org_settle(org);
    assert_int_equal(org->evicted_count, 1);
    assert_true(org_runs(org, *b2));
}

static void least_loss(struct pool_spec *spec)
{
    spec->victims = VICTIMS_LEAST_LOSS;
}

static void youngest(struct pool_spec *spec)
{
    spec->victims = VICTIMS_YOUNGEST;
}

static void the_smaller_loss_goes(void **state)
{
    (void)state;
    struct org org;
    task_id a1;
    task_id a2;
    task_id b2;
    quick_start(&org, least_loss, &a1, &a2, &b2);
    assert_int_equal(org.evicted[0].task.v, a1.v);
    assert_true(org_runs(&org, a2));
    assert_int_equal(rig_state(&org.rig, a1), TASK_PENDING);
    org_done(&org);
}

static void the_youngest_goes(void **state)
{
    (void)state;
    struct org org;
    task_id a1;
    task_id a2;
    task_id b2;
    quick_start(&org, youngest, &a1, &a2, &b2);
    assert_int_equal(org.evicted[0].task.v, a2.v);
    assert_true(org_runs(&org, a1));
    org_done(&org);
}

/* ---- five projects, three pools of which each is one site here ---- */

struct five {
    int64_t departments[2];
    struct org_quota projects[5];
    uint32_t nodes;
    int64_t shares[5];
};

static void five_projects_get_their_shares(const struct five *five)
{
    static const char *const names[5] = {"p1", "p2", "p3", "p4", "p5"};
    struct org org;
    account_id ids[5];
    org_init(&org);
    org_nodes(&org, five->nodes, 8);
    for (uint32_t i = 0; i < 2; i++) {
        const account_id id = org_add(&org, ACCOUNT_DEPARTMENT, i == 0 ? "a" : "b", "");
        const int64_t own = five->departments[i];
        org_quota(&org, id, (struct org_quota){own, ORG_UNLIMITED, (uint32_t)own, 0, 0, 0});
    }
    for (uint32_t i = 0; i < 5; i++) {
        ids[i] = org_add(&org, ACCOUNT_PROJECT, names[i], i < 3 ? "a" : "b");
        org_quota(&org, ids[i], five->projects[i]);
    }
    /* The last one comes first and borrows all it may; then everybody is hungry. */
    for (uint32_t i = 5; i > 0; i--) {
        (void)org_submit(
            &org,
            (struct org_task){.project = names[i - 1], .slots = 1, .instances = five->nodes * 8});
        org_settle(&org);
    }
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(org_holds(&org, ids[i]), five->shares[i]);
    }
    org_done(&org);
}

static void five_projects_in_three_pools(void **state)
{
    (void)state;
    const int64_t open = ORG_UNLIMITED;
    const struct five pool_a = {
        {16, 18},
        {{10, open, 2, 0, 0, 0},
         {6, open, 3, 0, 0, 0},
         {0, open, 1, 0, 0, 0},
         {12, open, 1, 0, 0, 0},
         {6, open, 3, 0, 0, 0}},
        5,
        {11, 8, 0, 13, 8},
    };
    const struct five pool_b = {
        {48, 24},
        {{20, open, 2, 0, 0, 0},
         {28, open, 2, 0, 0, 0},
         {0, open, 1, 0, 0, 0},
         {20, open, 1, 0, 0, 0},
         {4, open, 3, 0, 0, 0}},
        9,
        {20, 28, 0, 20, 4},
    };
    const struct five pool_c = {
        {24, 0},
        {{14, 14, 0, 0, 0, 0},
         {10, open, 1, 0, 0, 0},
         {0, 0, 0, 0, 0, 0},
         {0, 0, 0, 0, 0, 0},
         {0, 0, 0, 0, 0, 0}},
        3,
        {14, 10, 0, 0, 0},
    };
    five_projects_get_their_shares(&pool_a);
    five_projects_get_their_shares(&pool_b);
    five_projects_get_their_shares(&pool_c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_departments_lend_and_take_back),
        cmocka_unit_test(the_smaller_loss_goes),
        cmocka_unit_test(the_youngest_goes),
        cmocka_unit_test(five_projects_in_three_pools),
    };
    return cmocka_run_group_tests_name("core_reclaim_scenarios", tests, NULL, NULL);
}
