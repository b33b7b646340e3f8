/* test_explain_depends.c - which of several dependencies a task still waits for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"

static struct explanation explain(const struct rig *rig, task_id task)
{
    struct explanation why;
    explain_task(rig->core, task, &why);
    return why;
}

static void those_that_have_ended_are_not_named(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t ids[4];
    rig_init(&rig);
    (void)rig_node(&rig, "n", 8, 0, 1);
    for (uint32_t i = 0; i < 3; i++) {
        ids[i] = rig_submit(&rig, rig_spec()).v;
    }
    ids[3] = ids[2]; /* named twice, it is one */
    struct task_spec spec = rig_spec();
    spec.depends_on = ids;
    spec.depends_count = 4;
    const task_id task = rig_submit(&rig, spec);
    rig_pass(&rig);
    struct explanation why = explain(&rig, task);
    assert_int_equal(why.reason.code, REASON_DEPENDENCY);
    assert_int_equal(why.reason.need, 3);
    assert_int_equal(why.blocker_count, 3);
    rig_run(&rig, (task_id){ids[1]}, 0, 0);
    why = explain(&rig, task);
    assert_int_equal(why.reason.need, 2);
    assert_int_equal(why.reason.task.v, ids[0]);
    assert_int_equal(why.blocker_count, 2);
    assert_int_equal(why.blockers[0].v, ids[0]);
    assert_int_equal(why.blockers[1].v, ids[2]);
    rig_run(&rig, (task_id){ids[0]}, 0, 0);
    why = explain(&rig, task);
    assert_int_equal(why.reason.task.v, ids[2]);
    assert_int_equal(why.blocker_count, 1);
    rig_run(&rig, (task_id){ids[2]}, 0, 0);
    rig_pass(&rig);
    assert_int_equal(rig_state(&rig, task), TASK_STARTING);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(those_that_have_ended_are_not_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
