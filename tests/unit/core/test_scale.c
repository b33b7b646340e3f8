/* test_scale.c - a hundred thousand pending tasks: what they cost in memory, and that copies share.
 * Prints what it measures; asserts bytes only, never time. SPDX-License-Identifier: Apache-2.0 */
#include "core_rig.h"

#include <malloc.h>
#include <stdio.h>

enum { TASKS = 100000, BATCH = 1000, BYTES_MAX = 80 << 20, COPY_BYTES_MAX = 64 << 10 };

static size_t bytes_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static double now_ms(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void submit_batch(struct core *core, const struct task_spec *specs)
{
    struct arena arena;
    arena_init(&arena);
    struct facts facts;
    fact_list_init(&facts, &arena);
    struct input in = {.type = INPUT_TASK_SUBMIT,
                       .now_ms = 1000,
                       .actor = "user:u",
                       .cause = "",
                       .submit = {.specs = specs, .count = BATCH}};
    assert_int_equal(core_decide(core, &in, &facts), VERDICT_OK);
    for (size_t i = 0; i < facts.count; i++) {
        core_apply(core, &facts.at[i]);
    }
    arena_done(&arena);
}

static void fill(struct core *core)
{
    static struct task_spec specs[BATCH];
    for (unsigned i = 0; i < BATCH; i++) {
        specs[i] = rig_spec();
        specs[i].cpu_milli = i % 20; /* twenty shapes */
        specs[i].slots_milli = 1000;
    }
    for (unsigned i = 0; i < TASKS / BATCH; i++) {
        submit_batch(core, specs);
    }
}

static void measure_copy(const struct core *core)
{
    size_t before = bytes_in_use();
    double start = now_ms();
    struct core *copy = core_copy(core);
    print_message("# copy: %.3f ms, %zu bytes\n", now_ms() - start, bytes_in_use() - before);
    assert_true(bytes_in_use() - before < COPY_BYTES_MAX);
    assert_int_equal(query_task_count(copy, TASK_PENDING), TASKS);
    core_free(copy);
}

static void measure_store(const struct core *core)
{
    size_t len;
    double start = now_ms();
    char *bytes = rig_bytes(core, &len);
    print_message("# encode: %.0f ms, %zu bytes\n", now_ms() - start, len);
    struct core *again = NULL;
    start = now_ms();
    assert_int_equal(core_decode((struct str){bytes, len}, &again, NULL), ERR_OK);
    print_message("# decode: %.0f ms\n", now_ms() - start);
    free(bytes);
    core_check(again);
    assert_same_state(core, again);
    core_free(again);
}

static void a_hundred_thousand_pending_tasks_are_small_and_copied_at_once(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig_node(&rig, "n1", 1, 0, 1);
    size_t before = bytes_in_use();
    double start = now_ms();
    fill(rig.core);
    size_t used = bytes_in_use() - before;
    print_message("# submit and apply: %.0f ms; %zu bytes, %zu a task\n", now_ms() - start, used,
                  used / TASKS);
    assert_true(used < BYTES_MAX);
    measure_copy(rig.core);
    measure_store(rig.core);
    rig_done(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hundred_thousand_pending_tasks_are_small_and_copied_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
