/* test_devices_out.c - a device out of service is given to nobody, and its node keeps the others (docs/dev/adr/0080-one-device-out.md).
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"

#include <string.h>

enum { DEVICES = 4 };

/* The node says which of its four devices are out of service, and which of these are lost. */
static node_id says(struct rig *rig, const char *name, uint64_t out, uint64_t lost)
{
    struct node_spec spec = {.name = name,
                             .pool = "default",
                             .slots_milli = DEVICES * SLOT_MILLI,
                             .cpu_milli = 8000,
                             .memory_bytes = 1 << 20,
                             .device_count = DEVICES,
                             .boot_id = "b",
                             .address = "127.0.0.1",
                             .version = "1",
                             .devices_out = out,
                             .devices_lost = lost,
                             .device_trouble = out != 0 ? "GPU 1: the driver has lost it" : ""};
    spec.supervisor[0] = (uint8_t)name[1];
    const struct input in = {.type = INPUT_NODE_JOIN, .node = {.spec = &spec}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, name)->id;
}

static task_id asks(struct rig *rig, int64_t slots_milli, struct task_spec spec)
{
    spec.slots_milli = slots_milli;
    return rig_submit(rig, spec);
}

static uint64_t devices_of(const struct rig *rig, task_id task)
{
    return query_instance(rig->core, task, 0)->devices;
}

static void others_are_given_and_this_one_is_not(void **state)
{
    struct rig *rig = *state;
    const node_id node = says(rig, "n1", 0x2, 0);
    assert_int_equal(query_node(rig->core, node)->slots_free, 3000);
    const task_id three = asks(rig, 3000, rig_spec());
    const task_id more = asks(rig, 500, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, three), TASK_STARTING);
    assert_int_equal(devices_of(rig, three), 0xd);
    assert_int_equal(rig_state(rig, more), TASK_PENDING);
    struct task_spec chosen = rig_spec();
    chosen.device_mask = 0x2;
    const task_id bad = asks(rig, 1000, chosen);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, bad), TASK_PENDING);
}

static void well_again_it_is_given_at_once(void **state)
{
    struct rig *rig = *state;
    const node_id node = says(rig, "n1", 0xf, 0);
    assert_int_equal(query_node(rig->core, node)->slots_free, 0);
    assert_int_equal(query_pool(rig->core, (pool_id){1})->usable[DIM_SLOTS].low, 0);
    const task_id task = asks(rig, 4000, rig_spec());
    rig_pass(rig);
    assert_int_equal(rig_state(rig, task), TASK_PENDING);
    (void)says(rig, "n1", 0, 0);
    assert_int_equal(query_node(rig->core, node)->slots_free, 4000);
    rig_pass(rig);
    assert_int_equal(devices_of(rig, task), 0xf);
}

static void what_runs_on_a_suspect_device_goes_on_and_leaves_nothing(void **state)
{
    struct rig *rig = *state;
    const node_id node = says(rig, "n1", 0, 0);
    const task_id task = asks(rig, 2000, rig_spec());
    rig_pass(rig);
    rig_report(rig, task, 0, REPORT_STARTED, 0);
    assert_int_equal(devices_of(rig, task), 0x3);
    (void)says(rig, "n1", 0x2, 0);
    assert_int_equal(rig_instance(rig, task, 0), INSTANCE_RUNNING);
    assert_int_equal(query_node(rig->core, node)->slots_free, 2000); /* devices 2 and 3 */
    assert_false(query_node(rig->core, node)->overhang);
    rig_report(rig, task, 0, REPORT_ENDED, 0);
    assert_int_equal(query_node(rig->core, node)->slots_free, 3000);
    assert_int_equal(query_node(rig->core, node)->device_free[1], 0);
    (void)says(rig, "n1", 0, 0);
    assert_int_equal(query_node(rig->core, node)->slots_free, 4000);
}

static void what_runs_on_a_lost_device_runs_elsewhere(void **state)
{
    struct rig *rig = *state;
    (void)says(rig, "n1", 0, 0);
    const task_id first = asks(rig, 1000, rig_spec());
    const task_id second = asks(rig, 1000, rig_spec());
    rig_pass(rig);
    rig_report(rig, first, 0, REPORT_STARTED, 0);
    rig_report(rig, second, 0, REPORT_STARTED, 0);
    assert_int_equal(devices_of(rig, second), 0x2);
    (void)says(rig, "n1", 0x2, 0x2);
    assert_int_equal(rig_count(rig, FACT_ATTEMPT_STOPPING), 1);
    assert_int_equal(rig_fact(rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.key.task.v, second.v);
    assert_int_equal(rig_fact(rig, FACT_ATTEMPT_STOPPING)->attempt_stopping.cause, END_DEVICE);
    assert_int_equal(rig_instance(rig, first, 0), INSTANCE_RUNNING);
    (void)says(rig, "n1", 0x2, 0x2); /* said twice, told once */
    assert_int_equal(rig_count(rig, FACT_ATTEMPT_STOPPING), 0);
    rig_report(rig, second, 0, REPORT_ENDED, 1);
    assert_int_equal(query_task(rig->core, second)->lost_count, 1);
    assert_int_equal(query_instance(rig->core, second, 0)->retries, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, second), TASK_STARTING);
    assert_int_equal(devices_of(rig, second), 0x4);
}

static void a_task_that_must_not_be_repeated_ends_unknown(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    (void)says(rig, "n1", 0, 0);
    spec.repeatable = false;
    const task_id task = asks(rig, 1000, spec);
    rig_pass(rig);
    rig_report(rig, task, 0, REPORT_STARTED, 0);
    (void)says(rig, "n1", 0x1, 0x1);
    rig_report(rig, task, 0, REPORT_ENDED, 143);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.state, TASK_UNKNOWN);
    assert_int_equal(rig_fact(rig, FACT_TASK_ENDED)->task_ended.cause, END_DEVICE);
}

static void a_gang_that_needs_the_instance_starts_anew_whole(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    (void)says(rig, "n1", 0, 0);
    (void)says(rig, "n2", 0, 0);
    spec.gang = true;
    spec.instances = 2;
    const task_id gang = asks(rig, 4000, spec);
    rig_pass(rig);
    rig_report(rig, gang, 0, REPORT_STARTED, 0);
    rig_report(rig, gang, 1, REPORT_STARTED, 0);
    (void)says(rig, "n1", 0x1, 0x1);
    assert_int_equal(rig_instance(rig, gang, 0), INSTANCE_STOPPING);
    assert_int_equal(rig_instance(rig, gang, 1), INSTANCE_STOPPING);
    rig_report(rig, gang, 0, REPORT_ENDED, 143);
    rig_report(rig, gang, 1, REPORT_ENDED, 143);
    rig_pass(rig);
    assert_int_equal(query_task(rig->core, gang)->waiting_count, 2);
    (void)says(rig, "n1", 0, 0);
    rig_pass(rig);
    assert_int_equal(rig_state(rig, gang), TASK_STARTING);
    assert_int_equal(query_task(rig->core, gang)->waiting_count, 0);
}

static void the_reason_says_that_devices_are_out_and_it_is_not_impossible(void **state)
{
    struct rig *rig = *state;
    struct explanation why = {0};
    (void)says(rig, "n1", 0x2, 0);
    const task_id task = asks(rig, 4000, rig_spec()); /* accepted: the device may come back (P9) */
    rig_pass(rig);
    explain_task(rig->core, task, &why);
    assert_int_equal(why.reason.code, REASON_NODES_AWAY);
    assert_int_equal(why.near[0].code, REASON_NODES_AWAY);
    struct task_spec spec = rig_spec();
    spec.slots_milli = 5000;
    assert_int_equal(rig_try_submit(rig, spec), VERDICT_REFUSED);
}

static int setup(void **state)
{
    static struct rig rig;
    rig_init(&rig);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(others_are_given_and_this_one_is_not),
        TEST(well_again_it_is_given_at_once),
        TEST(what_runs_on_a_suspect_device_goes_on_and_leaves_nothing),
        TEST(what_runs_on_a_lost_device_runs_elsewhere),
        TEST(a_task_that_must_not_be_repeated_ends_unknown),
        TEST(a_gang_that_needs_the_instance_starts_anew_whole),
        TEST(the_reason_says_that_devices_are_out_and_it_is_not_impossible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
