/* test_groups.c - gangs whose instances are not all alike: they start together, each on a node that has what it asks for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain.h"

#include <string.h>

static struct task_spec slots(int64_t count)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = count * SLOT_MILLI;
    return spec;
}

/* One leader of three slots and two workers of one. */
static struct task_spec leader_and_workers(void)
{
    static struct task_spec leader;
    static struct task_spec worker;
    static struct group_spec groups[2];
    leader = slots(3);
    worker = slots(1);
    groups[0] = (struct group_spec){.name = "leader", .instances = 1, .asks = &leader};
    groups[1] = (struct group_spec){.name = "worker", .instances = 2, .asks = &worker};
    struct task_spec spec = rig_spec();
    spec.instances = 3;
    spec.gang = true;
    spec.groups = groups;
    spec.group_count = 2;
    return spec;
}

static int64_t held(const struct rig *rig, task_id task, uint32_t index)
{
    return core_instance(rig->core, task, index)->slots_milli;
}

static void all_start_with_what_each_asks_for(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    const node_id small = rig_node(&rig, "small", 2, 0, 1);
    const node_id large = rig_node(&rig, "large", 4, 0, 2);
    const task_id task = rig_submit(&rig, leader_and_workers());
    rig_pass(&rig);
    assert_int_equal(core_instance(rig.core, task, 0)->node.v, large.v);
    assert_int_equal(core_instance(rig.core, task, 1)->node.v, small.v);
    assert_int_equal(core_instance(rig.core, task, 2)->node.v, small.v);
    assert_int_equal(held(&rig, task, 0), 3 * SLOT_MILLI);
    assert_int_equal(held(&rig, task, 1), SLOT_MILLI);
    rig_done(&rig);
}

static void none_starts_alone(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 4, 0, 1);
    rig_node(&rig, "n2", 1, 0, 2);
    const task_id filler = rig_submit(&rig, slots(1));
    rig_pass(&rig); /* on n2: the leader fits n1, one worker beside it, the other nowhere */
    const task_id task = rig_submit(&rig, leader_and_workers());
    rig_pass(&rig);
    assert_int_equal(core_task(rig.core, task)->active_count, 0);
    struct usage usage;
    core_usage(rig.core, ACCOUNT_DEFAULT_PROJECT, core_pool_named(rig.core, "default")->id, &usage);
    assert_int_equal(usage.wanted.at[DIM_SLOTS], 5 * SLOT_MILLI);
    rig_run(&rig, filler, 0, 0);
    rig_pass(&rig);
    assert_int_equal(core_task(rig.core, task)->active_count, 3);
    core_usage(rig.core, ACCOUNT_DEFAULT_PROJECT, core_pool_named(rig.core, "default")->id, &usage);
    assert_int_equal(usage.wanted.at[DIM_SLOTS], 0);
    assert_int_equal(usage.allocated.at[DIM_SLOTS], 5 * SLOT_MILLI);
    rig_done(&rig);
}

static void one_that_fails_ends_all(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 5, 0, 1);
    const task_id task = rig_submit(&rig, leader_and_workers());
    rig_pass(&rig);
    for (uint32_t i = 0; i < 3; i++) {
        rig_report(&rig, task, i, REPORT_STARTED, 0);
    }
    rig_report(&rig, task, 2, REPORT_ENDED, 1);
    assert_int_equal(rig_instance(&rig, task, 0), INSTANCE_STOPPING);
    assert_int_equal(rig_instance(&rig, task, 1), INSTANCE_STOPPING);
    rig_report(&rig, task, 0, REPORT_ENDED, 0);
    rig_report(&rig, task, 1, REPORT_ENDED, 0);
    assert_int_equal(rig_state(&rig, task), TASK_FAILED);
    rig_done(&rig);
}

static void a_group_that_never_fits_is_refused(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 2, 0, 1);
    rig_node(&rig, "n2", 2, 0, 2);
    assert_int_equal(rig_try_submit(&rig, leader_and_workers()), VERDICT_REFUSED);
    assert_int_equal(rig.facts.refusal.code, REASON_TOO_LARGE);
    assert_int_equal(rig.facts.refusal.smallest, 2 * SLOT_MILLI);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_start_with_what_each_asks_for),
        cmocka_unit_test(none_starts_alone),
        cmocka_unit_test(one_that_fails_ends_all),
        cmocka_unit_test(a_group_that_never_fits_is_refused),
    };
    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
