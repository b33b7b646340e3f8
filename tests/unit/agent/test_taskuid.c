/* test_taskuid.c - ranges of uids, and which task has which. SPDX-License-Identifier: Apache-2.0 */
#include "agent/taskuid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void ranges_are_bounded(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "5",
                                        "5-",
                                        "-5",
                                        "0-10",
                                        "999-2000",
                                        "20-10",
                                        "a-b",
                                        "1000-x",
                                        " ",
                                        "4294967295-4294967295",
                                        "1000--1"};
    struct taskuid_range range;
    struct error e;
    assert_int_equal(taskuid_range("200000-265535", "/nonexistent", &range, &e), ERR_OK);
    assert_int_equal(range.first, 200000);
    assert_int_equal(range.count, 65536);
    assert_int_equal(taskuid_range("1000-4294967294", "/nonexistent", &range, &e), ERR_OK);
    assert_int_equal(range.count, TASKUID_RANGE_MAX);
    assert_int_equal(taskuid_range("none", "/nonexistent", &range, &e), ERR_OK);
    assert_int_equal(range.count, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(taskuid_range(wrong[i], "/nonexistent", &range, &e), ERR_INVALID);
        assert_int_equal(range.count, 0);
    }
}

static void the_range_of_root_is_the_default(void **state)
{
    (void)state;
    char path[] = "/tmp/weir-subuid-XXXXXX";
    const int fd = mkstemp(path);
    static const char text[] = "nobody:1:2\nrooter:5000:9\nroot:0:10\nbad\nroot:100000:300\n";
    struct taskuid_range range;
    struct error e;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(taskuid_range(NULL, path, &range, &e), ERR_OK);
    assert_int_equal(range.first, 100000);
    assert_int_equal(range.count, 300);
    assert_int_equal(taskuid_range(NULL, "/nonexistent", &range, &e), ERR_OK);
    assert_int_equal(range.count, 0);
    (void)close(fd);
    (void)unlink(path);
}

static void no_two_tasks_have_one_user_at_the_same_time(void **state)
{
    (void)state;
    struct taskuids *uids = taskuid_new((struct taskuid_range){5000, 3});
    const int32_t first = taskuid_take(uids, 7);
    assert_int_equal(taskuid_take(uids, 7), first); /* a second instance of the task */
    const int32_t second = taskuid_take(uids, 10);  /* 10 mod 3 is 7 mod 3 */
    assert_int_not_equal(second, first);
    const int32_t third = taskuid_take(uids, 13);
    assert_true(third >= 0);
    assert_int_equal(taskuid_take(uids, 16), -1);
    taskuid_give(uids, first);
    assert_int_equal(taskuid_take(uids, 16), -1); /* the other instance still runs */
    taskuid_give(uids, first);
    assert_int_equal(taskuid_take(uids, 16), first);
    struct runas_account base = {.uid = 65534, .gid = 65534, .switch_user = true, .name = "nobody"};
    struct runas_account account;
    taskuid_account(uids, second, &base, "/job", &account);
    assert_int_equal(account.uid, 5000 + second);
    assert_int_equal(account.gid, 5000 + second);
    assert_string_equal(account.home, "/job");
    assert_true(account.switch_user);
    taskuid_free(uids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_bounded),
        cmocka_unit_test(the_range_of_root_is_the_default),
        cmocka_unit_test(no_two_tasks_have_one_user_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
