/* test_table.c - copy-on-write rows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "core/model/table.h"

#include <stdbool.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct row {
    uint64_t value;
    int *refs; /* counted by the hooks, when set */
};

static void row_ref(void *row)
{
    (*((struct row *)row)->refs)++;
}

static void row_unref(void *row)
{
    (*((struct row *)row)->refs)--;
}

static const struct table_hooks hooks = {row_ref, row_unref};

static void fill(struct table *table, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct row *row = table_add(table);
        row->value = table->last;
    }
}

static void rows_are_found_by_number(void **state)
{
    (void)state;
    struct table table;
    table_init(&table, sizeof(struct row), 16, NULL);
    fill(&table, 10000);
    assert_null(table_get(&table, 0));
    assert_null(table_get(&table, 10001));
    for (uint64_t id = 1; id <= 10000; id++) {
        const struct row *row = table_get(&table, id);
        assert_int_equal(row->value, id);
    }
    assert_int_equal(table.count, 10000);
    table_done(&table);
}

static void next_and_previous_skip_what_is_gone(void **state)
{
    (void)state;
    struct table table;
    table_init(&table, sizeof(struct row), 8, NULL);
    fill(&table, 50000);
    for (uint64_t id = 1; id <= 50000; id++) {
        if (id % 9973 != 0) {
            table_remove(&table, id);
        }
    }
    uint64_t expected = 0;
    for (uint64_t id = table_next(&table, 0); id != 0; id = table_next(&table, id)) {
        expected += 9973;
        assert_int_equal(id, expected);
    }
    assert_int_equal(expected, 49865);
    for (uint64_t id = table_prev(&table, UINT64_MAX); id != 0; id = table_prev(&table, id)) {
        assert_int_equal(id, expected);
        expected -= 9973;
    }
    assert_int_equal(expected, 0);
    table_done(&table);
}

/* Rows here and there, against a plain array: a lone row at either end of a chunk and of a page, gaps of whole chunks and pages. */
static void next_and_previous_agree_with_a_plain_array(void **state)
{
    (void)state;
    enum { ROWS = 6000 };
    static const uint32_t chunks[] = {1, 2, 8, 64};
    for (size_t c = 0; c < sizeof chunks / sizeof chunks[0]; c++) {
        struct table table;
        bool live[ROWS + 2] = {false};
        uint32_t dice = 7;
        table_init(&table, sizeof(struct row), chunks[c], NULL);
        fill(&table, ROWS);
        for (uint64_t id = 1; id <= ROWS; id++) {
            dice = dice * 1103515245u + 12345u;
            const bool edge = id % 64 <= 1 || id % 64 == 63;
            const bool gap = id / 512 % 3 == 1;
            live[id] = !gap && dice >> 16 < (edge ? 20000u : 2000u);
            if (!live[id]) {
                table_remove(&table, id);
            }
        }
        uint64_t below = 0;
        for (uint64_t id = 1; id <= ROWS + 1; id++) {
            assert_int_equal(table_prev(&table, id), below);
            below = live[id] ? id : below;
        }
        uint64_t above = 0;
        for (uint64_t id = ROWS + 1; id-- > 0;) {
            assert_int_equal(table_next(&table, id), above);
            above = live[id] ? id : above;
        }
        assert_int_equal(table_prev(&table, 0), 0);
        table_done(&table);
    }
}

/* The place of a page that is gone still has its number, behind the last. */
static void pages_go(uint32_t rows_per_chunk)
{
    enum { PAGES = 3 };
    const uint64_t page = (uint64_t)rows_per_chunk * TABLE_PAGE_CHUNKS;
    struct table table;
    table_init(&table, sizeof(struct row), rows_per_chunk, NULL);
    fill(&table, PAGES * page - 1);
    for (uint64_t pages = PAGES; pages > 1; pages--) {
        const uint64_t first = (pages - 1) * page;
        assert_int_equal(table_prev(&table, first), first - 1);
        for (uint64_t id = first; id < pages * page; id++) {
            table_remove(&table, id);
        }
        for (uint64_t id = first; id < pages * page; id++) {
            assert_int_equal(table_prev(&table, id), first - 1);
            assert_int_equal(table_next(&table, id), 0);
            assert_null(table_get(&table, id));
        }
        assert_int_equal(table_next(&table, first - 1), 0);
        assert_int_equal(table_prev(&table, UINT64_MAX), first - 1);
    }
    table_done(&table);
}

static void rows_of_a_page_that_is_gone_are_not_found(void **state)
{
    (void)state;
    pages_go(2);
    pages_go(TABLE_CHUNK_ROWS_MAX);
}

static void memory_follows_the_live_rows(void **state)
{
    (void)state;
    struct table table;
    table_init(&table, sizeof(struct row), 8, NULL);
    for (int i = 0; i < 200000; i++) {
        fill(&table, 1);
        if (table.last > 50) {
            table_remove(&table, table.last - 50);
        }
    }
    assert_int_equal(table.count, 50);
    assert_in_range(table.page_count, 1, 2);
    assert_int_equal(table_next(&table, 0), table.last - 49);
    table_done(&table);
}

static void a_copy_is_not_changed_by_the_original(void **state)
{
    (void)state;
    struct table a;
    struct table b;
    table_init(&a, sizeof(struct row), 16, NULL);
    fill(&a, 5000);
    table_copy(&b, &a);
    ((struct row *)table_edit(&a, 77))->value = 1;
    table_remove(&a, 78);
    fill(&a, 10);
    ((struct row *)table_edit(&b, 79))->value = 2;
    assert_int_equal(((const struct row *)table_get(&b, 77))->value, 77);
    assert_int_equal(((const struct row *)table_get(&b, 78))->value, 78);
    assert_int_equal(((const struct row *)table_get(&a, 79))->value, 79);
    assert_int_equal(((const struct row *)table_get(&b, 79))->value, 2);
    assert_null(table_get(&b, 5001));
    assert_int_equal(b.last, 5000);
    table_done(&a);
    assert_int_equal(((const struct row *)table_get(&b, 5000))->value, 5000);
    table_done(&b);
}

static void references_in_rows_are_counted(void **state)
{
    (void)state;
    int refs = 0;
    struct table a;
    struct table b;
    table_init(&a, sizeof(struct row), 4, &hooks);
    for (int i = 0; i < 100; i++) {
        struct row *row = table_add(&a);
        row->refs = &refs;
        refs++;
    }
    table_copy(&b, &a);
    assert_int_equal(refs, 100); /* all shared */
    table_remove(&b, 50);
    assert_int_equal(refs, 103); /* the chunk of four was copied, one row went */
    table_done(&a);
    assert_int_equal(refs, 99);
    table_done(&b);
    assert_int_equal(refs, 0);
}

static void rows_may_be_put_below_the_first(void **state)
{
    (void)state;
    struct table table;
    table_init(&table, sizeof(struct row), 4, NULL);
    ((struct row *)table_put(&table, (uint64_t)1 << 60))->value = 5;
    ((struct row *)table_put(&table, 100000))->value = 3;
    ((struct row *)table_put(&table, 5))->value = 4;
    assert_int_equal(table.last, (uint64_t)1 << 60);
    assert_int_equal(table_next(&table, 100000), (uint64_t)1 << 60);
    assert_int_equal(((const struct row *)table_get(&table, 100000))->value, 3);
    assert_int_equal(((const struct row *)table_get(&table, 5))->value, 4);
    assert_int_equal(table_next(&table, 5), 100000);
    assert_int_equal(table_prev(&table, 100000), 5);
    assert_null(table_edit(&table, 6));
    table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_found_by_number),
        cmocka_unit_test(next_and_previous_skip_what_is_gone),
        cmocka_unit_test(next_and_previous_agree_with_a_plain_array),
        cmocka_unit_test(rows_of_a_page_that_is_gone_are_not_found),
        cmocka_unit_test(memory_follows_the_live_rows),
        cmocka_unit_test(a_copy_is_not_changed_by_the_original),
        cmocka_unit_test(references_in_rows_are_counted),
        cmocka_unit_test(rows_may_be_put_below_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
