/* test_typical.c - what is learned of what is asked of a pool, and how it is stored.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/core_internal.h"
#include "core/sched/waste.h"

#include <stdlib.h>

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
    return core_pool_named(rig->core, "default");
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
    struct tastes tastes;
    tastes_load(&tastes, rig->core, pool_of(rig)->id);
    assert_int_equal(tastes.at[0]->request.slots_milli, 8 * SLOT_MILLI);
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
    assert_int_equal(core_pool_named(again, "default")->typical_sum, pool_of(rig)->typical_sum);
    core_free(again);
    free(bytes);
}

static void roots_are_whole_and_exact(void **state)
{
    (void)state;
    for (uint64_t value = 0; value < 5000; value++) {
        const uint64_t root = waste_root(value);
        assert_true(root * root <= value);
        assert_true((root + 1) * (root + 1) > value);
    }
    assert_int_equal(waste_root((uint64_t)1 << 60), (uint64_t)1 << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_typical_before_enough_was_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(tasks_without_slots_are_not_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(the_weightiest_are_kept_whatever_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_learned_survives_a_restart, setup, teardown),
        cmocka_unit_test(roots_are_whole_and_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
