/* test_lengths.c - run lengths are learned from what ends; steps order them; names without their numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/state/change.h"
#include "core/state/lengths.h"
#include "core/state/state.h"

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

/* Two classes to each power of two; a class is not before any length in it, nor behind any length after it. */
static void learned_lengths_are_compared_by_class(void **state)
{
    (void)state;
    const int64_t hour_ms = 1 << 22; /* a power of two, about an hour */
    assert_int_equal(lengths_class(hour_ms), lengths_class(hour_ms * 3 / 2 - 1));
    assert_int_equal(lengths_class(hour_ms * 3 / 2), lengths_class(hour_ms * 2 - 1));
    assert_true(lengths_class(hour_ms - 1) < lengths_class(hour_ms));
    assert_true(lengths_class(hour_ms) < lengths_class(hour_ms * 3 / 2));
    assert_true(lengths_class(hour_ms) >= lengths_step(hour_ms * 3 / 2 - 1));
    assert_true(lengths_class(hour_ms) < lengths_step(hour_ms * 3 / 2));
    assert_true(lengths_class(0) > 0);
    assert_true(lengths_class(INT64_MAX) <= UINT16_MAX - LENGTH_STEP_FRONT);
}

static void numbers_in_names_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(lengths_name_hash("sweep-1-a"), lengths_name_hash("sweep-204-a"));
    assert_int_not_equal(lengths_name_hash("sweep-1-a"), lengths_name_hash("sweep-1-b"));
    assert_int_equal(lengths_name_hash(""), 0);
}

/* One slot of anna's in the pool p. */
static struct task annas(struct core *core)
{
    const struct request request = {.slots_milli = 1000};
    struct task task = {.account = ACCOUNT_DEFAULT_PROJECT, .instance_count = 1};
    struct pool_spec pool = {.name = "p", .title = "", .description = ""};
    struct fact fact = {.pool_set = {.pool = {1}, .spec = &pool}};
    change_pool_set(core, &fact);
    task.pool.v = 1;
    task.shape = change_shape_take(core, task.pool, 1, &request, NULL);
    task.user = change_user_take(core, "anna");
    return task;
}

/* The hashes of groups are stored: with another hash what was learned is lost. */
static void a_group_has_the_same_hash_for_ever(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0x110e6147690ee90,  0x91a5a87be593fafd, 0x2b5c3f715fc6c18d,
                                        0x41c85082c2b8bf35, 0xa664535cb5f72839, 0x12ae30237b17df14};
    struct core *core = core_new();
    struct task task = annas(core);
    task.name_hash = lengths_name_hash("sweep-1-a");
    task.gang = true;
    task.instance_count = 3;
    task.kind = TASK_COMMAND;
    lengths_learn(core, &task, 1000);
    uint32_t count = 0;
    for (uint64_t row = table_next(&core->lengths, 0); row != 0;
         row = table_next(&core->lengths, row)) {
        const struct length_group *group = table_get(&core->lengths, row);
        assert_in_range(count, 0, 5);
        assert_int_equal(group->hash, expected[count++]);
    }
    assert_int_equal(task.name_hash, 0xcdcacee3386418d2);
    assert_int_equal(count, sizeof expected / sizeof expected[0]);
    core_free(core);
}

/* Five runs are enough for their group, and a limit is used as far as others used theirs. */
static void a_group_is_asked_when_enough_have_ended(void **state)
{
    (void)state;
    struct core *core = core_new();
    struct task task = annas(core);
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

/* After 2,048 runs the older ones count half. */
static void the_older_runs_fade(void **state)
{
    (void)state;
    struct core *core = core_new();
    struct task task = annas(core);
    task.time_limit_ms = 10000;
    for (int i = 0; i < LENGTH_COUNT_MAX; i++) {
        lengths_learn(core, &task, 1000);
    }
    for (int i = 0; i < LENGTH_COUNT_MAX / 2 - 1; i++) {
        lengths_learn(core, &task, 3000);
    }
    lengths_expect(core, &task);
    assert_int_equal(task.expect_ms, 1999); /* of 2,047: 1,024 of 1 s and 1,023 of 3 s */
    task.time_limit_ms = 0;
    lengths_expect(core, &task);
    assert_int_equal(task.expect_ms, 1999);
    core_free(core);
}

/* There is room for so many groups; those not seen longest make room. */
static void the_oldest_groups_go(void **state)
{
    (void)state;
    struct core *core = core_new();
    struct task task = annas(core);
    for (uint64_t i = 1; i <= LENGTH_GROUPS_MAX; i++) {
        const struct length_group group = {.hash = i, .day = (int64_t)(i * 7 % 1000), .count = 1};
        assert_true(lengths_put(core, &group));
    }
    const struct length_group more = {.hash = UINT64_MAX, .count = 1};
    assert_false(lengths_put(core, &more));
    core->time_ms = (int64_t)2000 * 24 * 60 * 60 * 1000;
    for (int i = 0; i < LENGTH_ENOUGH; i++) {
        lengths_learn(core, &task, 5000);
    }
    assert_int_equal(core->lengths.count, LENGTH_GROUPS_MAX);
    lengths_expect(core, &task);
    assert_int_equal(task.expect_ms, 5000);
    uint32_t oldest = 0;
    for (uint64_t row = table_next(&core->lengths, 0); row != 0;
         row = table_next(&core->lengths, row)) {
        const struct length_group *group = table_get(&core->lengths, row);
        oldest += group->day == 0;
    }
    assert_int_equal(oldest, LENGTH_GROUPS_MAX / 1000 - 5); /* as many as the task has groups */
    core_free(core);
}

/* A group that was seen again is not the oldest any more. */
static void a_group_that_is_seen_stays(void **state)
{
    (void)state;
    struct core *core = core_new();
    struct task task = annas(core);
    for (int i = 0; i < LENGTH_ENOUGH; i++) {
        lengths_learn(core, &task, 5000); /* on day 0 */
    }
    const uint64_t groups = core->lengths.count;
    for (uint64_t i = 1; i <= LENGTH_GROUPS_MAX - groups; i++) {
        const struct length_group group = {.hash = i, .day = 1, .count = 1};
        assert_true(lengths_put(core, &group));
    }
    core->time_ms = (int64_t)2 * 24 * 60 * 60 * 1000;
    lengths_learn(core, &task, 5000);
    struct task other = task;
    other.user = change_user_take(core, "bert");
    lengths_learn(core, &other, 1000);
    lengths_expect(core, &task);
    assert_int_equal(task.expect_from, LENGTH_BY_USER_SIZE);
    core_free(core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_ascend_with_the_length),
        cmocka_unit_test(learned_lengths_are_compared_by_class),
        cmocka_unit_test(numbers_in_names_do_not_count),
        cmocka_unit_test(a_group_has_the_same_hash_for_ever),
        cmocka_unit_test(a_group_is_asked_when_enough_have_ended),
        cmocka_unit_test(the_older_runs_fade),
        cmocka_unit_test(the_oldest_groups_go),
        cmocka_unit_test(a_group_that_is_seen_stays),
    };
    return cmocka_run_group_tests_name("core_lengths", tests, NULL, NULL);
}
