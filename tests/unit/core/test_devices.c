/* test_devices.c - the promises about devices: whole ones by index, chosen ones, shares of one or of several, parts by memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/sched/explain/explain.h"
#include "core/model/fit.h"

#include <string.h>

#define GIB ((int64_t)1 << 30)

static node_id gpu_node(struct rig *rig, const char *name, uint32_t devices, int64_t gpu_memory)
{
    struct node_spec spec = {.name = name,
                             .pool = "default",
                             .slots_milli = (int64_t)devices * SLOT_MILLI,
                             .cpu_milli = (int64_t)devices * 8000,
                             .memory_bytes = devices * 64 * GIB,
                             .gpu_memory_bytes = gpu_memory,
                             .device_count = devices,
                             .boot_id = "b",
                             .address = "127.0.0.1",
                             .version = "1"};
    spec.supervisor[0] = (uint8_t)(query_pool_named(rig->core, "default")->node_count + 1);
    struct input in = {.type = INPUT_NODE_JOIN};
    in.node.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_node_named(rig->core, name)->id;
}

static struct task_spec gpu_spec(void)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = ASK_NOTHING;
    spec.needs_gpu = true;
    return spec;
}

/* So much of the memory of each of `devices` devices (0: of one). */
static struct task_spec by_memory(int64_t bytes, uint32_t devices)
{
    struct task_spec spec = gpu_spec();
    spec.gpu_memory_bytes = bytes;
    spec.gpu_devices = devices;
    return spec;
}

static const struct instance *placed(struct rig *rig, task_id task)
{
    rig_pass(rig);
    const struct instance *instance = query_instance(rig->core, task, 0);
    assert_int_equal(instance->state, INSTANCE_STARTING);
    return instance;
}

static struct reason waits(struct rig *rig, task_id task)
{
    struct explanation why;
    rig_pass(rig);
    assert_int_equal(rig_instance(rig, task, 0), INSTANCE_WAITING);
    explain_task(rig->core, task, &why);
    return why.reason;
}

static void whole_devices_go_by_index(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "a", 4, 0);
    struct task_spec two = gpu_spec();
    two.slots_milli = 2000;
    assert_int_equal(placed(rig, rig_submit(rig, two))->devices, 0x3);
    assert_int_equal(placed(rig, rig_submit(rig, two))->devices, 0xc);
}

static void chosen_devices_are_those(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "a", 4, 0);
    struct task_spec chosen = gpu_spec();
    chosen.device_mask = 0xa;
    assert_int_equal(placed(rig, rig_submit(rig, chosen))->devices, 0xa);
    chosen.device_mask = 0x2;
    assert_int_equal(waits(rig, rig_submit(rig, chosen)).code, REASON_DEVICES_BUSY);
    chosen.device_mask = 0x10;
    assert_int_equal(rig_try_submit(rig, chosen), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_NO_DEVICES);
}

static void a_share_of_chosen_devices_is_of_each(void **state)
{
    struct rig *rig = *state;
    const node_id node = gpu_node(rig, "a", 4, 0);
    struct task_spec spec = gpu_spec();
    spec.slots_milli = 250;
    spec.device_mask = 0x5;
    const struct instance *instance = placed(rig, rig_submit(rig, spec));
    assert_int_equal(instance->devices, 0x5);
    assert_int_equal(instance->slots_milli, 500);
    assert_int_equal(query_node(rig->core, node)->device_free[0], 750);
    assert_int_equal(query_node(rig->core, node)->device_free[1], 1000);
    assert_int_equal(query_node(rig->core, node)->device_free[2], 750);
}

static void gpu_memory_alone_is_a_part_of_the_device_it_is_placed_on(void **state)
{
    struct rig *rig = *state;
    const node_id small = gpu_node(rig, "small", 1, 40 * GIB);
    const task_id first = rig_submit(rig, by_memory(10 * GIB, 0));
    assert_int_equal(placed(rig, first)->slots_milli, 250);
    assert_int_equal(placed(rig, first)->cpu_milli, 2000); /* its part, as of every share */
    (void)gpu_node(rig, "large", 1, 80 * GIB);
    const struct instance *instance = placed(rig, rig_submit(rig, by_memory(60 * GIB, 0)));
    assert_int_equal(instance->slots_milli, 750);
    assert_int_equal(query_node(rig->core, small)->device_free[0], 750);
    /* Rounded up, so that a device is never given out more than whole. */
    assert_int_equal(placed(rig, rig_submit(rig, by_memory(1, 0)))->slots_milli, 1);
}

static void gpu_memory_beside_slots_is_what_each_device_must_have(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "small", 2, 40 * GIB);
    const node_id large = gpu_node(rig, "large", 2, 80 * GIB);
    struct task_spec spec = gpu_spec();
    spec.slots_milli = 1000;
    spec.gpu_memory_bytes = 60 * GIB;
    const struct instance *instance = placed(rig, rig_submit(rig, spec));
    assert_int_equal(instance->node.v, large.v);
    assert_int_equal(instance->slots_milli, 1000);
}

static void parts_of_several_devices_are_of_different_ones(void **state)
{
    struct rig *rig = *state;
    const node_id node = gpu_node(rig, "a", 3, 40 * GIB);
    assert_int_equal(placed(rig, rig_submit(rig, by_memory(30 * GIB, 2)))->slots_milli, 1500);
    struct task_spec spec = gpu_spec();
    spec.slots_milli = 250;
    spec.gpu_devices = 3;
    const struct instance *instance = placed(rig, rig_submit(rig, spec));
    assert_int_equal(instance->devices, 0x7);
    assert_int_equal(instance->slots_milli, 750);
    assert_int_equal(query_node(rig->core, node)->device_free[0], 0);
    assert_int_equal(query_node(rig->core, node)->device_free[2], 750);
    const struct reason reason = waits(rig, rig_submit(rig, spec));
    assert_int_equal(reason.code, REASON_NO_ROOM);
    assert_int_equal(reason.wanted, 250);
    assert_int_equal(reason.available, 0);
}

static void more_parts_than_devices_are_refused(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "a", 2, 40 * GIB);
    assert_int_equal(rig_try_submit(rig, by_memory(GIB, 3)), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_NO_DEVICES);
    struct task_spec whole = gpu_spec();
    whole.slots_milli = 2000;
    whole.gpu_devices = 2;
    assert_int_equal(rig_try_submit(rig, whole), VERDICT_REFUSED);
    assert_int_equal(rig->facts.refusal.code, REASON_LIMIT);
}

static void too_much_gpu_memory_is_refused_in_bytes_and_less_is_accepted(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "a", 2, 40 * GIB);
    assert_int_equal(rig_try_submit(rig, by_memory(41 * GIB, 0)), VERDICT_REFUSED);
    const struct reason refusal = rig->facts.refusal;
    assert_int_equal(refusal.code, REASON_TOO_LARGE);
    assert_string_equal(query_resource_name(rig->core, refusal.resource), "gpu_memory");
    assert_int_equal(refusal.wanted, 41 * GIB);
    assert_int_equal(refusal.smallest, 40 * GIB);
    assert_int_equal(rig_try_submit(rig, by_memory(refusal.smallest, 0)), VERDICT_OK);
}

static void a_wait_for_gpu_memory_names_what_would_start(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "a", 1, 40 * GIB);
    (void)placed(rig, rig_submit(rig, by_memory(30 * GIB, 0)));
    const struct reason reason = waits(rig, rig_submit(rig, by_memory(20 * GIB, 0)));
    assert_int_equal(reason.code, REASON_NO_ROOM);
    assert_int_equal(reason.resource.v, RESOURCE_GPU_MEMORY);
    assert_int_equal(reason.wanted, 20 * GIB);
    assert_int_equal(reason.available, 10 * GIB);
    assert_int_equal(reason.smallest, 10 * GIB);
    (void)placed(rig, rig_submit(rig, by_memory(reason.smallest, 0)));
}

/* With a limit of half a device. */
static void limit_set(struct rig *rig)
{
    struct quota_amount amount = {
        .resource = "slots", .guaranteed = 500, .limit = 500, .weight = 1000};
    struct quota_spec spec = {.amounts = &amount,
                              .amount_count = 1,
                              .rules.rank = QUOTA_RANK_DEFAULT,
                              .rules.preempt_min_runtime_ms = QUOTA_INHERIT,
                              .rules.reclaim_min_runtime_ms = QUOTA_INHERIT};
    struct input in = {.type = INPUT_QUOTA_SET};
    in.quota.account = ACCOUNT_DEFAULT_PROJECT;
    in.quota.pool = query_pool_named(rig->core, "default")->id;
    in.quota.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
}

static void limits_count_the_part_of_the_device_it_is_placed_on(void **state)
{
    struct rig *rig = *state;
    (void)gpu_node(rig, "small", 1, 40 * GIB);
    limit_set(rig);
    /* 30 GiB are three quarters of the only device: above the limit of a half. */
    const task_id task = rig_submit(rig, by_memory(30 * GIB, 0));
    const struct reason reason = waits(rig, task);
    assert_int_equal(reason.code, REASON_OVER_LIMIT);
    assert_int_equal(reason.wanted, 750);
    assert_int_equal(reason.available, 500);
    /* They wait as demand on the smallest device, also where a larger one would do. */
    const node_id large = gpu_node(rig, "large", 1, 80 * GIB);
    struct usage usage;
    query_usage(rig->core, ACCOUNT_DEFAULT_PROJECT, query_pool_named(rig->core, "default")->id,
                &usage);
    assert_int_equal(usage.wanted.at[DIM_SLOTS], 750);
    const struct instance *instance = placed(rig, task);
    assert_int_equal(instance->node.v, large.v);
    assert_int_equal(instance->slots_milli, 375);
    query_usage(rig->core, ACCOUNT_DEFAULT_PROJECT, query_pool_named(rig->core, "default")->id,
                &usage);
    assert_int_equal(usage.wanted.at[DIM_SLOTS], 0);
    assert_int_equal(usage.allocated.at[DIM_SLOTS], 375);
}

/* Devices with 2, 1 and 1 parts left take two instances of two parts each, but only if the first leaves the right ones. */
static void shares_of_several_devices_leave_room_for_as_many_as_could_be(void **state)
{
    (void)state;
    struct node node = {.id = {1}, .pool = {1}, .device_count = 3};
    node.slots_milli = 3000;
    node.slots_free = 1600;
    node.device_free[0] = 400;
    node.device_free[1] = 400;
    node.device_free[2] = 800;
    const struct request request = {
        .slots_milli = 800, .share_devices = 2, .needs_gpu = 1, .cpu_milli = 0, .memory_bytes = 0};
    struct space place;
    struct space_room room;
    struct space now;
    struct grant grant;
    space_now(&node, &now);
    space_copy(&now, &room, &place);
    assert_int_equal(fit_count(&place, &request, 100), 2);
    fit_grant(&place, &request, &grant);
    space_take(&place, &room, &request, &grant);
    assert_int_equal(fit_count(&place, &request, 100), 1);
    fit_grant(&place, &request, &grant);
    space_take(&place, &room, &request, &grant);
    assert_int_equal(place.slots_free, 0);
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
        TEST(whole_devices_go_by_index),
        TEST(chosen_devices_are_those),
        TEST(a_share_of_chosen_devices_is_of_each),
        TEST(gpu_memory_alone_is_a_part_of_the_device_it_is_placed_on),
        TEST(gpu_memory_beside_slots_is_what_each_device_must_have),
        TEST(parts_of_several_devices_are_of_different_ones),
        TEST(more_parts_than_devices_are_refused),
        TEST(too_much_gpu_memory_is_refused_in_bytes_and_less_is_accepted),
        TEST(a_wait_for_gpu_memory_names_what_would_start),
        TEST(limits_count_the_part_of_the_device_it_is_placed_on),
        TEST(shares_of_several_devices_leave_room_for_as_many_as_could_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
