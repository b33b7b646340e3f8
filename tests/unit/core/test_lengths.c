/* test_lengths.c - run lengths are learned from what ends; steps order them; names without their numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/state/change.h"
#include "core/state/lengths.h"

static void steps_ascend_with_the_length(void **state)
{
    (void)state;
    uint64_t before = lengths_step(0);
    assert_true(before > 0);
    for (int64_t ms = 1; ms < INT64_MAX / 3; ms += 1 + ms / 7) {
        const uint64_t step = lengths_step(ms);
        assert_true(step >= before);
        before = step;
    }
    assert_true(lengths_step(2000) > lengths_step(1990));
    assert_true(lengths_step(INT64_MAX) <= UINT16_MAX - LENGTH_STEP_FRONT);
}

static void numbers_in_names_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(lengths_name_hash("sweep-1-a"), lengths_name_hash("sweep-204-a"));
    assert_int_not_equal(lengths_name_hash("sweep-1-a"), lengths_name_hash("sweep-1-b"));
    assert_int_equal(lengths_name_hash(""), 0);
}

/* Five runs are enough for their group, and a limit is used as far as others used theirs. */
static void a_group_is_asked_when_enough_have_ended(void **state)
{
    (void)state;
    struct core *core = core_new();
    const struct request request = {.slots_milli = 1000};
    struct task task = {.account = ACCOUNT_DEFAULT_PROJECT, .instance_count = 1};
    struct pool_spec pool = {.name = "p", .title = "", .description = ""};
    struct fact fact = {.pool_set = {.pool = {1}, .spec = &pool}};
    change_pool_set(core, &fact);
    task.pool.v = 1;
    task.shape = change_shape_take(core, task.pool, 1, &request, NULL);
    task.user = change_user_take(core, "anna");
    lengths_expect(core, &task);
    assert_int_equal(task.expect_from, LENGTH_UNKNOWN);
    for (int i = 1; i <= LENGTH_ENOUGH; i++) {
        lengths_learn(core, &task, 1000 * i);
    }
    lengths_expect(core, &task);
    assert_int_equal(task.expect_from, LENGTH_BY_USER_SIZE);
    assert_int_equal(task.expect_ms, 3000);
    task.time_limit_ms = 10000;
    lengths_expect(core, &task);
    assert_int_equal(task.expect_from, LENGTH_LIMIT);
    assert_int_equal(task.expect_ms, 10000);
    for (int i = 0; i < LENGTH_ENOUGH; i++) {
        lengths_learn(core, &task, 2500);
    }
    lengths_expect(core, &task);
    assert_int_equal(task.expect_ms, 2500);
    core_free(core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_ascend_with_the_length),
        cmocka_unit_test(numbers_in_names_do_not_count),
        cmocka_unit_test(a_group_is_asked_when_enough_have_ended),
    };
    return cmocka_run_group_tests_name("core_lengths", tests, NULL, NULL);
}
