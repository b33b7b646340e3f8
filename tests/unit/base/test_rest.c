/* test_rest.c - waits that end after a time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/rest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <time.h>

enum { SHORT_MS = 20, LONG_MS = 600000 };

struct pair {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool set;
};

static int64_t now_ms(void)
{
    struct timespec now;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void set_it(struct pair *pair)
{
    assert_int_equal(pthread_mutex_lock(&pair->lock), 0);
    pair->set = true;
    assert_int_equal(pthread_cond_broadcast(&pair->wake), 0);
    assert_int_equal(pthread_mutex_unlock(&pair->lock), 0);
}

static void *wait_until_set(void *ctx)
{
    struct pair *pair = ctx;
    assert_int_equal(pthread_mutex_lock(&pair->lock), 0);
    while (!pair->set) {
        rest_wait(&pair->wake, &pair->lock, LONG_MS);
    }
    assert_int_equal(pthread_mutex_unlock(&pair->lock), 0);
    return NULL;
}

static void a_wait_without_a_signal_lasts_as_long_as_said(void **state)
{
    struct pair pair = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    (void)state;
    const int64_t until_ms = now_ms() + SHORT_MS;
    assert_int_equal(pthread_mutex_lock(&pair.lock), 0);
    while (now_ms() < until_ms) {
        rest_wait(&pair.wake, &pair.lock, until_ms - now_ms());
    }
    rest_wait(&pair.wake, &pair.lock, 0);
    assert_int_equal(pthread_mutex_unlock(&pair.lock), 0);
}

/* The thread's wait lasts ten minutes. A test that missed the signal would not end. */
static void a_signal_ends_the_wait_and_a_thread_that_ended_is_joined(void **state)
{
    struct pair pair = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    pthread_t thread;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, wait_until_set, &pair), 0);
    assert_false(rest_join(thread, SHORT_MS));
    set_it(&pair);
    assert_true(rest_join(thread, LONG_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_without_a_signal_lasts_as_long_as_said),
        cmocka_unit_test(a_signal_ends_the_wait_and_a_thread_that_ended_is_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
