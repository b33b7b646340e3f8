/* test_csv.c - rows, quotes, places.
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/csv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct arena arena;

static void begin(struct csv *csv, const char *text, char separator)
{
    csv_init(csv, "t.csv", str_of(text), separator, &arena);
}

static void field_is(const struct csv *csv, uint32_t field, const char *text)
{
    assert_true(field < csv->count);
    if (!str_is(csv->fields[field], text)) {
        fail_msg("'%.*s' is not '%s'", (int)csv->fields[field].len, csv->fields[field].p, text);
    }
}

static void rows_have_fields_and_places(void **state)
{
    (void)state;
    struct csv csv;
    begin(&csv, "a,b,,d\r\n\n  \n1,22,333\nlast", ',');
    assert_true(csv_next(&csv));
    assert_int_equal(csv.count, 4);
    field_is(&csv, 0, "a");
    field_is(&csv, 2, "");
    field_is(&csv, 3, "d");
    assert_true(csv_next(&csv));
    assert_int_equal(csv.line, 4);
    assert_int_equal(csv.count, 3);
    assert_int_equal(csv.columns[2], 6);
    assert_true(csv_next(&csv));
    field_is(&csv, 0, "last");
    assert_false(csv_next(&csv));
}

static void quotes_hold_commas_and_quotes(void **state)
{
    (void)state;
    struct csv csv;
    begin(&csv, "\"a,b\",\"say \"\"x\"\"\",c\n", ',');
    assert_true(csv_next(&csv));
    assert_int_equal(csv.count, 3);
    field_is(&csv, 0, "a,b");
    field_is(&csv, 1, "say \"x\"");
    field_is(&csv, 2, "c");
    assert_null(csv.fault);
}

static void broken_quotes_are_told(void **state)
{
    (void)state;
    struct csv csv;
    begin(&csv, "1,\"never closed\n\"a\"b,c\n\"fine\",2\n", ',');
    assert_true(csv_next(&csv));
    assert_string_equal(csv.fault, "the quote is not closed in this line");
    assert_int_equal(csv.fault_field, 1);
    assert_true(csv_next(&csv));
    assert_string_equal(csv.fault, "something follows the closing quote");
    assert_int_equal(csv.fault_field, 0);
    assert_true(csv_next(&csv));
    assert_null(csv.fault);
}

static void a_byte_order_mark_is_no_text(void **state)
{
    (void)state;
    struct csv csv;
    begin(&csv,
          "\xef\xbb\xbf"
          "submit,gpus\n",
          ',');
    assert_true(csv_next(&csv));
    assert_int_equal(csv_column(&csv, "submit"), 0);
    assert_int_equal(csv.columns[1], 8);
}

static void blanks_separate_where_they_should(void **state)
{
    (void)state;
    struct csv csv;
    begin(&csv, "   1  22\t333  \n", ' ');
    assert_true(csv_next(&csv));
    assert_int_equal(csv.count, 3);
    field_is(&csv, 1, "22");
    field_is(&csv, 2, "333");
}

static void columns_are_found_whatever_their_case(void **state)
{
    (void)state;
    struct csv csv;
    begin(&csv, "Submit, GPUs ,name\n", ',');
    assert_true(csv_next(&csv));
    assert_int_equal(csv_column(&csv, "submit"), 0);
    assert_int_equal(csv_column(&csv, "gpus"), 1);
    assert_int_equal(csv_column(&csv, "gpu"), -1);
}

static void more_fields_than_there_is_room_for_are_left_out(void **state)
{
    (void)state;
    char text[400];
    memset(text, ',', sizeof text);
    text[sizeof text - 1] = '\0';
    struct csv csv;
    begin(&csv, text, ',');
    assert_true(csv_next(&csv));
    assert_int_equal(csv.count, CSV_FIELDS_MAX);
}

static void errors_name_the_place(void **state)
{
    (void)state;
    struct csv csv;
    struct error e;
    begin(&csv, "a,b\n1,x\n", ',');
    assert_true(csv_next(&csv));
    assert_true(csv_next(&csv));
    assert_int_equal(csv_fail(&csv, 1, &e, "not %d", 5), ERR_INVALID);
    assert_string_equal(e.text, "t.csv:2:3: not 5");
    assert_int_equal(csv_fail(&csv, -1, &e, "short"), ERR_INVALID);
    assert_string_equal(e.text, "t.csv:2:1: short");
    assert_int_equal(csv_fail(&csv, CSV_END, &e, "end"), ERR_INVALID);
    assert_string_equal(e.text, "t.csv:2:4: end");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_fields_and_places),
        cmocka_unit_test(quotes_hold_commas_and_quotes),
        cmocka_unit_test(broken_quotes_are_told),
        cmocka_unit_test(a_byte_order_mark_is_no_text),
        cmocka_unit_test(blanks_separate_where_they_should),
        cmocka_unit_test(columns_are_found_whatever_their_case),
        cmocka_unit_test(more_fields_than_there_is_room_for_are_left_out),
        cmocka_unit_test(errors_name_the_place),
    };
    arena_init(&arena);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_done(&arena);
    return failed;
}
