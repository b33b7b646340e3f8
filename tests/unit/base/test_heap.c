/* test_heap.c - the heap: order, moves and removals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { COUNT = 200 };

static void the_smallest_key_is_first_and_ties_keep_their_order(void **state)
{
    (void)state;
    struct heap heap = {0};
    struct heap_entry entries[COUNT] = {0};
    assert_null(heap_first(&heap));
    for (int i = 0; i < COUNT; i++) {
        heap_set(&heap, &entries[i], (i * 7919) % 10);
    }
    const struct heap_entry *before = NULL;
    for (int i = 0; i < COUNT; i++) {
        struct heap_entry *first = heap_first(&heap);
        assert_non_null(first);
        if (before != NULL) {
            assert_true(before->key <= first->key);
            assert_true(before->key < first->key || before < first);
        }
        heap_remove(&heap, first);
        assert_false(heap_has(first));
        before = first;
    }
    assert_null(heap_first(&heap));
    heap_done(&heap);
}

static void entries_can_be_moved_and_taken_out(void **state)
{
    (void)state;
    struct heap heap = {0};
    struct heap_entry entries[COUNT] = {0};
    for (int i = 0; i < COUNT; i++) {
        heap_set(&heap, &entries[i], i);
        assert_true(heap_has(&entries[i]));
    }
    heap_set(&heap, &entries[150], -1);
    assert_ptr_equal(heap_first(&heap), &entries[150]);
    heap_set(&heap, &entries[150], 1000);
    assert_ptr_equal(heap_first(&heap), &entries[0]);
    heap_remove(&heap, &entries[0]);
    heap_remove(&heap, &entries[0]); /* nothing happens */
    assert_ptr_equal(heap_first(&heap), &entries[1]);
    heap_remove(&heap, &entries[77]);
    int64_t last = -1;
    for (int i = 0; i < COUNT - 2; i++) {
        struct heap_entry *first = heap_first(&heap);
        assert_true(first->key > last);
        assert_true(first != &entries[77]);
        last = first->key;
        heap_remove(&heap, first);
    }
    assert_true(last == 1000);
    heap_done(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_key_is_first_and_ties_keep_their_order),
        cmocka_unit_test(entries_can_be_moved_and_taken_out),
    };
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}
