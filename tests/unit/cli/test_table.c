/* test_table.c - aligned, trimmed, escaped
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct text_table *sample(size_t width, bool colour)
{
    struct text_table *table = table_new(width, colour);
    table_column(table, "ID", true);
    table_column(table, "STATE", false);
    table_column(table, "NAME", false);
    const char *const cells[] = {"1",  "running", "a",
                                 "20", "pending", "a rather long name that needs room"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        table_cell(table, str_of(cells[i]), i == 1 ? COLOUR_GREEN : COLOUR_NONE);
    }
    return table;
}

static void check(struct text_table *table, bool header, size_t rows, const char *expected)
{
    struct buf out;
    buf_init(&out, 10000);
    (void)table_print(table, header, rows, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_done(&out);
    table_free(table);
}

static void a_pipe_gets_everything_aligned(void **state)
{
    (void)state;
    check(sample(0, false), true, 0,
          "ID  STATE    NAME\n"
          " 1  running  a\n"
          "20  pending  a rather long name that needs room\n");
}

static void a_terminal_gets_what_fits(void **state)
{
    (void)state;
    check(sample(30, false), true, 0,
          "ID  STATE    NAME\n"
          " 1  running  a\n"
          "20  pending  a rather long na…\n");
}

static struct text_table *reasons(size_t width)
{
    struct text_table *table = table_new(width, false);
    table_column(table, "ID", true);
    table_column(table, "NAME", false);
    table_column_least(table, 4);
    table_column(table, "REASON", false);
    table_column_sentences(table);
    const char *const cells[] = {
        "1", "resnet", "waits for 8 slots; the nearest node n1 has 7 free",
        "2", "bert",   "",
        "3", "gpt",    "pool 'a' is paused",
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        table_cell(table, str_of(cells[i]), COLOUR_NONE);
    }
    return table;
}

static void a_sentence_goes_on_in_its_column(void **state)
{
    (void)state;
    check(reasons(48), true, 0,
          "ID  NAME    REASON\n"
          " 1  resnet  waits for 8 slots; the nearest node\n"
          "            n1 has 7 free\n"
          " 2  bert\n"
          " 3  gpt     pool 'a' is paused\n");
}

static void a_sentence_without_room_stands_below_its_line(void **state)
{
    (void)state;
    check(reasons(30), true, 0,
          "ID  NAME\n"
          " 1  resnet\n"
          "    waits for 8 slots; the\n"
          "    nearest node n1 has 7 free\n"
          " 2  bert\n"
          " 3  gpt\n"
          "    pool 'a' is paused\n");
}

static void a_row_is_printed_whole_or_not_at_all(void **state)
{
    (void)state;
    check(reasons(30), true, 2, "ID  NAME\n");
    check(reasons(30), true, 4,
          "ID  NAME\n"
          " 1  resnet\n"
          "    waits for 8 slots; the\n"
          "    nearest node n1 has 7 free\n"
          " 2  bert\n");
}

static void a_word_longer_than_the_line_is_broken(void **state)
{
    (void)state;
    struct text_table *table = table_new(10, false);
    table_column(table, "ID", true);
    table_column(table, "REASON", false);
    table_column_sentences(table);
    table_cell(table, str_of("1"), COLOUR_NONE);
    table_cell(table, str_of("abcdefghijkl mn"), COLOUR_NONE);
    check(table, false, 0, "1\n    abcdef\n    ghijkl\n    mn\n");
}

static void what_fits_is_known_before_it_is_printed(void **state)
{
    (void)state;
    struct text_table *table = reasons(30);
    assert_true(table_fits(table, FITS_WHOLE)); /* the sentences go below */
    table_free(table);
    table = reasons(9);
    assert_false(table_fits(table, FITS_WHOLE));
    assert_true(table_fits(table, FITS_CUT)); /* "ID  NAM…" */
    table_free(table);
    table = reasons(7);
    assert_false(table_fits(table, FITS_CUT));
    table_free(table);
}

static void numbers_are_never_cut(void **state)
{
    (void)state;
    struct text_table *table = table_new(10, false);
    table_column(table, "AMOUNT", true);
    table_column(table, "TEXT", false);
    table_cell(table, str_of("123456789"), COLOUR_NONE);
    table_cell(table, str_of("abcdefghijkl"), COLOUR_NONE);
    check(table, false, 0, "123456789\n");
}

static void colours_do_not_count_as_width(void **state)
{
    (void)state;
    check(sample(0, true), false, 1, " 1  \033[32mrunning\033[0m  a\n");
}

static void wide_characters_keep_the_columns_straight(void **state)
{
    (void)state;
    struct text_table *table = table_new(0, false);
    table_column(table, "A", false);
    table_column(table, "B", false);
    table_cell(table, str_of("日本"), COLOUR_NONE);
    table_cell(table, str_of("x"), COLOUR_NONE);
    table_cell(table, str_of("ab"), COLOUR_NONE);
    table_cell(table, str_of("y"), COLOUR_NONE);
    check(table, true, 0, "A     B\n日本  x\nab    y\n");
}

static void user_text_cannot_move_the_cursor(void **state)
{
    (void)state;
    struct text_table *table = table_new(0, false);
    table_column(table, "NAME", false);
    table_cell(table, str_of("a\033[2Jb\nc"), COLOUR_NONE);
    check(table, false, 0, "a\\x1b[2Jb\\nc\n");
}

static void empty_cells_leave_no_trailing_blanks(void **state)
{
    (void)state;
    struct text_table *table = table_new(0, false);
    table_column(table, "A", false);
    table_column(table, "B", false);
    table_column(table, "N", true);
    table_cell(table, str_of("x"), COLOUR_NONE);
    table_cell(table, str_of(""), COLOUR_NONE);
    table_cell(table, str_of(""), COLOUR_NONE);
    table_cell(table, str_of(""), COLOUR_NONE);
    table_cell(table, str_of(""), COLOUR_NONE);
    table_cell(table, str_of("12"), COLOUR_NONE);
    check(table, false, 0, "x\n     12\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipe_gets_everything_aligned),
        cmocka_unit_test(a_terminal_gets_what_fits),
        cmocka_unit_test(a_sentence_goes_on_in_its_column),
        cmocka_unit_test(a_sentence_without_room_stands_below_its_line),
        cmocka_unit_test(a_row_is_printed_whole_or_not_at_all),
        cmocka_unit_test(a_word_longer_than_the_line_is_broken),
        cmocka_unit_test(what_fits_is_known_before_it_is_printed),
        cmocka_unit_test(numbers_are_never_cut),
        cmocka_unit_test(colours_do_not_count_as_width),
        cmocka_unit_test(wide_characters_keep_the_columns_straight),
        cmocka_unit_test(user_text_cannot_move_the_cursor),
        cmocka_unit_test(empty_cells_leave_no_trailing_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
