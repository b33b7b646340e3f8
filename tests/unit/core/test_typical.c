/* test_typical.c - what is learned of what is asked of a pool, and how it is stored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/state/state.h"
#include "core/sched/place/waste.h"
#include "core/model/fit.h"

#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_init(rig);
    *state = rig;
    rig_node(rig, "n1", 64, 0, 0);
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    free(*state);
    return 0;
}

static void submit_slots(struct rig *rig, int64_t slots_milli)
{
    struct task_spec spec = rig_spec();
    spec.slots_milli = slots_milli;
    (void)rig_submit(rig, spec);
}

static const struct pool *pool_of(const struct rig *rig)
{
    return query_pool_named(rig->core, "default");
}

static void nothing_is_typical_before_enough_was_asked_for(void **state)
{
    struct rig *rig = *state;
    submit_slots(rig, TYPICAL_SUM_MIN - SLOT_MILLI);
    assert_int_equal(pool_of(rig)->typical_weighed, 0);
    submit_slots(rig, SLOT_MILLI);
    assert_int_equal(pool_of(rig)->typical_weighed, 2);
}

static void tasks_without_slots_are_not_counted(void **state)
{
    struct rig *rig = *state;
    struct task_spec spec = rig_spec();
    spec.slots_milli = 0;
    spec.cpu_milli = 0;
    (void)rig_submit(rig, spec);
    assert_int_equal(pool_of(rig)->typical_counted, 0);
}

static void the_weightiest_are_kept_whatever_comes(void **state)
{
    struct rig *rig = *state;
    for (unsigned i = 0; i < 200; i++) {
        submit_slots(rig, 8 * SLOT_MILLI);
        submit_slots(rig, 9 * SLOT_MILLI + (int64_t)(i % 50) * SLOT_MILLI);
        struct task_spec spec = rig_spec();
        spec.slots_milli = SLOT_MILLI;
        spec.cpu_milli = 1 + i; /* each another request */
        (void)rig_submit(rig, spec);
    }
    assert_int_equal(pool_of(rig)->typical_counted, TYPICAL_COUNTED_MAX);
    assert_int_equal(pool_of(rig)->typical_weighed, TYPICAL_MAX);
    struct typical_uses uses;
    waste_uses_load(&uses, rig->core, pool_of(rig)->id);
    assert_int_equal(uses.at[0].request->slots_milli, 8 * SLOT_MILLI);
}

static void what_was_learned_survives_a_restart(void **state)
{
    struct rig *rig = *state;
    for (unsigned i = 0; i < 30; i++) {
        submit_slots(rig, (1 + i % 7) * SLOT_MILLI);
    }
    size_t len;
    char *bytes = rig_bytes(rig->core, &len);
    struct core *again = NULL;
    struct error e = {0};
    assert_int_equal(core_decode((struct str){bytes, len}, &again, &e), ERR_OK);
    assert_same_state(rig->core, again);
    assert_int_equal(query_pool_named(again, "default")->typical_sum, pool_of(rig)->typical_sum);
    core_free(again);
    free(bytes);
}

static const struct typical_use *weighed(const struct typical_uses *uses, int64_t slots_milli)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        if (uses->at[i].slots_milli == slots_milli) {
            return &uses->at[i];
        }
    }
    return NULL;
}

/* Asked for equally often; the large one fits one node, the small one all of them. */
static void what_few_nodes_can_take_weighs_more(void **state)
{
    struct rig *rig = *state;
    char name[8];
    for (uint8_t i = 1; i <= 60; i++) {
        (void)snprintf(name, sizeof name, "s%u", i);
        (void)rig_node(rig, name, 4, 0, i);
    }
    for (unsigned i = 0; i < 64; i++) {
        submit_slots(rig, SLOT_MILLI);
        submit_slots(rig, 32 * SLOT_MILLI);
    }
    struct typical_uses uses;
    waste_uses_load(&uses, rig->core, pool_of(rig)->id);
    assert_int_equal(uses.count, 2);
    /* 32^(1/4) for its size, five for what is left: 304 slots against 64. */
    const uint64_t small = weighed(&uses, SLOT_MILLI)->weight;
    const uint64_t large = weighed(&uses, 32 * SLOT_MILLI)->weight;
    assert_true(large > small * 8);
    assert_true(large < small * 16);
}

static uint64_t drawn(uint64_t *dice, uint64_t count)
{
    *dice = *dice * 6364136223846793005u + 1442695040888963407u;
    return (*dice >> 33) % count;
}

/* What is reckoned once for a node and many requests is what each of them would be told alone. */
static void a_taste_fits_as_often_as_its_request(void **state)
{
    (void)state;
    uint64_t dice = 1;
    for (unsigned round = 0; round < 20000; round++) {
        struct node node = {.id = {1}, .gpu_memory_bytes = 40, .named_count = 1};
        node.device_count = (uint32_t)drawn(&dice, 9);
        node.named[0] = (struct amount){.resource = {1}, .milli = 4000};
        node.named_free[0] = (int64_t)drawn(&dice, 5) * 1000;
        for (uint32_t i = 0; i < node.device_count; i++) {
            const uint64_t some = drawn(&dice, 4);
            node.device_free[i] = (uint16_t)(some == 0   ? 0
                                             : some == 1 ? drawn(&dice, SLOT_MILLI)
                                                         : SLOT_MILLI);
            node.slots_free += node.device_free[i];
        }
        node.slots_free += node.device_count == 0 ? (int64_t)drawn(&dice, 8000) : 0;
        node.cpu_free = (int64_t)drawn(&dice, 64000) - 1000;
        node.memory_free = (int64_t)drawn(&dice, 1000);
        node.slots_milli = 8000;
        node.cpu_milli = 64000;
        node.memory_bytes = 1000;
        struct request request = {.slots_milli = (int64_t)(1 + drawn(&dice, 1200)),
                                  .cpu_milli = (int64_t)drawn(&dice, 12000) - 1,
                                  .memory_bytes = (int64_t)drawn(&dice, 300) - 1,
                                  .needs_gpu = (uint32_t)drawn(&dice, 2)};
        request.slots_milli = request.slots_milli > SLOT_MILLI
                                  ? (int64_t)(1 + drawn(&dice, 4)) * SLOT_MILLI
                                  : request.slots_milli;
        request.gpu_memory_bytes = drawn(&dice, 4) == 0 ? (int64_t)drawn(&dice, 60) : 0;
        request.named_count = drawn(&dice, 4) == 0;
        request.named[0] = (struct amount){.resource = {(uint16_t)(1 + drawn(&dice, 2))},
                                           .milli = (int64_t)(1 + drawn(&dice, 2500))};
        struct space place;
        struct idle idle;
        struct typical_use use;
        space_now(&node, &place);
        typical_use_idle(&place, &idle);
        typical_use_of(&request, 1, &use);
        assert_int_equal(typical_use_fits(&use, &idle), fit_count(&place, &request, UINT32_MAX));
    }
}

/* One and a half of two devices are idle. A request by memory takes what part of a device that memory is. */
static void requests_by_memory_leave_what_does_not_fit(void **state)
{
    (void)state;
    const struct node node = {.id = {1},
                              .state = NODE_UP,
                              .slots_milli = 2000,
                              .slots_free = 1500,
                              .cpu_milli = 8000,
                              .cpu_free = 8000,
                              .memory_bytes = 1 << 20,
                              .memory_free = 1 << 20,
                              .gpu_memory_bytes = 24 << 20,
                              .device_count = 2,
                              .device_free = {1000, 500}};
    struct space place;
    struct request half;
    memset(&half, 0, sizeof half);
    half.needs_gpu = true;
    half.share_devices = 1;
    half.gpu_memory_bytes = 12 << 20;
    struct request whole = half;
    whole.gpu_memory_bytes = 24 << 20;
    struct request slot;
    memset(&slot, 0, sizeof slot);
    slot.slots_milli = 1000;
    struct typical_uses uses = {.count = 1};
    space_now(&node, &place);
    typical_use_of(&half, 1, &uses.at[0]);
    assert_int_equal(waste_of(&uses, &place), 0);
    typical_use_of(&whole, 1, &uses.at[0]);
    const int64_t waste = waste_of(&uses, &place);
    assert_true(waste > 0);
    typical_use_of(&slot, 1, &uses.at[0]);
    assert_int_equal(waste_of(&uses, &place), waste);
}

static void roots_are_whole_and_exact(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 5000; value++) {
        const uint64_t root = typical_use_root(value);
        assert_true(root * root <= value);
        assert_true((root + 1) * (root + 1) > value);
    }
    assert_int_equal(typical_use_root((uint64_t)1 << 60), (uint64_t)1 << 30);
    assert_int_equal(typical_use_root(UINT64_MAX), UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_typical_before_enough_was_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(tasks_without_slots_are_not_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(the_weightiest_are_kept_whatever_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_learned_survives_a_restart, setup, teardown),
        cmocka_unit_test_setup_teardown(what_few_nodes_can_take_weighs_more, setup, teardown),
        cmocka_unit_test(a_taste_fits_as_often_as_its_request),
        cmocka_unit_test(requests_by_memory_leave_what_does_not_fit),
        cmocka_unit_test(roots_are_whole_and_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
