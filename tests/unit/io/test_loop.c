/* test_loop.c - the event loop: order of timers, removal inside callbacks, hooks, signals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/loop.h"

#include "base/mem.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { TRACE_MAX = 32 };

/* One test's loop and what its callbacks wrote down. */
struct fixture {
    struct loop *loop;
    char trace[TRACE_MAX];
    size_t len;
    struct loop_timer *timers[4];
    struct loop_fd *watches[2];
    int fds[2];
    int flushes_wanted;
};

static struct fixture *fixture_new(void)
{
    struct fixture *f = xcalloc(1, sizeof *f);
    assert_int_equal(loop_new(&f->loop, NULL), ERR_OK);
    return f;
}

static void fixture_free(struct fixture *f)
{
    for (size_t i = 0; i < 4; i++) {
        loop_timer_free(f->timers[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        loop_fd_remove(f->watches[i]);
        if (f->fds[i] > 0) {
            (void)close(f->fds[i]);
        }
    }
    loop_free(f->loop);
    free(f);
}

static void note(struct fixture *f, char c)
{
    assert_true(f->len < TRACE_MAX - 1);
    f->trace[f->len++] = c;
}

static void note_a(void *ctx)
{
    note(ctx, 'a');
}

static void note_b(void *ctx)
{
    note(ctx, 'b');
}

static void note_c(void *ctx)
{
    note(ctx, 'c');
}

static void note_c_and_stop(void *ctx)
{
    note(ctx, 'c');
    loop_stop(((struct fixture *)ctx)->loop);
}

static void timers_run_in_order_of_time_then_of_setting(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    int64_t now = loop_now_ms(f->loop);
    f->timers[0] = loop_timer_new(f->loop, note_c_and_stop, f);
    f->timers[1] = loop_timer_new(f->loop, note_b, f);
    f->timers[2] = loop_timer_new(f->loop, note_a, f);
    loop_timer_set(f->timers[0], now + 3);
    loop_timer_set(f->timers[1], now + 1);
    loop_timer_set(f->timers[2], now + 1);
    assert_true(loop_timer_armed(f->timers[0]));
    loop_run(f->loop);
    assert_string_equal(f->trace, "bac");
    assert_false(loop_timer_armed(f->timers[0]));
    assert_true(loop_now_ms(f->loop) >= now + 3);
    fixture_free(f);
}

static void a_timer_moved_or_switched_off_keeps_to_it(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    int64_t now = loop_now_ms(f->loop);
    f->timers[0] = loop_timer_new(f->loop, note_a, f);
    f->timers[1] = loop_timer_new(f->loop, note_b, f);
    f->timers[2] = loop_timer_new(f->loop, note_c_and_stop, f);
    loop_timer_set(f->timers[0], now);
    loop_timer_set(f->timers[1], now + 1000000);
    loop_timer_set(f->timers[2], now + 2);
    loop_timer_off(f->timers[0]);
    loop_timer_set(f->timers[1], now + 1);
    loop_run(f->loop);
    assert_string_equal(f->trace, "bc");
    fixture_free(f);
}

static void again_at_once(void *ctx)
{
    struct fixture *f = ctx;
    note(f, 'a');
    loop_timer_set(f->timers[0], 0);
}

static void a_timer_that_sets_itself_runs_once_a_turn(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    f->timers[0] = loop_timer_new(f->loop, again_at_once, f);
    loop_timer_set(f->timers[0], 0);
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "a");
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "aa");
    fixture_free(f);
}

static void free_all_timers(void *ctx)
{
    struct fixture *f = ctx;
    note(f, 'x');
    for (size_t i = 0; i < 4; i++) {
        loop_timer_free(f->timers[i]);
        f->timers[i] = NULL;
    }
}

static void a_timer_may_free_itself_and_others(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    for (size_t i = 0; i < 4; i++) {
        f->timers[i] = loop_timer_new(f->loop, i == 1 ? free_all_timers : note_a, f);
        loop_timer_set(f->timers[i], (int64_t)i);
    }
    loop_turn(f->loop, -1);
    loop_turn(f->loop, 0);
    assert_string_equal(f->trace, "ax");
    fixture_free(f);
}

static void remove_both(void *ctx, uint32_t events)
{
    struct fixture *f = ctx;
    assert_true(events & EPOLLIN);
    note(f, 'r');
    for (size_t i = 0; i < 2; i++) {
        loop_fd_remove(f->watches[i]);
        f->watches[i] = NULL;
    }
}

static void both_ready(struct fixture *f, loop_fd_fn fn)
{
    for (size_t i = 0; i < 2; i++) {
        f->fds[i] = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
        f->watches[i] = loop_fd_add(f->loop, f->fds[i], EPOLLIN, fn, f);
    }
}

static void a_watch_removed_in_the_same_turn_is_not_called(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    both_ready(f, remove_both);
    loop_turn(f->loop, -1);
    loop_turn(f->loop, 0);
    assert_string_equal(f->trace, "r");
    fixture_free(f);
}

static void note_w(void *ctx, uint32_t events)
{
    (void)events;
    note(ctx, 'w');
}

static void a_watch_hears_only_what_it_asks_for(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    both_ready(f, note_w);
    loop_fd_change(f->watches[0], 0);
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "w");
    loop_fd_change(f->watches[1], 0);
    loop_turn(f->loop, 0);
    assert_string_equal(f->trace, "w");
    loop_fd_change(f->watches[0], EPOLLIN);
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "ww");
    fixture_free(f);
}

static void flush_some(void *ctx)
{
    struct fixture *f = ctx;
    note(f, 'f');
    if (f->flushes_wanted-- > 0) {
        loop_wake(f->loop);
    }
}

static void hooks_run_after_all_else_and_again_when_woken(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    both_ready(f, note_w);
    f->timers[0] = loop_timer_new(f->loop, note_a, f);
    loop_timer_set(f->timers[0], 0);
    loop_turn_flush(f->loop, flush_some, f);
    loop_turn_end(f->loop, note_b, f);
    loop_turn_end(f->loop, note_c, f);
    f->flushes_wanted = 1;
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "wwabcfbcf");
    loop_hooks_remove(f->loop, f);
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "wwabcfbcfww");
    loop_fd_change(f->watches[0], 0);
    loop_fd_change(f->watches[1], 0);
    loop_wake(f->loop); /* outside a turn: the next one does not wait */
    loop_turn(f->loop, -1);
    fixture_free(f);
}

static void signals_arrive_as_calls(void **state)
{
    (void)state;
    struct fixture *f = fixture_new();
    assert_int_equal(loop_signal(f->loop, SIGUSR1, note_a, f, NULL), ERR_OK);
    assert_int_equal(loop_signal(f->loop, SIGUSR2, note_b, f, NULL), ERR_OK);
    assert_int_equal(raise(SIGUSR2), 0);
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "b");
    assert_int_equal(raise(SIGUSR1), 0);
    loop_turn(f->loop, -1);
    assert_string_equal(f->trace, "ba");
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timers_run_in_order_of_time_then_of_setting),
        cmocka_unit_test(a_timer_moved_or_switched_off_keeps_to_it),
        cmocka_unit_test(a_timer_that_sets_itself_runs_once_a_turn),
        cmocka_unit_test(a_timer_may_free_itself_and_others),
        cmocka_unit_test(a_watch_removed_in_the_same_turn_is_not_called),
        cmocka_unit_test(a_watch_hears_only_what_it_asks_for),
        cmocka_unit_test(hooks_run_after_all_else_and_again_when_woken),
        cmocka_unit_test(signals_arrive_as_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
