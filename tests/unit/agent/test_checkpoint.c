/* test_checkpoint.c - tasks touch their checkpoint file, and a real supervisor tells.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/limits.h"
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

/* The stamp of a file is of the last tick of the kernel's clock. */
enum { TICK_MS = 20 };

static int set_up(void **state)
{
    static struct rig rig;
    rig_up(&rig);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_down(*state);
    return 0;
}

static int64_t wall_ms(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The checkpoints told before the end of an attempt; the time of the last. */
static unsigned told(struct rig *rig, uint64_t task, uint32_t attempt, int64_t *ret_at_ms)
{
    unsigned count = 0;
    for (;;) {
        const struct record record = rig_next(rig);
        const bool own = record.key.task.v == task && record.key.attempt == attempt;
        if (own && record.type == RECORD_ENDED) {
            return count;
        }
        if (own && record.type == RECORD_CHECKPOINT) {
            *ret_at_ms = record.at_ms;
            count++;
        }
    }
}

static void let_go(const struct rig *rig, uint64_t task)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/job/%llu/0/go", rig->dir, (unsigned long long)task);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    (void)fclose(file);
}

static void it_is_told_while_the_task_runs(void **state)
{
    struct rig *rig = *state;
    const int64_t before_ms = wall_ms();
    rig_start(rig, 1, 1, "touch $WEIR_CHECKPOINT_FILE; until [ -e go ]; do sleep 0.01; done");
    assert_int_equal(rig_next(rig).type, RECORD_STARTED);
    const struct record record = rig_next(rig);
    assert_int_equal(record.type, RECORD_CHECKPOINT);
    assert_int_equal(record.key.task.v, 1);
    assert_int_equal(record.key.attempt, 1);
    assert_in_range(record.at_ms, before_ms - TICK_MS, wall_ms());
    let_go(rig, 1);
    int64_t at_ms = 0;
    assert_int_equal(told(rig, 1, 1, &at_ms), 0); /* not again */
}

static void what_is_saved_last_is_told_before_the_end(void **state)
{
    struct rig *rig = *state;
    int64_t at_ms = 0;
    const int64_t before_ms = wall_ms();
    rig_start(rig, 1, 1, "echo x > $WEIR_CHECKPOINT_FILE; exit 3");
    assert_int_equal(told(rig, 1, 1, &at_ms), 1);
    assert_in_range(at_ms, before_ms - TICK_MS, wall_ms());
}

static void what_is_saved_in_the_grace_time_is_told(void **state)
{
    struct rig *rig = *state;
    int64_t at_ms = 0;
    rig_start(rig, 1, 1,
              "trap 'touch $WEIR_CHECKPOINT_FILE; exit 0' TERM; echo up; while :; do sleep 0.01; "
              "done");
    rig_output_wait(rig, 3);
    const int64_t before_ms = wall_ms();
    rig_stop(rig, 1, 1, 60000);
    assert_int_equal(told(rig, 1, 1, &at_ms), 1);
    assert_in_range(at_ms, before_ms - TICK_MS, wall_ms());
}

/* A touch of another date, a file moved there: what counts is when it was done. */
static void a_date_that_the_task_chooses_does_not_count(void **state)
{
    struct rig *rig = *state;
    int64_t at_ms = 0;
    const int64_t before_ms = wall_ms();
    rig_start(rig, 1, 1, "touch -d 2001-01-01 $WEIR_CHECKPOINT_FILE");
    assert_int_equal(told(rig, 1, 1, &at_ms), 1);
    assert_in_range(at_ms, before_ms - TICK_MS, wall_ms());
    rig_start(rig, 2, 1, "touch -d 2099-01-01 saved; mv saved $WEIR_CHECKPOINT_FILE");
    assert_int_equal(told(rig, 2, 1, &at_ms), 1);
    assert_in_range(at_ms, before_ms - TICK_MS, wall_ms());
}

static void what_an_earlier_attempt_left_does_not_count(void **state)
{
    struct rig *rig = *state;
    int64_t at_ms = 0;
    rig_start(rig, 1, 1, "touch $WEIR_CHECKPOINT_FILE; exit 1");
    assert_int_equal(told(rig, 1, 1, &at_ms), 1);
    rig_start(rig, 1, 2, "test -e $WEIR_CHECKPOINT_FILE && echo there; exit 1");
    assert_int_equal(told(rig, 1, 2, &at_ms), 0);
    assert_string_equal(rig->out.data, "there\n");
    rig_start(rig, 1, 3, "touch $WEIR_CHECKPOINT_FILE");
    assert_int_equal(told(rig, 1, 3, &at_ms), 1);
}

static void who_saves_all_the_time_is_told_of_now_and_then(void **state)
{
    struct rig *rig = *state;
    int64_t at_ms = 0;
    const int64_t before_ms = wall_ms();
    rig_start(rig, 1, 1,
              "i=0; while [ $i -lt 2000 ]; do : > $WEIR_CHECKPOINT_FILE; i=$((i+1)); done");
    const unsigned count = told(rig, 1, 1, &at_ms);
    assert_in_range(count, 1, 1 + (wall_ms() - before_ms) / CHECKPOINT_INTERVAL_MS);
}

static void who_never_saves_is_not_told_of(void **state)
{
    struct rig *rig = *state;
    int64_t at_ms = 0;
    rig_start(rig, 1, 1, "echo a > other; rm other; mkdir sub; exit 0");
    assert_int_equal(told(rig, 1, 1, &at_ms), 0);
}

int main(int argc, char **argv)
{
    int code;
    if (rig_role(argc, argv, &code)) {
        return code;
    }
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(it_is_told_while_the_task_runs),
        TEST(what_is_saved_last_is_told_before_the_end),
        TEST(what_is_saved_in_the_grace_time_is_told),
        TEST(a_date_that_the_task_chooses_does_not_count),
        TEST(what_an_earlier_attempt_left_does_not_count),
        TEST(who_saves_all_the_time_is_told_of_now_and_then),
        TEST(who_never_saves_is_not_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
