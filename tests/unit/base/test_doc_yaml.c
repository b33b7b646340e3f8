/* test_doc_yaml.c - the strict YAML loader.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct arena arena;

static const struct doc *parse(const char *text)
{
    struct doc *doc = NULL;
    struct error e = {0};
    enum err r = doc_yaml_parse(&arena, str_of(text), &doc, &e);
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
    assert_int_equal(doc_yaml_parse(&arena, str_of(text), &doc, &e), ERR_INVALID);
    assert_null(doc);
    assert_string_equal(e.text, message);
    assert_string_equal(e.path, path);
}

static void scalars_keep_their_text(void **state)
{
    (void)state;
    const struct doc *doc = parse("a: no\nb: 'no'\nc: 8\nd: 0x10\ne: |\n  two\n  lines\nf: 1.50\n");
    const char *text = NULL;
    bool yes = true;
    uint64_t number = 0;
    assert_true(doc_text(doc_get(doc, "a"), &text));
    assert_string_equal(text, "no");
    assert_true(doc_bool(doc_get(doc, "a"), &yes));
    assert_false(yes);
    assert_false(doc_bool(doc_get(doc, "b"), &yes)); /* quoted: only ever a text */
    assert_true(doc_u64(doc_get(doc, "c"), &number));
    assert_true(number == 8);
    assert_false(doc_u64(doc_get(doc, "d"), &number));
    assert_true(doc_text(doc_get(doc, "e"), &text));
    assert_string_equal(text, "two\nlines\n");
    assert_string_equal(doc_get(doc, "f")->text.p, "1.50");
}

static void plain_null_is_null(void **state)
{
    (void)state;
    const struct doc *doc = parse("a:\nb: ~\nc: null\nd: 'null'\ne: ''\n");
    assert_int_equal(doc_get(doc, "a")->kind, DOC_NULL);
    assert_int_equal(doc_get(doc, "b")->kind, DOC_NULL);
    assert_int_equal(doc_get(doc, "c")->kind, DOC_NULL);
    assert_int_equal(doc_get(doc, "d")->kind, DOC_STRING);
    assert_int_equal(doc_get(doc, "e")->kind, DOC_STRING);
}

static void places_are_lines_and_columns_from_one(void **state)
{
    (void)state;
    const struct doc *doc = parse("# comment\npools:\n  - name: x\n    nodes: 3\n");
    const struct doc *pool = doc_get(doc, "pools")->first;
    assert_int_equal(doc_get(pool, "nodes")->line, 4);
    assert_int_equal(doc_get(pool, "nodes")->column, 12);
    assert_int_equal(pool->line, 3);
}

static void json_is_read_as_json(void **state)
{
    (void)state;
    const struct doc *doc = parse(" \n{\"a\": true, \"b\": [1]}");
    assert_int_equal(doc_get(doc, "a")->kind, DOC_BOOL);
    assert_int_equal(doc_get(doc, "b")->first->kind, DOC_NUMBER);
    refuses("{a: 1}", "line 1, column 2: a key in double quotes is wanted, not 'a'", "");
}

static void words_of_yaml_that_are_traps_are_refused(void **state)
{
    (void)state;
    refuses("a: &x 1\nb: *x\n", "line 1, column 4: anchors are not possible here", "a");
    refuses("a: &x [1]\n", "line 1, column 4: anchors are not possible here", "a");
    refuses("a: *x\n", "line 1, column 4: aliases are not possible here", "a");
    refuses("a: !!str 1\n", "line 1, column 4: tags are not possible here", "a");
    refuses("a: !foo {b: 1}\n", "line 1, column 4: tags are not possible here", "a");
    refuses("a: 1\n---\nb: 2\n", "line 2, column 1: a second document; one is allowed", "");
    refuses("? [a, b]\n: 1\n", "line 1, column 3: a key is a plain text, not a list or map", "");
    refuses("a: \"\\0\"\n", "line 1, column 4: a NUL character is not possible", "a");
    refuses("", "the text is empty", "");
    refuses("# only a comment\n", "the text is empty", "");
}

static void duplicate_keys_are_refused(void **state)
{
    (void)state;
    refuses("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "line 5, column 3: the key 'c' stands twice",
            "b.c");
}

static void syntax_errors_have_a_place(void **state)
{
    (void)state;
    struct doc *doc = NULL;
    struct error e = {0};
    assert_int_equal(doc_yaml_parse(&arena, str_of("a: [1, 2\nb: 3\n"), &doc, &e), ERR_INVALID);
    assert_memory_equal(e.text, "line 2, column ", 15);
    assert_int_equal(doc_yaml_parse(&arena, str_of("a: \xff\n"), &doc, &e), ERR_INVALID);
    assert_non_null(strstr(e.text, "at byte 3"));
    assert_int_equal(doc_yaml_parse(&arena, str_of("a: \"\x01\"\n"), &doc, &e), ERR_INVALID);
    assert_non_null(strstr(e.text, "control characters are not allowed"));
}

static void depth_and_size_are_bounded(void **state)
{
    (void)state;
    char text[200];
    memset(text, '[', 100);
    memset(text + 100, ']', 99);
    text[199] = '\0';
    struct doc *doc = NULL;
    struct error e = {0};
    char nested[210];
    (void)snprintf(nested, sizeof nested, "a: %s", text);
    assert_int_equal(doc_yaml_parse(&arena, str_of(nested), &doc, &e), ERR_INVALID);
    assert_non_null(strstr(e.text, "nested deeper than 32 levels"));
    size_t len = DOC_YAML_BYTES_MAX + 1;
    char *big = malloc(len);
    assert_non_null(big);
    memset(big, 'a', len);
    assert_int_equal(doc_yaml_parse(&arena, (struct str){big, len}, &doc, &e), ERR_LIMIT);
    free(big);
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
        TEST(scalars_keep_their_text),
        TEST(plain_null_is_null),
        TEST(places_are_lines_and_columns_from_one),
        TEST(json_is_read_as_json),
        TEST(words_of_yaml_that_are_traps_are_refused),
        TEST(duplicate_keys_are_refused),
        TEST(syntax_errors_have_a_place),
        TEST(depth_and_size_are_bounded),
    };
    return cmocka_run_group_tests_name("doc_yaml", tests, NULL, NULL);
}
