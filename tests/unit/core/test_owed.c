/* test_owed.c - what a project is owed: work within its guarantee that fits where others hold more than theirs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

#include "core/sched/explain/owed.h"

/* Two projects, guaranteed 4 slots each, on two nodes of 4. Nobody is evicted: what is owed stays. */
struct yard {
    struct org org;
    account_id first;
    account_id second;
    account_id found; /* of the last owed_find(): the only one, or 0 */
    task_id task;
    uint32_t count;
};

static void never_evict(struct pool_spec *spec)
{
    spec->preemption_off = true;
}

static void yard_open(struct yard *yard)
{
    struct org *org = &yard->org;
    org_init(org);
    org_pool(org, never_evict);
    org_nodes(org, 2, 4);
    yard->first = org_add(org, ACCOUNT_PROJECT, "first", "");
    yard->second = org_add(org, ACCOUNT_PROJECT, "second", "");
    org_quota(org, yard->first, (struct org_quota){4, ORG_UNLIMITED, 1, 0, 0, 0});
    org_quota(org, yard->second, (struct org_quota){4, ORG_UNLIMITED, 1, 0, 0, 0});
}

static void yard_fill(struct yard *yard, const char *project, unsigned count, bool fixed)
{
    for (unsigned i = 0; i < count; i++) {
        (void)org_submit(&yard->org,
                         (struct org_task){.project = project, .slots = 1, .fixed = fixed});
    }
    org_settle(&yard->org);
}

static size_t yard_owed(struct yard *yard)
{
    struct arena arena;
    const struct owed *owed;
    arena_init(&arena);
    const size_t count =
        owed_find(yard->org.rig.core, org_pool_id, yard->org.rig.now_ms, &arena, &owed);
    yard->found = count == 1 ? owed[0].account : (account_id){0};
    yard->task = count == 1 ? owed[0].task : (task_id){0};
    yard->count = count == 1 ? owed[0].count : 0;
    arena_done(&arena);
    return count;
}

static void what_others_borrow_is_owed(void **state)
{
    (void)state;
    struct yard yard = {0};
    yard_open(&yard);
    yard_fill(&yard, "first", 8, false);
    assert_int_equal(yard_owed(&yard), 0); /* nobody waits */
    const task_id task = org_submit(&yard.org, (struct org_task){.project = "second", .slots = 3});
    org_settle(&yard.org);
    assert_int_equal(yard_owed(&yard), 1);
    assert_int_equal(yard.found.v, yard.second.v);
    assert_int_equal(yard.task.v, task.v);
    assert_int_equal(yard.count, 1);
    org_done(&yard.org);
}

static void nothing_beyond_the_guarantee(void **state)
{
    (void)state;
    struct yard yard = {0};
    yard_open(&yard);
    yard_fill(&yard, "first", 6, false);
    yard_fill(&yard, "second", 2, false);
    (void)org_submit(&yard.org, (struct org_task){.project = "second", .slots = 3});
    (void)org_submit(&yard.org, (struct org_task){.project = "first", .slots = 1});
    org_settle(&yard.org);
    assert_int_equal(yard_owed(&yard), 0); /* 2 + 3 are more than 4 */
    (void)org_submit(&yard.org, (struct org_task){.project = "second", .slots = 2});
    org_settle(&yard.org);
    assert_int_equal(yard_owed(&yard), 1);
    assert_int_equal(yard.found.v, yard.second.v);
    org_done(&yard.org);
}

static void nothing_that_nobody_may_take(void **state)
{
    (void)state;
    struct yard yard = {0};
    yard_open(&yard);
    yard_fill(&yard, "first", 4, true);    /* its right */
    yard_fill(&yard, "default", 4, false); /* guaranteed nothing: borrowed */
    (void)org_submit(&yard.org, (struct org_task){.project = "second", .slots = 4});
    org_settle(&yard.org);
    assert_int_equal(yard_owed(&yard), 1);
    org_quota(&yard.org, query_account_named(yard.org.rig.core, ACCOUNT_PROJECT, "default")->id,
              (struct org_quota){4, ORG_UNLIMITED, 1, 0, 0, 0});
    assert_int_equal(yard_owed(&yard), 0); /* now it is promised to both, and one has it */
    org_done(&yard.org);
}

static void a_gang_is_owed_all_or_nothing(void **state)
{
    (void)state;
    struct yard yard = {0};
    yard_open(&yard);
    yard_fill(&yard, "first", 8, false);
    const struct org_task gang = {.project = "second", .slots = 2, .instances = 2, .gang = true};
    (void)org_submit(&yard.org, gang);
    org_settle(&yard.org);
    assert_int_equal(yard_owed(&yard), 1);
    assert_int_equal(yard.count, 2);
    org_quota(&yard.org, yard.second, (struct org_quota){3, ORG_UNLIMITED, 1, 0, 0, 0});
    assert_int_equal(yard_owed(&yard), 0);
    org_done(&yard.org);
}

static void evict(struct pool_spec *spec)
{
    spec->preemption_off = false;
}

/* Where the scheduler may evict, one pass promises all that is owed; what is promised is no longer owed. */
static void a_pass_owes_nothing(void **state)
{
    (void)state;
    struct yard yard = {0};
    yard_open(&yard);
    yard_fill(&yard, "first", 8, false);
    for (unsigned i = 0; i < 6; i++) {
        (void)org_submit(&yard.org, (struct org_task){.project = "second", .slots = 1});
    }
    org_settle(&yard.org);
    org_pool(&yard.org, evict);
    assert_int_equal(yard_owed(&yard), 1);
    assert_true(org_pass(&yard.org));
    assert_int_equal(yard.org.evicted_count, 4);
    assert_int_equal(yard_owed(&yard), 0);
    assert_int_equal(org_holds(&yard.org, yard.second), 0); /* promised only */
    org_settle(&yard.org);
    assert_int_equal(org_holds(&yard.org, yard.second), 4);
    assert_int_equal(yard_owed(&yard), 0);
    org_done(&yard.org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_borrow_is_owed),
        cmocka_unit_test(nothing_beyond_the_guarantee),
        cmocka_unit_test(nothing_that_nobody_may_take),
        cmocka_unit_test(a_gang_is_owed_all_or_nothing),
        cmocka_unit_test(a_pass_owes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
