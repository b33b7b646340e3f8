/* test_arena.c - arenas, vectors, ownership helpers and assertions.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/checked.h"
#include "base/mem.h"
#include "base/vec.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    for (size_t size = 1; size < 5000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(&arena, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(p[i], 0);
        }
        memset(p, 0xff, size);
    }
    arena_done(&arena);
}

static void a_cleared_arena_gives_zeroes_again(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    memset(arena_alloc(&arena, 900), 0xff, 900);
    memset(arena_alloc(&arena, 90000), 0xff, 90000);
    assert_true(arena.bytes_total >= 90900);
    arena_clear(&arena);
    assert_int_equal(arena.bytes_total, 0);
    unsigned char *p = arena_alloc(&arena, 900);
    for (size_t i = 0; i < 900; i++) {
        assert_int_equal(p[i], 0);
    }
    arena_done(&arena);
    arena_clear(&arena); /* an empty one too */
    arena_done(&arena);
}

static void copies_are_terminated(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena);
    assert_string_equal(arena_strn(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_strn(&arena, NULL, 0), "");
    assert_string_equal(arena_str(&arena, "text"), "text");
    assert_string_equal(arena_fmt(&arena, "%d-%s", 7, "x"), "7-x");
    assert_memory_equal(arena_dup(&arena, "a\0b", 3), "a\0b", 3);
    assert_non_null(arena_dup(&arena, NULL, 0));
    const uint64_t *numbers = arena_new(&arena, uint64_t, 3);
    assert_true(numbers[2] == 0);
    arena_done(&arena);
}

static void a_vector_grows_and_keeps_its_elements(void **state)
{
    (void)state;
    VEC(uint64_t) numbers = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        vec_push(&numbers, i * i);
    }
    assert_int_equal(numbers.count, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        assert_true(numbers.at[i] == i * i);
    }
    vec_reserve(&numbers, 5000);
    assert_true(numbers.room >= 6000);
    vec_clear(&numbers);
    assert_int_equal(numbers.count, 0);
    assert_non_null(numbers.at);
    vec_done(&numbers);
    assert_null(numbers.at);
}

static void ownership_passes_by_steal(void **state)
{
    (void)state;
    char *kept;
    {
        auto_free(freep) char *gone = xstrdup("freed at the end of the block");
        auto_free(freep) char *mine = xmemdup("kept", 5);
        assert_string_equal(gone, "freed at the end of the block");
        kept = steal(mine);
        assert_null(mine);
    }
    assert_string_equal(kept, "kept");
    kept = xrealloc(kept, 100, 2);
    assert_string_equal(kept, "kept");
    free(kept);
}

/* Runs `fn` in a child with its message discarded; true when it aborted. */
static bool aborts(void (*fn)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        fn();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static volatile int64_t big = INT64_MAX;
static volatile int64_t low = INT64_MIN;

static void add_wraps(void)
{
    (void)i64_add(big, 1);
}

static void sub_wraps(void)
{
    (void)i64_sub(low, 1);
}

static void mul_wraps(void)
{
    (void)i64_mul(big, 2);
}

static void quotient_too_large(void)
{
    (void)i64_mul_div(big, 4, 3);
}

static void divisor_zero(void)
{
    (void)i64_mul_div(1, 1, big - INT64_MAX);
}

static void false_claim(void)
{
    must(big < 0);
}

static void true_claim(void)
{
    must(big > 0);
}

static void sums_are_exact_or_end_the_program(void **state)
{
    (void)state;
    assert_true(i64_add(40, 2) == 42);
    assert_true(i64_sub(40, 42) == -2);
    assert_true(i64_mul(-6, 7) == -42);
    assert_true(i64_mul_div(INT64_MAX, 1000, 1001) == 9214157878975800006);
    assert_true(i64_mul_div(7, 1, 2) == 3);
    assert_true(aborts(add_wraps));
    assert_true(aborts(sub_wraps));
    assert_true(aborts(mul_wraps));
    assert_true(aborts(quotient_too_large));
    assert_true(aborts(divisor_zero));
    assert_true(aborts(false_claim));
    assert_false(aborts(true_claim));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(a_cleared_arena_gives_zeroes_again),
        cmocka_unit_test(copies_are_terminated),
        cmocka_unit_test(a_vector_grows_and_keeps_its_elements),
        cmocka_unit_test(ownership_passes_by_steal),
        cmocka_unit_test(sums_are_exact_or_end_the_program),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
