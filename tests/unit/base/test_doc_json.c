/* test_doc_json.c - the JSON reader: what it takes, what it refuses and where it says so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct arena arena;

static const struct doc *parse(const char *text)
{
    struct doc *doc = NULL;
    struct error e = {0};
    enum err r = doc_json_parse(&arena, str_of(text), &doc, &e);
    if (r != ERR_OK) {
        print_error("%s\n", e.text);
    }
    assert_int_equal(r, ERR_OK);
    return doc;
}

static void refuses(const char *text, const char *message, const char *path)
{
    struct doc *doc = NULL;
    struct error e = {0};
    assert_int_equal(doc_json_parse(&arena, str_of(text), &doc, &e), ERR_INVALID);
    assert_null(doc);
    assert_string_equal(e.text, message);
    assert_string_equal(e.path, path);
}

static void reads_every_kind_of_value(void **state)
{
    (void)state;
    const struct doc *doc = parse(
        " {\"s\":\"x\", \"n\":-1.5e+3, \"t\":true, \"f\":false, \"z\":null,\n \"l\":[1,[],{}]} ");
    assert_int_equal(doc->kind, DOC_MAP);
    assert_int_equal(doc->count, 6);
    const char *text = NULL;
    assert_true(doc_text(doc_get(doc, "s"), &text));
    assert_string_equal(text, "x");
    assert_int_equal(doc_get(doc, "n")->kind, DOC_NUMBER);
    assert_string_equal(doc_get(doc, "n")->text.p, "-1.5e+3");
    bool yes = false;
    assert_true(doc_bool(doc_get(doc, "t"), &yes));
    assert_true(yes);
    assert_true(doc_bool(doc_get(doc, "f"), &yes));
    assert_false(yes);
    assert_int_equal(doc_get(doc, "z")->kind, DOC_NULL);
    const struct doc *list = doc_get(doc, "l");
    assert_int_equal(list->kind, DOC_LIST);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->line, 2);
    assert_int_equal(list->column, 6);
    assert_int_equal(list->first->next->kind, DOC_LIST);
    assert_int_equal(list->first->next->next->kind, DOC_MAP);
    assert_null(doc_get(doc, "absent"));
    assert_null(doc_get(list, "absent"));
}

static void a_scalar_alone_is_a_document(void **state)
{
    (void)state;
    assert_int_equal(parse("0")->kind, DOC_NUMBER);
    assert_int_equal(parse("\"\"")->kind, DOC_STRING);
    assert_int_equal(parse("null")->kind, DOC_NULL);
    assert_int_equal(parse("[]")->count, 0);
}

static void numbers_keep_their_text_and_convert_exactly(void **state)
{
    (void)state;
    uint64_t u = 0;
    int64_t i = 0;
    assert_true(doc_u64(parse("18446744073709551615"), &u));
    assert_true(u == UINT64_MAX);
    assert_false(doc_u64(parse("18446744073709551616"), &u));
    assert_true(doc_i64(parse("-9223372036854775807"), &i));
    assert_false(doc_u64(parse("1.0"), &u));
    assert_false(doc_u64(parse("\"1\""), &u)); /* a string is not a number */
    assert_false(doc_u64(NULL, &u));
    assert_true(u == UINT64_MAX);
}

static void strings_are_unescaped(void **state)
{
    (void)state;
    const struct doc *doc = parse("\"a\\n\\t\\r\\b\\f\\\"\\\\\\/\\u00e9\\u20ac\\ud83d\\ude00z\"");
    assert_string_equal(doc->text.p, "a\n\t\r\b\f\"\\/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
    assert_int_equal(doc->text.len, 19);
    assert_string_equal(parse("{\"k\\u0041\":1}")->first->key.p, "kA");
}

static void columns_count_characters(void **state)
{
    (void)state;
    const struct doc *doc = parse("[\"\xe2\x82\xac\", 7]");
    assert_int_equal(doc->first->next->column, 7);
}

static void refuses_what_is_not_json(void **state)
{
    (void)state;
    refuses("", "line 1, column 1: a value is wanted, not the end of the text", "");
    refuses("{\"a\":}", "line 1, column 6: a value is wanted, not '}'", "a");
    refuses("{a:1}", "line 1, column 2: a key in double quotes is wanted, not 'a'", "");
    refuses("{\"a\" 1}", "line 1, column 6: ':' is wanted, not '1'", "a");
    refuses("[1,]", "line 1, column 4: a value is wanted, not ']'", "[1]");
    refuses("[1 2]", "line 1, column 4: ',' or ']' is wanted, not '2'", "[1]");
    refuses("{\"a\":1,}", "line 1, column 8: a key in double quotes is wanted, not '}'", "");
    refuses("{\"a\":[{\"b\":tru}]}", "line 1, column 12: a value is wanted, not 't'", "a[0].b");
    refuses("1 2", "line 1, column 3: the end of the text is wanted, not '2'", "");
    refuses("[1", "line 1, column 3: ',' or ']' is wanted, not the end of the text", "[1]");
    refuses("[\n\n  01]", "line 3, column 3: not a number as JSON writes them", "[0]");
    refuses("-", "line 1, column 1: not a number as JSON writes them", "");
    refuses("1.", "line 1, column 1: not a number as JSON writes them", "");
    refuses("1e", "line 1, column 1: not a number as JSON writes them", "");
    refuses("NaN", "line 1, column 1: a value is wanted, not 'N'", "");
    refuses("\xef\xbb\xbf{}", "line 1, column 1: a value is wanted, not the byte 0xef", "");
}

static void refuses_bad_strings(void **state)
{
    (void)state;
    refuses("\"a", "line 1, column 3: a string without its closing quote", "");
    refuses("\"a\nb\"", "line 1, column 3: a control character in a string; write it as \\u00XX",
            "");
    refuses("\"\\x\"",
            "line 1, column 2: an unknown escape: \\ is followed by one of \" \\ / b f n r t u",
            "");
    refuses("\"\\u12\"", "line 1, column 2: four hex digits are wanted after \\u", "");
    refuses("\"\\udc00\"", "line 1, column 2: a low surrogate without the high one before it", "");
    refuses("\"\\ud800\"", "line 1, column 2: a high surrogate without the low one after it", "");
    refuses("\"\\ud800\\u0041\"", "line 1, column 2: a high surrogate without the low one after it",
            "");
    refuses("\"\\u0000\"", "line 1, column 2: a NUL character in a string is not possible", "");
    refuses("\"\xc0\x80\"", "line 1, column 2: not valid UTF-8", "");
    refuses("\"\xed\xa0\x80\"", "line 1, column 2: not valid UTF-8", "");
}

static void a_nul_byte_is_not_the_end(void **state)
{
    (void)state;
    struct doc *doc = NULL;
    struct error e;
    assert_int_equal(doc_json_parse(&arena, (struct str){"1\0", 2}, &doc, &e), ERR_INVALID);
    assert_string_equal(e.text,
                        "line 1, column 2: the end of the text is wanted, not the byte 0x00");
    assert_int_equal(doc_json_parse(&arena, (struct str){"\"\0\"", 3}, &doc, &e), ERR_INVALID);
}

static void refuses_duplicate_keys_in_small_and_large_maps(void **state)
{
    (void)state;
    refuses("{\"a\":1,\"b\":{\"c\":1,\n\"c\":2}}", "line 2, column 1: the key 'c' stands twice",
            "b.c");
    struct buf text;
    buf_init(&text, 1 << 20);
    buf_add_char(&text, '{');
    for (int i = 0; i < 5000; i++) {
        buf_addf(&text, "\"key%d\":%d,\n", i, i);
    }
    struct buf good = text;
    buf_add_str(&text, "\"key77\":1}");
    refuses(buf_text(&text), "line 5001, column 1: the key 'key77' stands twice", "key77");
    text.len = good.len;
    buf_add_str(&text, "\"last\":1}");
    const struct doc *doc = parse(buf_text(&text));
    assert_int_equal(doc->count, 5001);
    buf_done(&text);
}

static void depth_is_bounded(void **state)
{
    (void)state;
    char text[DOC_DEPTH_MAX * 2 + 3] = {0};
    memset(text, '[', DOC_DEPTH_MAX);
    memset(text + DOC_DEPTH_MAX, ']', DOC_DEPTH_MAX);
    assert_int_equal(parse(text)->count, 1);
    memset(text, '[', DOC_DEPTH_MAX + 1);
    memset(text + DOC_DEPTH_MAX + 1, ']', DOC_DEPTH_MAX + 1);
    struct doc *doc = NULL;
    struct error e;
    assert_int_equal(doc_json_parse(&arena, str_of(text), &doc, &e), ERR_INVALID);
    assert_string_equal(e.text, "line 1, column 33: nested deeper than 32 levels");
}

static void the_number_of_values_is_bounded(void **state)
{
    (void)state;
    size_t len = 2 * (size_t)DOC_NODES_MAX + 1;
    char *text = test_malloc(len + 1);
    for (size_t i = 0; i < len; i++) {
        text[i] = i % 2 == 0 ? ',' : '1';
    }
    text[0] = '[';
    text[len - 1] = ']';
    text[len] = '\0';
    struct doc *doc = NULL;
    struct error e;
    assert_int_equal(doc_json_parse(&arena, (struct str){text, len}, &doc, &e), ERR_INVALID);
    assert_non_null(strstr(e.text, "more than 2000000 values in one document"));
    test_free(text);
}

static int setup(void **state)
{
    (void)state;
    arena_init(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reads_every_kind_of_value),
        TEST(a_scalar_alone_is_a_document),
        TEST(numbers_keep_their_text_and_convert_exactly),
        TEST(strings_are_unescaped),
        TEST(columns_count_characters),
        TEST(refuses_what_is_not_json),
        TEST(refuses_bad_strings),
        TEST(a_nul_byte_is_not_the_end),
        TEST(refuses_duplicate_keys_in_small_and_large_maps),
        TEST(depth_is_bounded),
        TEST(the_number_of_values_is_bounded),
    };
    return cmocka_run_group_tests_name("doc_json", tests, NULL, NULL);
}
