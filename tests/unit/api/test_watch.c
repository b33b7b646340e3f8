/* test_watch.c - who waits for a task hears of it, and of no other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "api/watches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

struct waiter {
    struct watch watch;
    unsigned heard;
    enum watch_news news;
    bool leaves;
};

static void told(struct watch *watch, enum watch_news news, struct str json)
{
    struct waiter *waiter = (struct waiter *)watch;
    (void)json;
    waiter->heard++;
    waiter->news = news;
    if (waiter->leaves) {
        watches_remove(watch);
    }
}

static struct waiter waiter_for(uint64_t task)
{
    return (struct waiter){.watch = {.task = {task}, .fn = told}};
}

static void news_reach_those_who_wait_for_that_task(void **state)
{
    (void)state;
    struct watches *watches = watches_new();
    /* 7 and 7 + 1024 share a list. */
    struct waiter one = waiter_for(7);
    struct waiter two = waiter_for(7);
    struct waiter other = waiter_for(7 + 1024);
    watches_add(watches, &one.watch);
    watches_add(watches, &two.watch);
    watches_add(watches, &other.watch);
    watches_tell(watches, (task_id){7}, WATCH_ENDED, (struct str){0});
    assert_int_equal(one.heard, 1);
    assert_int_equal(two.heard, 1);
    assert_int_equal(other.heard, 0);
    assert_int_equal(one.news, WATCH_ENDED);
    watches_remove(&one.watch);
    watches_tell(watches, (task_id){7}, WATCH_OUTPUT, (struct str){0});
    assert_int_equal(one.heard, 1);
    assert_int_equal(two.heard, 2);
    watches_remove(&two.watch);
    watches_remove(&other.watch);
    watches_free(watches);
}

static void a_waiter_may_leave_when_told(void **state)
{
    (void)state;
    struct watches *watches = watches_new();
    struct waiter all[5];
    for (size_t i = 0; i < 5; i++) {
        all[i] = waiter_for(3);
        all[i].leaves = i % 2 == 0;
        watches_add(watches, &all[i].watch);
    }
    watches_tell(watches, (task_id){3}, WATCH_OUTPUT, (struct str){0});
    watches_tell(watches, (task_id){3}, WATCH_OUTPUT, (struct str){0});
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(all[i].heard, i % 2 == 0 ? 1 : 2);
        if (i % 2 != 0) {
            watches_remove(&all[i].watch);
        }
    }
    watches_free(watches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(news_reach_those_who_wait_for_that_task),
        cmocka_unit_test(a_waiter_may_leave_when_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
