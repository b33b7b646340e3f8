/* test_sched_fit.c - one request against one node.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/fit.h"
#include "core/sched/explain/lower.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { FOO = RESOURCE_NAMED_FIRST, BAR };

static struct node node_new(uint32_t devices, int64_t slots, int64_t cpu, int64_t memory)
{
    struct node node = {.id = {1}, .pool = {1}, .aux_max = 2};
    node.device_count = devices;
    node.slots_milli = node.slots_free = slots;
    node.cpu_milli = node.cpu_free = cpu;
    node.memory_bytes = node.memory_free = memory;
    for (uint32_t i = 0; i < devices; i++) {
        node.device_free[i] = SLOT_MILLI;
    }
    return node;
}

static struct request slots_of(int64_t slots)
{
    return (struct request){.slots_milli = slots, .cpu_milli = -1, .memory_bytes = -1};
}

static uint32_t count_on(const struct node *node, const struct request *request)
{
    struct space place;
    space_now(node, &place);
    return fit_count(&place, request, 100);
}

static void slots_bring_their_part_of_cpu_and_memory_rounded_down(void **state)
{
    (void)state;
    struct node node = node_new(0, 3000, 8000, 100);
    struct request request = slots_of(2000);
    struct space place;
    struct grant grant;
    space_now(&node, &place);
    assert_int_equal(fit_count(&place, &request, 100), 1);
    fit_grant(&place, &request, &grant);
    assert_int_equal(grant.cpu_milli, 2 * 2666);
    assert_int_equal(grant.memory_bytes, 2 * 33);
    node.cpu_free = 5331;
    assert_int_equal(count_on(&node, &request), 0);
    request.cpu_milli = 5331;
    assert_int_equal(count_on(&node, &request), 1);
}

static void whole_slots_need_wholly_free_devices(void **state)
{
    (void)state;
    struct node node = node_new(2, 2000, 0, 0);
    struct request request = slots_of(1000);
    assert_int_equal(count_on(&node, &request), 2);
    node.device_free[0] = 500;
    node.device_free[1] = 500;
    node.slots_free = 1000;
    assert_int_equal(count_on(&node, &request), 0);
    struct space place;
    struct lack lack;
    space_now(&node, &place);
    assert_true(fit_lack(&place, &request, &lack));
    assert_int_equal(lack.code, REASON_NO_ROOM);
    assert_int_equal(lack.available, 0);
}

static void a_share_goes_to_the_fullest_device_that_has_it(void **state)
{
    (void)state;
    struct node node = node_new(3, 3000, 0, 0);
    node.device_free[1] = 600;
    node.device_free[2] = 300;
    node.slots_free = 1900;
    struct request request = slots_of(500);
    request.needs_gpu = 1;
    struct space place;
    struct grant grant;
    space_now(&node, &place);
    assert_int_equal(fit_count(&place, &request, 100), 3);
    fit_grant(&place, &request, &grant);
    assert_int_equal(grant.devices, 2);
    request.slots_milli = 700;
    fit_grant(&place, &request, &grant);
    assert_int_equal(grant.devices, 1);
}

static void chosen_devices_must_exist_and_be_free(void **state)
{
    (void)state;
    struct node node = node_new(2, 2000, 0, 0);
    struct request request = slots_of(2000);
    request.needs_gpu = 1;
    request.device_mask = 3;
    assert_int_equal(count_on(&node, &request), 1);
    request.device_mask = 6;
    assert_int_equal(count_on(&node, &request), 0);
    struct space place;
    struct lack lack;
    space_now(&node, &place);
    assert_true(fit_lack(&place, &request, &lack));
    assert_int_equal(lack.code, REASON_NO_DEVICES);
    request.device_mask = 1;
    request.slots_milli = 1000;
    node.device_free[0] = 900;
    assert_int_equal(count_on(&node, &request), 0);
    assert_true(fit_lack(&place, &request, &lack));
    assert_int_equal(lack.code, REASON_DEVICES_BUSY);
}

static void zero_slot_tasks_stop_at_the_cap(void **state)
{
    (void)state;
    struct node node = node_new(0, 1000, 4000, 100);
    struct request request = slots_of(0);
    request.cpu_milli = 1000;
    request.memory_bytes = 0;
    assert_int_equal(count_on(&node, &request), 2);
    node.aux_used = 2;
    struct space place;
    struct lack lack;
    space_now(&node, &place);
    assert_int_equal(fit_count(&place, &request, 100), 0);
    assert_true(fit_lack(&place, &request, &lack));
    assert_int_equal(lack.code, REASON_AUX_FULL);
}

static void named_amounts_count_and_missing_ones_do_not_fit(void **state)
{
    (void)state;
    struct node node = node_new(0, 4000, 0, 0);
    node.named_count = 1;
    node.named[0] = (struct amount){{FOO}, 7000};
    node.named_free[0] = 7000;
    struct request request = slots_of(0);
    request.named_count = 1;
    request.named[0] = (struct amount){{FOO}, 5000};
    assert_int_equal(count_on(&node, &request), 1);
    request.named[0].resource.v = BAR;
    assert_int_equal(count_on(&node, &request), 0);
}

static void taking_and_giving_back_leaves_the_place_as_it_was(void **state)
{
    (void)state;
    struct node node = node_new(4, 4000, 8000, 1000);
    node.named_count = 1;
    node.named[0] = (struct amount){{FOO}, 7000};
    node.named_free[0] = 7000;
    struct request request = slots_of(2000);
    request.named_count = 1;
    request.named[0] = (struct amount){{FOO}, 5000};
    struct space now;
    struct space place;
    struct space_room room;
    struct grant grant;
    space_now(&node, &now);
    space_copy(&now, &room, &place);
    fit_grant(&place, &request, &grant);
    space_take(&place, &room, &request, &grant);
    assert_int_equal(place.slots_free, 2000);
    assert_int_equal(room.named_free[0], 2000);
    assert_int_equal(room.device_free[0], 0);
    assert_int_equal(room.device_free[1], 0);
    assert_int_equal(node.device_free[0], SLOT_MILLI);
    space_give(&place, &room, &request, &grant);
    assert_int_equal(place.slots_free, node.slots_free);
    assert_int_equal(place.cpu_free, node.cpu_free);
    assert_int_equal(place.memory_free, node.memory_free);
    assert_memory_equal(room.named_free, node.named_free, sizeof(int64_t));
    assert_memory_equal(room.device_free, node.device_free, 4 * sizeof(uint16_t));
}

/* A node that came back smaller has less than nothing: what asks for none of that still fits. */
static void what_is_promised_fits_exactly(void **state)
{
    (void)state;
    struct node node = node_new(2, 2000, 100, 50);
    node.named_count = 1;
    node.named[0].resource.v = FOO;
    node.named_free[0] = 7;
    struct request request = slots_of(1000);
    struct space place;
    space_now(&node, &place);
    struct grant grant = {.devices = 1, .slots_milli = 1000, .cpu_milli = 100, .memory_bytes = 50};
    assert_true(fit_holds(&place, &request, &grant));
    grant.cpu_milli = 101;
    assert_false(fit_holds(&place, &request, &grant));
    grant.cpu_milli = 0;
    grant.memory_bytes = 51;
    assert_false(fit_holds(&place, &request, &grant));
    grant.memory_bytes = 0;
    place.cpu_free = place.memory_free = -1;
    assert_true(fit_holds(&place, &request, &grant));
    grant.cpu_milli = 1;
    assert_false(fit_holds(&place, &request, &grant));
    grant = (struct grant){.memory_bytes = 1};
    assert_false(fit_holds(&place, &request, &grant));
    grant = (struct grant){.devices = 4, .slots_milli = 1000};
    assert_false(fit_holds(&place, &request, &grant)); /* there is no third device */
    grant = (struct grant){.devices = 2, .slots_milli = 1000};
    request.named_count = 1;
    request.named[0] = (struct amount){{FOO}, 7};
    assert_true(fit_holds(&place, &request, &grant));
    request.named[0].milli = 8;
    assert_false(fit_holds(&place, &request, &grant));
    request.named[0] = (struct amount){{BAR}, 1};
    assert_false(fit_holds(&place, &request, &grant));
    request.named[0].milli = 0;
    assert_true(fit_holds(&place, &request, &grant));
    place.slots_free = -1;
    assert_false(fit_holds(&place, &request, &grant));
    grant = (struct grant){0};
    place.aux_used = 1;
    assert_true(fit_holds(&place, &request, &grant));
    place.aux_used = 2;
    assert_false(fit_holds(&place, &request, &grant));
}

static void the_largest_lower_amount_is_exact(void **state)
{
    (void)state;
    struct node node = node_new(0, 3000, 8000, 0);
    node.cpu_free = 5331; /* two slots bring 5332 */
    struct request request = slots_of(3000);
    struct space place;
    space_now(&node, &place);
    const struct lower slots = {.kind = LOWER_SLOTS};
    assert_int_equal(lower_largest(&place, &request, slots, 3000, -1), 1000);
    const struct lower cpu = {.kind = LOWER_CPU};
    assert_int_equal(lower_largest(&place, &request, cpu, 7998, -1), 5331);
    assert_int_equal(lower_largest(&place, &request, cpu, 7998, 5331), 5331);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_bring_their_part_of_cpu_and_memory_rounded_down),
        cmocka_unit_test(whole_slots_need_wholly_free_devices),
        cmocka_unit_test(a_share_goes_to_the_fullest_device_that_has_it),
        cmocka_unit_test(chosen_devices_must_exist_and_be_free),
        cmocka_unit_test(zero_slot_tasks_stop_at_the_cap),
        cmocka_unit_test(named_amounts_count_and_missing_ones_do_not_fit),
        cmocka_unit_test(taking_and_giving_back_leaves_the_place_as_it_was),
        cmocka_unit_test(what_is_promised_fits_exactly),
        cmocka_unit_test(the_largest_lower_amount_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
