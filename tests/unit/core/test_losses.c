/* test_losses.c - attempts that are lost with their node or supervisor: waits that grow, and a cap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/model/losses.h"
#include "core/sched/explain/explain.h"

enum { HOUR_MS = 60 * 60 * 1000 };

static int setup(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    (void)rig_node(&rig, "n1", 8, 0, 1);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    return 0;
}

static struct task_spec capped(uint32_t max_losses)
{
    struct task_spec spec = rig_spec();
    spec.max_losses = max_losses;
    return spec;
}

static void tick_at(struct rig *rig, int64_t at_ms)
{
    rig->now_ms = at_ms;
    assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
}

/* Loses the newest attempt of an instance. Returns how long the task waits then. */
static int64_t lose(struct rig *rig, task_id id, uint32_t index)
{
    rig_report(rig, id, index, REPORT_STARTED, 0);
    rig_report(rig, id, index, REPORT_LOST, 0);
    const struct task *task = query_task(rig->core, id);
    return task == NULL || task->hold_until_ms == 0 ? 0 : task->hold_until_ms - rig->now_ms;
}

/* Ends the wait of a task, and starts the task again. */
static void return_of(struct rig *rig, task_id id)
{
    const int64_t until_ms = query_task(rig->core, id)->hold_until_ms;
    if (until_ms > 0) {
        tick_at(rig, until_ms - 1);
        rig_pass(rig);
        assert_int_equal(rig_state(rig, id), TASK_PENDING); /* not a moment before */
        tick_at(rig, until_ms);
    }
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_STARTING);
}

static void a_task_lost_five_times_within_an_hour_fails(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, capped(5));
    int64_t before_ms = 0;
    return_of(rig, id);
    assert_int_equal(lose(rig, id, 0), 0); /* most losses are the fault of the node */
    for (uint32_t i = 2; i < 5; i++) {
        return_of(rig, id);
        const int64_t wait_ms = lose(rig, id, 0);
        assert_true(wait_ms >= (int64_t)LOSSES_WAIT_MS << (i - 2));
        assert_true(wait_ms < (int64_t)LOSSES_WAIT_MS << (i - 1));
        assert_true(wait_ms > before_ms / 2);
        before_ms = wait_ms;
    }
    return_of(rig, id);
    (void)lose(rig, id, 0);
    assert_int_equal(rig_state(rig, id), TASK_FAILED);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_LOSSES);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.exit_code, 125);
}

static void losses_of_another_hour_do_not_count(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, capped(2));
    for (unsigned i = 0; i < 10; i++) {
        return_of(rig, id);
        assert_int_equal(lose(rig, id, 0), 0);
        rig->now_ms += HOUR_MS;
    }
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    assert_int_equal(query_task(rig->core, id)->lost_count, 10);
}

static void without_a_cap_a_task_waits_ten_minutes_at_most(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, capped(0));
    for (unsigned i = 0; i < 12; i++) {
        return_of(rig, id);
        assert_true(lose(rig, id, 0) <= LOSSES_WAIT_MS_MAX);
    }
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
}

/* A node can take many instances of one task along: each instance counts its own losses. */
static void instances_count_their_own_losses(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = capped(2);
    spec.instances = 3;
    const task_id id = rig_submit(rig, spec);
    return_of(rig, id);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(lose(rig, id, i), 0);
    }
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, id)->active_count, 3);
    (void)lose(rig, id, 1);
    assert_int_equal(query_task(rig->core, id)->failed_count, 1);
    assert_int_equal(query_task(rig->core, id)->active_count, 2);
}

static void a_gang_fails_with_the_instance_that_was_lost_too_often(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = capped(2);
    spec.instances = 2;
    spec.gang = true;
    const task_id id = rig_submit(rig, spec);
    rig_pass(rig);
    (void)lose(rig, id, 0);
    rig_report(rig, id, 1, REPORT_ENDED, 143); /* stopped with the gang */
    rig_pass(rig);
    (void)lose(rig, id, 0);
    rig_report(rig, id, 1, REPORT_ENDED, 143);
    assert_int_equal(rig_state(rig, id), TASK_FAILED);
}

static void an_attempt_that_no_supervisor_saw_does_not_count(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, capped(1));
    return_of(rig, id);
    rig_report(rig, id, 0, REPORT_UNKNOWN, 0);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    assert_int_equal(query_instance(rig->core, id, 0)->losses, 0);
}

static void a_task_that_backs_off_can_be_killed_and_paused(void **state)
{
    struct rig *rig = *state;
    const task_id id = rig_submit(rig, capped(5));
    return_of(rig, id);
    (void)lose(rig, id, 0);
    return_of(rig, id);
    assert_true(lose(rig, id, 0) > 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_PAUSE, id), VERDICT_OK);
    tick_at(rig, query_task(rig->core, id)->hold_until_ms);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_PAUSED);
    assert_int_equal(rig_task(rig, INPUT_TASK_ACTIVATE, id), VERDICT_OK);
    return_of(rig, id);
    assert_true(lose(rig, id, 0) > 0);
    assert_int_equal(rig_task(rig, INPUT_TASK_KILL, id), VERDICT_OK);
    assert_int_equal(rig_state(rig, id), TASK_KILLED);
}

/* Tasks that are lost together do not come back together. */
static void waits_are_spread(void **state)
{
    (void)state;
    unsigned early = 0;
    for (uint64_t id = 1; id <= 1000; id++) {
        const int64_t wait_ms = losses_wait_ms((task_id){id}, 0, 2);
        assert_true(wait_ms >= LOSSES_WAIT_MS);
        assert_true(wait_ms < 2 * LOSSES_WAIT_MS);
        early += wait_ms < LOSSES_WAIT_MS * 3 / 2;
    }
    assert_true(early > 400);
    assert_true(early < 600);
}

static void a_node_out_of_service_takes_no_work(void **state)
{
    struct rig *rig = *state;
    struct arena arena;
    arena_init(&arena);
    struct node_spec spec;
    const node_id node = query_node_named(rig->core, "n1")->id;
    query_node_spec(rig->core, node, &arena, &spec);
    spec.trouble = "the spool cannot be written";
    struct input join = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, join), VERDICT_OK);
    const task_id id = rig_submit(rig, capped(5));
    rig_pass(rig);
    assert_int_equal(rig_state(rig, id), TASK_PENDING);
    struct explanation why;
    explain_task(rig->core, id, &why);
    assert_int_equal(why.reason.code, REASON_NODES_AWAY);
    spec.trouble = "";
    assert_int_equal(rig_do(rig, join), VERDICT_OK);
    return_of(rig, id);
    arena_done(&arena);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_task_lost_five_times_within_an_hour_fails),
        TEST(losses_of_another_hour_do_not_count),
        TEST(without_a_cap_a_task_waits_ten_minutes_at_most),
        TEST(instances_count_their_own_losses),
        TEST(a_gang_fails_with_the_instance_that_was_lost_too_often),
        TEST(an_attempt_that_no_supervisor_saw_does_not_count),
        TEST(a_task_that_backs_off_can_be_killed_and_paused),
        TEST(waits_are_spread),
        TEST(a_node_out_of_service_takes_no_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
