/* test_history.c - what was used before: the table, the means, ticks, and shares that look back.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include "core/model/decay.h"
#include "core/sched/order/shares.h"
#include "core/state/history.h"

#include <stdlib.h>

enum { MINUTE = 60000, HOUR = 60 * MINUTE };

static int setup(void **state)
{
    struct rig *rig = malloc(sizeof *rig);
    rig_init(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    rig_done(*state);
    free(*state);
    return 0;
}

/* ---- the table ---- */

static void a_half_life_halves(void **state)
{
    (void)state;
    assert_true(decay_half(0, 1000) == DECAY_ONE);
    assert_true(decay_half(1000, 1000) == DECAY_ONE / 2);
    assert_true(decay_half(3000, 1000) == DECAY_ONE / 8);
    assert_true(decay_half(48000, 1000) == 0);
    assert_true(decay_half(INT64_MAX, 1) == 0);
}

/* Twice the time is the square, within the last bits; and it never grows with time. */
static void every_bit_of_the_exponent_is_right(void **state)
{
    (void)state;
    const int64_t half_life = (int64_t)1 << 40;
    uint64_t before = DECAY_ONE;
    for (unsigned bit = 0; bit < 40; bit++) {
        const int64_t elapsed = (int64_t)1 << bit;
        const uint64_t one = decay_half(elapsed, half_life);
        const uint64_t two = decay_half(2 * elapsed, half_life);
        const uint64_t square = (uint64_t)(((unsigned __int128)one * one) >> 48);
        assert_true(one < before || elapsed == 1);
        assert_true(square <= two + 2 && two <= square + 2);
        before = one;
    }
}

/* Of the largest amounts a mean has more than 64 bits. */
static void means_of_large_amounts_are_exact(void **state)
{
    (void)state;
    const int64_t large = ((int64_t)1 << 60) - 1;
    struct sum mean = {0};
    struct sum half = {0};
    decay_mean(&mean, large, 0);
    assert_int_equal(mean.high, ((int64_t)1 << 12) - 1);
    decay_mean(&half, large, DECAY_ONE / 2);
    assert_int_equal(decay_part(&half, &mean, 1000), 500);
    assert_int_equal(decay_part(&mean, &half, 1000), 1000);
    assert_int_equal(decay_part(&mean, &mean, 1000), 1000);
    const struct sum before = mean;
    decay_mean(&mean, 0, DECAY_ONE);
    assert_true(mean.high == before.high && mean.low == before.low);
    decay_mean(&mean, 0, DECAY_ONE / 4);
    assert_int_equal(decay_part(&mean, &before, 1000), 250);
    assert_int_equal(decay_part(&mean, &(struct sum){0}, 1000), 0);
}

static void a_mean_goes_half_way_in_a_half_life(void **state)
{
    (void)state;
    struct sum mean = {0};
    decay_mean(&mean, 8000, decay_half(HOUR, HOUR));
    assert_int_equal(mean.low >> MEAN_SHIFT, 4000);
    for (unsigned i = 0; i < 60; i++) { /* the same in sixty steps, up to rounding */
        decay_mean(&mean, 8000, decay_half(MINUTE, HOUR));
    }
    assert_true(mean.low >> MEAN_SHIFT >= 5999 && mean.low >> MEAN_SHIFT <= 6000);
    const struct sum whole = {(uint64_t)12000 << MEAN_SHIFT, 0};
    assert_true(decay_part(&mean, &whole, 1000) >= 499 && decay_part(&mean, &whole, 1000) <= 500);
    assert_int_equal(decay_part(&mean, &(struct sum){0}, 1000), 0);
    assert_true(decay_plain(3 * HOUR, HOUR) == DECAY_ONE / 4 * 3);
}

/* ---- ticks ---- */

static void look_back(struct rig *rig, int64_t half_life_ms, int64_t window_ms)
{
    struct arena arena; /* rig_do() clears that of the rig */
    struct pool_spec spec;
    arena_init(&arena);
    query_pool_spec(rig->core, (pool_id){1}, &arena, &spec);
    spec.history_half_life_ms = half_life_ms;
    spec.history_window_ms = window_ms;
    struct input in = {.type = INPUT_POOL_EDIT, .pool = {.spec = &spec, .pool = {1}}};
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    arena_done(&arena);
}

static account_id project(struct rig *rig, const char *name)
{
    const struct account_spec spec = {.kind = ACCOUNT_PROJECT, .name = name, .parent = ""};
    struct input in = {.type = INPUT_ACCOUNT_SET};
    in.account.spec = &spec;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    return query_account_named(rig->core, ACCOUNT_PROJECT, name)->id;
}

static task_id run(struct rig *rig, const char *name, unsigned slots)
{
    struct task_spec spec = rig_spec();
    spec.project = name;
    spec.slots_milli = (int64_t)slots * SLOT_MILLI;
    spec.preemptible = true;
    const task_id task = rig_submit(rig, spec);
    rig_pass(rig);
    return task;
}

/* Time goes on, with every tick that comes. */
static void wait_until(struct rig *rig, int64_t until_ms)
{
    while (query_deadline(rig->core) <= until_ms) {
        rig->now_ms = query_deadline(rig->core);
        assert_int_equal(rig_do(rig, (struct input){.type = INPUT_TICK}), VERDICT_OK);
        rig_pass(rig);
    }
    rig->now_ms = until_ms;
}

static void without_history_nothing_ticks(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 4, 0, 1);
    run(rig, "default", 2);
    assert_true(query_deadline(rig->core) == INT64_MAX);
    assert_int_equal(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, (pool_id){1}, DIM_SLOTS), 0);
}

static void what_is_held_counts_more_and_more(void **state)
{
    struct rig *rig = *state;
    const account_id a = project(rig, "a");
    rig_node(rig, "n1", 4, 0, 1);
    look_back(rig, HOUR, 0);
    const int64_t begin_ms = rig->now_ms;
    const task_id first = run(rig, "default", 4); /* all of it, for an hour */
    wait_until(rig, begin_ms + HOUR);
    rig_run(rig, first, 0, 0);
    const task_id second = run(rig, "a", 2); /* half of it, for another one */
    wait_until(rig, begin_ms + 2 * HOUR);
    /* 3/4 of what counts has been seen: 1/4 of the first hour, 1/2 of the second. */
    const uint32_t old = history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, (pool_id){1}, DIM_SLOTS);
    const uint32_t new = history_used(rig->core, a, (pool_id){1}, DIM_SLOTS);
    assert_in_range(old, 325000, 340000);
    assert_in_range(new, 325000, 340000);
    assert_in_range(history_used(rig->core, a, (pool_id){1}, DIM_CPU), 0, HISTORY_FULL);
    rig_run(rig, second, 0, 0);
    wait_until(rig, begin_ms + 3 * HOUR);
    assert_true(query_deadline(rig->core) == INT64_MAX); /* nothing runs, nothing ticks */
    const uint32_t last = history_used(rig->core, a, (pool_id){1}, DIM_SLOTS);
    assert_in_range(last, new - new / 50, new - 1); /* but for the tick that was under way */
}

static void an_idle_time_counts_when_it_is_over(void **state)
{
    struct rig *rig = *state;
    rig_node(rig, "n1", 4, 0, 1);
    look_back(rig, HOUR, 0);
    const task_id first = run(rig, "default", 4);
    wait_until(rig, rig->now_ms + 10 * HOUR);
    rig_run(rig, first, 0, 0);
    wait_until(rig, rig->now_ms + MINUTE);
    rig->now_ms += HOUR;
    const pool_id pool = {1};
    assert_true(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, DIM_SLOTS) > 980000);
    run(rig, "default", 1);
    assert_in_range(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, DIM_SLOTS), 485000,
                    505000);
}

static void a_window_begins_anew(void **state)
{
    struct rig *rig = *state;
    const pool_id pool = {1};
    rig->now_ms = 10 * HOUR;
    rig_node(rig, "n1", 4, 0, 1);
    look_back(rig, 0, 10 * HOUR);
    const task_id first = run(rig, "default", 4);
    wait_until(rig, 13 * HOUR);
    rig_run(rig, first, 0, 0);
    const task_id second = run(rig, "default", 1);
    wait_until(rig, 16 * HOUR); /* 3 h of 4, 3 h of 1: 15 of 24 */
    assert_in_range(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, DIM_SLOTS), 618000,
                    632000);
    wait_until(rig, 21 * HOUR);
    assert_int_equal(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, DIM_SLOTS), 250000);
    rig_run(rig, second, 0, 0);
}

static void what_is_off_is_forgotten(void **state)
{
    struct rig *rig = *state;
    const pool_id pool = {1};
    rig_node(rig, "n1", 4, 0, 1);
    look_back(rig, HOUR, 0);
    run(rig, "default", 4);
    wait_until(rig, rig->now_ms + HOUR);
    assert_true(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, DIM_SLOTS) > 0);
    look_back(rig, 0, 0);
    assert_int_equal(history_used(rig->core, ACCOUNT_DEFAULT_PROJECT, pool, DIM_SLOTS), 0);
    assert_true(query_deadline(rig->core) == INT64_MAX);
    look_back(rig, HOUR, 0); /* something runs: it begins at once */
    assert_true(query_deadline(rig->core) < INT64_MAX);
}

/* Two projects of weight 1 share 16 slots; they used 0.6 and 0.1 of them: 5 and 11. */
static void shares_shift_to_whoever_used_less(void **state)
{
    struct rig *rig = *state;
    const pool_id pool = {1};
    const account_id heavy = project(rig, "heavy");
    const account_id light = project(rig, "light");
    rig->now_ms = 10 * HOUR;
    rig_node(rig, "n1", 16, 0, 1);
    look_back(rig, 0, 10 * HOUR);
    const task_id first = run(rig, "heavy", 12);
    const task_id second = run(rig, "light", 2);
    wait_until(rig, 14 * HOUR);
    rig_run(rig, first, 0, 0);
    rig_run(rig, second, 0, 0);
    wait_until(rig, 14 * HOUR + MINUTE);
    rig->now_ms = 15 * HOUR; /* 12 and 2 of 16, for 4 hours of 5 */
    struct task_spec spec = rig_spec();
    spec.instances = 16;
    spec.preemptible = true;
    spec.project = "heavy";
    const task_id third = rig_submit(rig, spec);
    spec.project = "light";
    const task_id fourth = rig_submit(rig, spec);
    rig_pass(rig);
    assert_in_range(history_used(rig->core, heavy, pool, DIM_SLOTS), 595000, 601000);
    assert_in_range(history_used(rig->core, light, pool, DIM_SLOTS), 99000, 100500);
    assert_int_equal(shares_of(rig->core, heavy, pool, DIM_SLOTS), 5000);
    assert_int_equal(shares_of(rig->core, light, pool, DIM_SLOTS), 11000);
    assert_int_equal(query_task(rig->core, third)->active_count, 5);
    assert_int_equal(query_task(rig->core, fourth)->active_count, 11);
}

static void a_deleted_account_leaves_nothing(void **state)
{
    struct rig *rig = *state;
    const account_id a = project(rig, "a");
    rig_node(rig, "n1", 4, 0, 1);
    look_back(rig, HOUR, 0);
    const task_id task = run(rig, "a", 4);
    wait_until(rig, rig->now_ms + 10 * MINUTE);
    rig_run(rig, task, 0, 0);
    struct input in = {.type = INPUT_ACCOUNT_DELETE};
    in.account.account = a;
    assert_int_equal(rig_do(rig, in), VERDICT_OK);
    assert_int_equal(history_used(rig->core, a, (pool_id){1}, DIM_SLOTS), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_half_life_halves),
        TEST(every_bit_of_the_exponent_is_right),
        TEST(means_of_large_amounts_are_exact),
        TEST(a_mean_goes_half_way_in_a_half_life),
        TEST(without_history_nothing_ticks),
        TEST(what_is_held_counts_more_and_more),
        TEST(an_idle_time_counts_when_it_is_over),
        TEST(a_window_begins_anew),
        TEST(what_is_off_is_forgotten),
        TEST(shares_shift_to_whoever_used_less),
        TEST(a_deleted_account_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
