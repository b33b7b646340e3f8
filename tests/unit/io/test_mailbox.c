/* test_mailbox.c - bounds, reserved room, order, the descriptor, and two threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "io/mailbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <pthread.h>

static void *message(uintptr_t number)
{
    return (void *)number; /* NOLINT(performance-no-int-to-ptr): never followed */
}

static bool readable(struct mailbox *box)
{
    struct pollfd p = {.fd = mailbox_fd(box), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void messages_leave_in_the_order_they_came(void **state)
{
    (void)state;
    struct mailbox *box = mailbox_new(1000);
    uintptr_t in = 0;
    uintptr_t out = 0;
    /* The ring wraps and grows at once. */
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < 7; i++) {
            assert_true(mailbox_send(box, message(++in)));
        }
        for (unsigned i = 0; i < 4; i++) {
            assert_ptr_equal(mailbox_take(box), message(++out));
        }
    }
    assert_int_equal(mailbox_count(box), 300);
    while (out < in) {
        assert_ptr_equal(mailbox_take(box), message(++out));
    }
    assert_null(mailbox_take(box));
    mailbox_free(box);
}

static void a_full_box_says_so_and_keeps_reserved_room(void **state)
{
    (void)state;
    struct mailbox *box = mailbox_new(16);
    for (uintptr_t i = 1; i <= 14; i++) {
        assert_true(mailbox_send(box, message(i)));
    }
    assert_false(mailbox_send(box, message(15)));
    assert_true(mailbox_send_reserved(box, message(15)));
    assert_true(mailbox_send_reserved(box, message(16)));
    assert_false(mailbox_send_reserved(box, message(17)));
    assert_int_equal(mailbox_count(box), 16);
    for (uintptr_t i = 1; i <= 16; i++) {
        assert_ptr_equal(mailbox_take(box), message(i));
    }
    mailbox_free(box);
}

static void the_descriptor_is_readable_exactly_while_there_is_something(void **state)
{
    (void)state;
    struct mailbox *box = mailbox_new(4);
    assert_true(mailbox_send(box, message(1)));
    assert_true(readable(box)); /* asked for after the message came */
    assert_true(mailbox_send(box, message(2)));
    assert_non_null(mailbox_take(box));
    assert_true(readable(box));
    assert_non_null(mailbox_take(box));
    assert_false(readable(box));
    mailbox_close(box);
    assert_true(readable(box));
    mailbox_free(box);
}

static void a_closed_box_gives_what_it_has_and_takes_nothing(void **state)
{
    (void)state;
    struct mailbox *box = mailbox_new(4);
    assert_true(mailbox_send(box, message(1)));
    mailbox_close(box);
    assert_false(mailbox_send(box, message(2)));
    assert_false(mailbox_send_reserved(box, message(2)));
    assert_ptr_equal(mailbox_wait(box), message(1));
    assert_null(mailbox_wait(box));
    mailbox_free(box);
}

enum { THREAD_MESSAGES = 20000 };

static void *sender(void *ctx)
{
    struct mailbox *box = ctx;
    for (uintptr_t i = 1; i <= THREAD_MESSAGES;) {
        if (mailbox_send(box, message(i))) {
            i++;
        }
    }
    mailbox_close(box);
    return NULL;
}

static void two_threads_lose_and_reorder_nothing(void **state)
{
    (void)state;
    struct mailbox *box = mailbox_new(64);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, sender, box), 0);
    uintptr_t count = 0;
    for (void *m = mailbox_wait(box); m != NULL; m = mailbox_wait(box)) {
        assert_ptr_equal(m, message(++count));
    }
    assert_int_equal(count, THREAD_MESSAGES);
    assert_int_equal(pthread_join(thread, NULL), 0);
    mailbox_free(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_leave_in_the_order_they_came),
        cmocka_unit_test(a_full_box_says_so_and_keeps_reserved_room),
        cmocka_unit_test(the_descriptor_is_readable_exactly_while_there_is_something),
        cmocka_unit_test(a_closed_box_gives_what_it_has_and_takes_nothing),
        cmocka_unit_test(two_threads_lose_and_reorder_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
