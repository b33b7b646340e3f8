/* test_checkpoint.c - what a task has saved: what is taken, what is passed over, and that the victims are those who lose least.
 * SPDX-License-Identifier: Apache-2.0 */
#include "org_rig.h"

enum { HOUR_MS = 3600000 };

/* One node; `lender` has it all, `taker` has a right to a part. */
struct two {
    struct org org;
    account_id lender;
    account_id taker;
};

static void two_open(struct two *two, unsigned slots, int64_t guaranteed)
{
    org_init(&two->org);
    org_nodes(&two->org, 1, slots);
    two->lender = org_add(&two->org, ACCOUNT_PROJECT, "lender", "");
    two->taker = org_add(&two->org, ACCOUNT_PROJECT, "taker", "");
    const struct org_quota quota = {guaranteed, ORG_UNLIMITED, 1, 0, 0, 0};
    org_quota(&two->org, two->lender, quota);
    org_quota(&two->org, two->taker, quota);
}

/* `lender` runs this from `after_ms` on. */
static task_id lend(struct two *two, struct org_task task, int64_t after_ms)
{
    two->org.rig.now_ms += after_ms;
    task.project = "lender";
    const task_id id = org_submit(&two->org, task);
    org_settle(&two->org);
    return id;
}

static task_id take(struct two *two, unsigned slots)
{
    return org_submit(&two->org, (struct org_task){.project = "taker", .slots = slots});
}

/* Says that the attempt saved at `at_ms`, as `change` has it; how many facts that gave. */
static size_t saved_as(struct rig *rig, task_id task, uint32_t index, int64_t at_ms,
                       void (*change)(struct report *report))
{
    const struct instance *instance = query_instance(rig->core, task, index);
    struct report report = {.type = REPORT_CHECKPOINT,
                            .key = {task, index, instance->attempt},
                            .incarnation = instance->incarnation,
                            .at_ms = at_ms};
    if (change != NULL) {
        change(&report);
    }
    struct input in = {.type = INPUT_REPORT,
                       .report = {.node = instance->node, .reports = &report, .count = 1}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(rig_count(rig, FACT_ATTEMPT_CHECKPOINT), rig->facts.count);
    return rig->facts.count;
}

static size_t saved(struct two *two, task_id task, int64_t at_ms)
{
    return saved_as(&two->org.rig, task, 0, at_ms, NULL);
}

static int64_t checkpoint_of(const struct two *two, task_id task, uint32_t index)
{
    return query_instance(two->org.rig.core, task, index)->checkpoint_ms;
}

/* ---- what is recorded ---- */

static void a_checkpoint_is_recorded_with_its_time(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id task = lend(&two, (struct org_task){.slots = 1}, 0);
    two.org.rig.now_ms += HOUR_MS;
    const int64_t at_ms = two.org.rig.now_ms - 700;
    assert_int_equal(saved(&two, task, at_ms), 1);
    const struct fact *fact = rig_fact(&two.org.rig, FACT_ATTEMPT_CHECKPOINT);
    assert_int_equal(fact->attempt_checkpoint.at_ms, at_ms);
    assert_int_equal(fact->attempt_checkpoint.key.task.v, task.v);
    assert_int_equal(checkpoint_of(&two, task, 0), at_ms);
    assert_int_equal(two.org.rig.effects.count, 0);
    org_done(&two.org);
}

static void what_says_nothing_new_is_passed_over(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id task = lend(&two, (struct org_task){.slots = 1}, 0);
    const int64_t started_ms = query_instance(two.org.rig.core, task, 0)->started_ms;
    two.org.rig.now_ms += HOUR_MS;
    assert_int_equal(saved(&two, task, started_ms), 0); /* nothing was done by then */
    assert_int_equal(saved(&two, task, 0), 0);
    assert_int_equal(saved(&two, task, -1), 0);
    assert_int_equal(saved(&two, task, INT64_MIN), 0);
    const int64_t first_ms = two.org.rig.now_ms - HOUR_MS / 2;
    assert_int_equal(saved(&two, task, first_ms), 1);
    assert_int_equal(saved(&two, task, first_ms), 0); /* said again */
    assert_int_equal(saved(&two, task, first_ms - 10000), 0);
    assert_int_equal(saved(&two, task, first_ms + CHECKPOINT_INTERVAL_MS - 1), 0);
    assert_int_equal(checkpoint_of(&two, task, 0), first_ms);
    assert_int_equal(saved(&two, task, first_ms + CHECKPOINT_INTERVAL_MS), 1);
    assert_int_equal(checkpoint_of(&two, task, 0), first_ms + CHECKPOINT_INTERVAL_MS);
    org_done(&two.org);
}

/* The clock of a node may be ahead. */
static void what_is_yet_to_come_counts_as_now(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id task = lend(&two, (struct org_task){.slots = 1}, 0);
    two.org.rig.now_ms += HOUR_MS;
    assert_int_equal(saved(&two, task, INT64_MAX), 1);
    assert_int_equal(checkpoint_of(&two, task, 0), two.org.rig.now_ms);
    assert_int_equal(saved(&two, task, INT64_MAX), 0);
    org_done(&two.org);
}

static void attempt_before(struct report *report)
{
    report->key.attempt--;
}

static void attempt_after(struct report *report)
{
    report->key.attempt++;
}

static void incarnation_before(struct report *report)
{
    report->incarnation--;
}

static void another_instance(struct report *report)
{
    report->key.index = 7;
}

static void another_task(struct report *report)
{
    report->key.task.v += 100;
}

static void only_the_attempt_that_runs_is_believed(void **state)
{
    (void)state;
    void (*const wrong[])(struct report *) = {attempt_before, attempt_after, incarnation_before,
                                              another_instance, another_task};
    struct two two;
    two_open(&two, 2, 1);
    const task_id task = lend(&two, (struct org_task){.slots = 1}, 0);
    struct rig *rig = &two.org.rig;
    rig->now_ms += HOUR_MS;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(saved_as(rig, task, 0, rig->now_ms, wrong[i]), 0);
    }
    assert_int_equal(checkpoint_of(&two, task, 0), 0);
    /* Ordered, but not yet said to run. */
    const task_id ordered =
        org_submit(&two.org, (struct org_task){.project = "lender", .slots = 1});
    (void)org_pass(&two.org);
    assert_int_equal(rig_instance(rig, ordered, 0), INSTANCE_STARTING);
    rig->now_ms += 1000;
    assert_int_equal(saved(&two, ordered, rig->now_ms), 0);
    org_done(&two.org);
}

static void the_next_attempt_has_saved_nothing(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id task = lend(&two, (struct org_task){.slots = 1}, 0);
    two.org.rig.now_ms += HOUR_MS;
    assert_int_equal(saved(&two, task, two.org.rig.now_ms), 1);
    rig_report(&two.org.rig, task, 0, REPORT_LOST, 0);
    assert_true(checkpoint_of(&two, task, 0) > 0); /* of the attempt that was */
    org_settle(&two.org);
    assert_int_equal(query_instance(two.org.rig.core, task, 0)->attempt, 2);
    assert_int_equal(checkpoint_of(&two, task, 0), 0);
    org_done(&two.org);
}

static void a_gang_saves_together(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 4, 2);
    const struct org_task gang = {.slots = 1, .instances = 3, .gang = true};
    const task_id task = lend(&two, gang, 0);
    const task_id other = lend(&two, (struct org_task){.slots = 1}, 0);
    struct rig *rig = &two.org.rig;
    rig->now_ms += HOUR_MS;
    assert_int_equal(saved_as(rig, task, 1, rig->now_ms, NULL), 1);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(checkpoint_of(&two, task, i), rig->now_ms);
        assert_int_equal(saved_as(rig, task, i, rig->now_ms, NULL), 0); /* each says so */
    }
    assert_int_equal(checkpoint_of(&two, other, 0), 0);
    org_done(&two.org);
}

/* ---- who goes ---- */

static void who_has_just_saved_goes_before_a_younger_one(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id old = lend(&two, (struct org_task){.slots = 1}, 0);
    const task_id young = lend(&two, (struct org_task){.slots = 1}, HOUR_MS);
    two.org.rig.now_ms += HOUR_MS / 2;
    assert_int_equal(saved(&two, old, two.org.rig.now_ms), 1);
    (void)take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, old.v);
    assert_true(org_runs(&two.org, young));
    org_done(&two.org);
}

static void an_old_checkpoint_does_not_help(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id old = lend(&two, (struct org_task){.slots = 1}, 0);
    assert_int_equal(saved(&two, old, two.org.rig.now_ms), 1);
    const task_id young = lend(&two, (struct org_task){.slots = 1}, HOUR_MS);
    (void)take(&two, 1);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(two.org.evicted[0].task.v, young.v);
    org_done(&two.org);
}

static void a_gang_that_has_saved_goes_before_a_younger_one(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 4, 2);
    const struct org_task pair = {.slots = 1, .instances = 2, .gang = true};
    const task_id old = lend(&two, pair, 0);
    const task_id young = lend(&two, pair, HOUR_MS);
    two.org.rig.now_ms += HOUR_MS / 2;
    assert_int_equal(saved(&two, old, two.org.rig.now_ms), 1);
    (void)take(&two, 2);
    org_settle(&two.org);
    assert_int_equal(two.org.evicted_count, 2);
    assert_int_equal(two.org.evicted[0].task.v, old.v);
    assert_int_equal(two.org.evicted[1].task.v, old.v);
    assert_true(org_runs(&two.org, young));
    org_done(&two.org);
}

/* ---- what it cost ---- */

static void what_was_not_saved_is_lost(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 2, 1);
    const task_id task = lend(&two, (struct org_task){.slots = 2}, 0);
    struct rig *rig = &two.org.rig;
    rig->now_ms += HOUR_MS;
    const int64_t first_ms = rig->now_ms;
    assert_int_equal(saved(&two, task, first_ms), 1);
    rig->now_ms += 60000;
    (void)take(&two, 1);
    (void)org_pass(&two.org);
    assert_int_equal(two.org.evicted_count, 1);
    assert_int_equal(query_task_eviction(rig->core, task)->slots_lost, 0); /* it still runs */
    /* It uses its grace time to save, and goes on for a moment. */
    rig->now_ms += 20000;
    assert_int_equal(rig_instance(rig, task, 0), INSTANCE_STOPPING);
    assert_int_equal(saved(&two, task, rig->now_ms), 1);
    rig->now_ms += 300;
    (void)org_agents(&two.org);
    const struct eviction_note *note = query_task_eviction(rig->core, task);
    assert_int_equal(note->slots_lost, 2000 * 300);
    assert_true(note->cpu_lost > 0);
    org_done(&two.org);
}

static void each_eviction_adds_to_what_was_lost(void **state)
{
    (void)state;
    struct two two;
    two_open(&two, 1, 0);
    org_quota(&two.org, two.taker, (struct org_quota){1, ORG_UNLIMITED, 1, 0, 0, 0});
    const task_id task = lend(&two, (struct org_task){.slots = 1}, 0);
    struct rig *rig = &two.org.rig;
    int64_t lost = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t started_ms = query_instance(rig->core, task, 0)->started_ms;
        rig->now_ms += HOUR_MS;
        const task_id claimant = take(&two, 1);
        (void)org_pass(&two.org);
        rig->now_ms += 1000;
        (void)org_agents(&two.org);
        lost += 1000 * (rig->now_ms - started_ms);
        assert_int_equal(query_task_eviction(rig->core, task)->slots_lost, lost);
        org_settle(&two.org);
        assert_true(org_runs(&two.org, claimant));
        org_kill(&two.org, claimant);
        org_settle(&two.org);
        assert_true(org_runs(&two.org, task));
    }
    assert_int_equal(two.org.evicted_count, 3);
    org_done(&two.org);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_is_recorded_with_its_time),
        cmocka_unit_test(what_says_nothing_new_is_passed_over),
        cmocka_unit_test(what_is_yet_to_come_counts_as_now),
        cmocka_unit_test(only_the_attempt_that_runs_is_believed),
        cmocka_unit_test(the_next_attempt_has_saved_nothing),
        cmocka_unit_test(a_gang_saves_together),
        cmocka_unit_test(who_has_just_saved_goes_before_a_younger_one),
        cmocka_unit_test(an_old_checkpoint_does_not_help),
        cmocka_unit_test(a_gang_that_has_saved_goes_before_a_younger_one),
        cmocka_unit_test(what_was_not_saved_is_lost),
        cmocka_unit_test(each_eviction_adds_to_what_was_lost),
    };
    return cmocka_run_group_tests_name("core_checkpoint", tests, NULL, NULL);
}
