/* test_label.c - labels of nodes as marks: which nodes have all labels that a request names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/label.h"

#include "core/model/blob.h"
#include "core/model/spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { LABELS = 6 };
static const struct label all[LABELS] = {{"zone", "a"}, {"zone", "b"}, {"gpu", "a"},
                                         {"gpu", ""},   {"", "gpu"},   {"rack", "r7"}};

/* The labels whose bits are set, the last first. */
static uint32_t chosen(unsigned bits, struct label *ret)
{
    uint32_t count = 0;
    for (unsigned i = LABELS; i-- > 0;) {
        if ((bits >> i & 1) != 0) {
            ret[count++] = all[i];
        }
    }
    return count;
}

static void a_node_covers_a_request_with_every_label_of_it(void **state)
{
    (void)state;
    for (unsigned has = 0; has < 1u << LABELS; has++) {
        struct label labels[LABELS];
        struct blob *marks = label_marks_blob(labels, chosen(has, labels));
        for (unsigned wants = 0; wants < 1u << LABELS; wants++) {
            struct request request;
            memset(&request, 0, sizeof request);
            request.label_count = label_marks(labels, chosen(wants, labels), request.labels);
            assert_int_equal(label_marks_cover(marks, &request), (wants & ~has) == 0);
        }
        blob_unref(marks);
    }
}

static void marks_are_in_order_and_each_is_there_once(void **state)
{
    (void)state;
    struct label labels[2 * LABELS];
    struct label_mark marks[2 * LABELS];
    memcpy(labels, all, sizeof all);
    (void)chosen((1u << LABELS) - 1, labels + LABELS);
    assert_int_equal(label_marks(labels, 2 * LABELS, marks), LABELS);
    for (unsigned i = 1; i < LABELS; i++) {
        assert_true(label_mark_compare(marks[i - 1], marks[i]) < 0);
        assert_true(label_mark_compare(marks[i], marks[i - 1]) > 0);
        assert_int_equal(label_mark_compare(marks[i], marks[i]), 0);
    }
    const struct label_mark low = {1, 2};
    const struct label_mark high = {1, 3};
    assert_true(label_mark_compare(low, high) < 0);
    assert_true(label_mark_compare(high, low) > 0);
    assert_int_equal(label_mark_compare(low, low), 0);
}

/* Marks are stored: another mark for the same label would be another label. */
static void a_mark_is_the_same_for_ever(void **state)
{
    (void)state;
    const struct label_mark mark = label_mark_of("zone", "a");
    assert_int_equal(mark.first, 0xc39982377c310064);
    assert_int_equal(mark.second, 0x2429470668962810);
}

static void a_value_is_found_by_its_whole_key(void **state)
{
    (void)state;
    const struct node_spec spec = {.labels = all, .label_count = LABELS};
    assert_string_equal(label_value(&spec, "zone"), "a");
    assert_string_equal(label_value(&spec, "gpu"), "a");
    assert_string_equal(label_value(&spec, ""), "gpu");
    assert_string_equal(label_value(&spec, "rack"), "r7");
    assert_null(label_value(&spec, "rac"));
    assert_null(label_value(&spec, "racks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_covers_a_request_with_every_label_of_it),
        cmocka_unit_test(marks_are_in_order_and_each_is_there_once),
        cmocka_unit_test(a_mark_is_the_same_for_ever),
        cmocka_unit_test(a_value_is_found_by_its_whole_key),
    };
    return cmocka_run_group_tests_name("label", tests, NULL, NULL);
}
