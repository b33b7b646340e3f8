/* test_json_out.c - the JSON writer.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/doc.h"
#include "base/json_out.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static struct buf out;
static struct json_out j;

static int setup(void **state)
{
    (void)state;
    buf_init(&out, 1 << 20);
    json_out_init(&j, &out);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_done(&out);
    return 0;
}

static void commas_and_nesting_are_done_for_the_caller(void **state)
{
    (void)state;
    json_out_object(&j);
    json_out_kv_u64(&j, "a", UINT64_MAX);
    json_out_kv_i64(&j, "b", INT64_MIN);
    json_out_kv_bool(&j, "c", true);
    json_out_kv_text(&j, "d", NULL);
    json_out_key(&j, "e");
    json_out_array(&j);
    json_out_array(&j);
    json_out_end(&j);
    json_out_object(&j);
    json_out_end(&j);
    json_out_null(&j);
    json_out_raw(&j, str_of("[1]"));
    json_out_end(&j);
    json_out_key_str(&j, (struct str){"fgh", 1});
    json_out_bool(&j, false);
    json_out_end(&j);
    assert_string_equal(buf_text(&out),
                        "{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":true,"
                        "\"d\":null,\"e\":[[],{},null,[1]],\"f\":false}");
}

static void thousandths_are_written_as_decimals(void **state)
{
    (void)state;
    const int64_t milli[] = {0, 1, 10, 100, 1000, 1500, 2250, 2255, -500, -1000};
    json_out_array(&j);
    for (size_t i = 0; i < sizeof milli / sizeof milli[0]; i++) {
        json_out_milli(&j, milli[i]);
    }
    json_out_end(&j);
    assert_string_equal(buf_text(&out), "[0,0.001,0.01,0.1,1,1.5,2.25,2.255,-0.5,-1]");
}

static void texts_are_quoted(void **state)
{
    (void)state;
    json_out_text(&j, "a\"\\\n\r\t\x01\x7f/\xc3\xa9");
    assert_string_equal(buf_text(&out), "\"a\\\"\\\\\\n\\r\\t\\u0001\\u007f/\xc3\xa9\"");
}

static void every_character_is_quoted_alike_at_every_place(void **state)
{
    enum { LONGEST = 20 };
    (void)state;
    for (unsigned c = 1; c < 0x80; c++) {
        char alone[16];
        const char one[] = {(char)c, '\0'};
        buf_clear(&out);
        json_out_init(&j, &out);
        json_out_text(&j, one);
        assert_in_range(out.len, 3, 8);
        (void)snprintf(alone, sizeof alone, "%.*s", (int)out.len - 2, buf_text(&out) + 1);
        for (int len = 1; len <= LONGEST; len++) {
            for (int at = 0; at < len; at++) {
                char text[2 * LONGEST + 2];
                char want[3 * LONGEST + 16];
                (void)snprintf(text, sizeof text, "%.*s%c%.*s", at, "abcdefghijklmnopqrst", (int)c,
                               len - at - 1, "ABCDEFGHIJKLMNOPQRST");
                (void)snprintf(want, sizeof want, "\"%.*s%s%.*s\"", at, "abcdefghijklmnopqrst",
                               alone, len - at - 1, "ABCDEFGHIJKLMNOPQRST");
                buf_clear(&out);
                json_out_init(&j, &out);
                json_out_text(&j, text);
                assert_string_equal(buf_text(&out), want);
            }
        }
    }
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    (void)state;
    json_out_str(&j, (struct str){"a\xff\xc3z\0", 5});
    assert_string_equal(buf_text(&out), "\"a\xef\xbf\xbd\xef\xbf\xbdz\\u0000\"");
}

static void every_character_reads_back(void **state)
{
    (void)state;
    char text[128];
    for (int c = 1; c < 128; c++) {
        text[c - 1] = (char)c;
    }
    text[127] = '\0';
    json_out_text(&j, text);
    struct arena arena;
    struct doc *doc;
    struct error e;
    arena_init(&arena);
    assert_int_equal(doc_json_parse(&arena, (struct str){out.data, out.len}, &doc, &e), ERR_OK);
    assert_string_equal(doc->text.p, text);
    arena_done(&arena);
}

static bool aborts(void (*fn)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        fn();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void value_without_key(void)
{
    json_out_object(&j);
    json_out_u64(&j, 1);
}

static void key_in_array(void)
{
    json_out_array(&j);
    json_out_key(&j, "a");
}

static void end_after_key(void)
{
    json_out_object(&j);
    json_out_key(&j, "a");
    json_out_end(&j);
}

static void shape_with_another_letter(void)
{
    json_out_put(&j, "{a=%u}", 1);
}

static void end_of_nothing(void)
{
    json_out_end(&j);
}

static void too_deep(void)
{
    for (int i = 0; i <= JSON_OUT_DEPTH_MAX; i++) {
        json_out_array(&j);
    }
}

static void misuse_ends_the_program(void **state)
{
    (void)state;
    assert_true(aborts(value_without_key));
    assert_true(aborts(key_in_array));
    assert_true(aborts(end_after_key));
    assert_true(aborts(end_of_nothing));
    assert_true(aborts(too_deep));
    assert_true(aborts(shape_with_another_letter));
}

static void a_shape_writes_several_values(void **state)
{
    (void)state;
    const char *volatile nothing = NULL;
    const int64_t moment_ms = 1000;
    const uint64_t most = UINT64_MAX;
    json_out_put(&j, "{a_1:%s,b:%s,c:[%u,%lu,%d,%ld],", "x\"y", nothing, 7U, most, -7, INT64_MIN);
    json_out_put(&j, "d:{e:%i,f:%i},g:%zu,h:%zu,i:", true, false, (size_t)0, (size_t)3);
    json_out_text(&j, "own");
    json_out_put(&j, "k:%.3ld,l:%td,m:%td,n:[]}", INT64_C(1500), moment_ms, INT64_C(0));
    assert_string_equal(
        buf_text(&out),
        "{\"a_1\":\"x\\\"y\",\"b\":null,\"c\":[7,18446744073709551615,-7,-9223372036854775808],"
        "\"d\":{\"e\":true,\"f\":false},\"g\":null,\"h\":3,\"i\":\"own\",\"k\":1.5,"
        "\"l\":\"1970-01-01T00:00:01.000Z\",\"m\":null,\"n\":[]}");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commas_and_nesting_are_done_for_the_caller),
        TEST(thousandths_are_written_as_decimals),
        TEST(texts_are_quoted),
        TEST(every_character_is_quoted_alike_at_every_place),
        TEST(a_shape_writes_several_values),
        TEST(bytes_that_are_no_text_are_replaced),
        TEST(every_character_reads_back),
        TEST(misuse_ends_the_program),
    };
    return cmocka_run_group_tests_name("json_out", tests, NULL, NULL);
}
